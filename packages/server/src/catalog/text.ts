import { Converter } from "opencc-js/t2cn";

/** Texts in the form in which they are compared, and what they are cut into. Pure. */

const CJK = /[\u3400-\u9fff\uf900-\ufaff]/;
const CJK_EACH = /[\u3400-\u9fff\uf900-\ufaff]/g;
/** Runs of Chinese characters, and of other letters and digits with their apostrophes. */
const RUN = /[\u3400-\u9fff\uf900-\ufaff]+|[\p{L}\p{N}']+/gu;
const ENDING = /(ing|ed|es|s|ly|er|ion|ions)$/;
/** The last letters of those. Asked first: a word that has none is as it stands, and patterns take far longer to say so. */
const ENDING_LETTERS = "gdsyrn";
const CLAUSE_END = /[，。！？；、,.!?;\n]|\band\b|\bbut\b/;
const CLAUSE_MIN = 3;
const CLAUSES_MAX = 20;
const PLAIN_WORDS = /^(?:[a-z0-9 ?!()]|[,;:](?![a-z0-9]))*$/;
const PLAIN_WORD = /[a-z0-9]+/g;
const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
/** So much of a text is read: what is wanted is said sooner, and a page must not cost as much as a hundred sentences. */
export const TEXT_READ_MAX = 2_000;

/** Texts that were cut last. A card's are cut when it is checked and again, a moment later, by all that learns it. */
const cut = new Map<string, readonly string[]>();
const CUT_MAX = 1_024;

let simplified: ((text: string) => string) | undefined;

/** NFKC, and Traditional characters simplified. */
export function simplify(text: string): string {
  const composed = text.normalize("NFKC");
  if (!CJK.test(composed)) return composed;
  // Its tables take tens of milliseconds to set up, which a node without Chinese texts need not pay.
  const convert = simplified ?? Converter({ from: "t", to: "cn" });
  simplified = convert;
  return convert(composed);
}

/** Simplified, in lower case, with single spaces: how two spellings of a phrase become one. */
export function normalise(text: string): string {
  return simplify(text)
    .toLowerCase()
    .replace(/[\s_\-./]+/g, " ")
    .trim();
}

/** Whether a text in normal form is to be read as Chinese: two characters of it are enough in a mixture. */
export function isChinese(plain: string): boolean {
  return (plain.match(CJK_EACH)?.length ?? 0) >= 2;
}

/**
 * The words of a text in normal form, as they stand. Where blanks and ends of sentences alone part
 * plain letters and digits, nothing is to be known of languages, and they are found twenty times as fast.
 */
export function partsOf(plain: string): readonly string[] {
  if (PLAIN_WORDS.test(plain)) return plain.match(PLAIN_WORD) ?? [];
  const known = cut.get(plain);
  if (known !== undefined) return known;
  const words: string[] = [];
  for (const part of segmenter.segment(plain)) if (part.isWordLike) words.push(part.segment);
  if (cut.size === CUT_MAX) cut.clear();
  cut.set(plain, words);
  return words;
}

/** The same, English ones without their regular endings. */
export function wordsOf(plain: string): string[] {
  return partsOf(plain).map(stem);
}

/** The clauses of a text: people tell a story around what they want. Of a text without punctuation there is one. */
export function clausesOf(text: string): string[] {
  return text
    .split(CLAUSE_END)
    .map((clause) => clause.trim())
    .filter((clause) => clause.length >= CLAUSE_MIN)
    .slice(0, CLAUSES_MAX);
}

/** Takes off regular endings. Cruder than Porter's stemmer: it only has to do the same to both sides. */
export function stem(word: string): string {
  if (word.length < 4 || !ENDING_LETTERS.includes(word.at(-1)!) || /[^a-z']/.test(word)) return word;
  const bare = word.replace(/'s$/, "").replace(ENDING, "");
  // "ordering" becomes "order", and what is left of that is left of "order".
  return bare.length < 4 ? bare : bare.replace(ENDING, "");
}

const GRAM_MIN = 3;
const GRAM_MAX = 5;
const CJK_GRAM_MAX = 3;

/**
 * Pieces of a text in normal form, each with how often it occurs: of words, 3 to 5 letters with the word's edges as blanks; of
 * Chinese, 1 to 3 characters. They stand up to typing errors, endings and other ways to cut. A piece is told by a hash.
 */
export function gramsOf(plain: string): Map<number, number> {
  const grams = new Map<number, number>();
  for (const [run] of plain.matchAll(RUN)) {
    if (CJK.test(run)) addGrams(grams, run, 1, CJK_GRAM_MAX);
    else addGrams(grams, ` ${run} `, GRAM_MIN, GRAM_MAX);
  }
  return grams;
}

function addGrams(grams: Map<number, number>, text: string, min: number, max: number): void {
  for (let from = 0; from < text.length; from++) {
    let hash = FNV_BASIS;
    for (let n = 1; n <= max && from + n <= text.length; n++) {
      hash = Math.imul(hash ^ text.charCodeAt(from + n - 1), FNV_PRIME);
      if (n < min && text.length >= min) continue;
      grams.set(hash, (grams.get(hash) ?? 0) + 1);
    }
  }
}

// Fowler, Noll and Vo's hash (FNV-1a, 32 bits), over UTF-16 units instead of bytes.
const FNV_BASIS = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;

/** A word as a number. Two of a million words share one with a chance of 1 in 9,000 each, which costs a score little. */
export function hashOf(word: string): number {
  let hash = FNV_BASIS;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), FNV_PRIME);
  return hash;
}
