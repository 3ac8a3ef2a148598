import { stem } from "./text.js";

/** What a part of a longer phrase counts for ("order" in "purchase order"), and a broader concept ("leave" for "sick leave"). */
const NESTED = 0.5;
const BROADER = 0.5;
const RUN = /[\u3400-\u9fff]+|[a-z0-9+ ]+/g;
const CJK = /[\u3400-\u9fff]/;

/** English words are looked for as they stand, then without a plural, then without any ending: "orders", "ordering". */
const FORMS: readonly ((word: string) => string)[] = [(word) => word, singular, (word) => stem(singular(word))];

/** Phrases and the concepts they name. */
class Lexicon {
  private readonly concepts = new Map<string, number[]>();
  /** A phrase's first part → how many parts those have that begin with it: bit n for n parts. */
  private readonly lengths = new Map<string, number>();

  constructor(private readonly joint: string) {}

  add(parts: readonly string[], concept: number): void {
    add(this.concepts, parts.join(this.joint), concept);
    this.lengths.set(parts[0]!, (this.lengths.get(parts[0]!) ?? 0) | (1 << parts.length));
  }

  /** How many parts phrases have that may stand here, as bits. */
  lengthsAt(parts: readonly string[], at: number): number {
    return this.lengths.get(parts[at]!) ?? 0;
  }

  at(parts: readonly string[], from: number, length: number): readonly number[] | undefined {
    return this.concepts.get(length === 1 ? parts[from]! : parts.slice(from, from + length).join(this.joint));
  }
}

/**
 * A lexicon of things that are spoken of in offices, in English and Chinese: which concepts a text names. It carries a request
 * in one language over to a card in the other.
 */
export class Concepts {
  private readonly english = FORMS.map(() => new Lexicon(" "));
  private readonly chinese = [new Lexicon("")];
  private readonly broader = new Map<number, number[]>();
  private readonly numbers = new Map<string, number>();

  /**
   * `concepts`: lines `id: english words, …| Chinese words, …`; `broader`: lines `id: narrower ids, …`. Lines that begin with #
   * are remarks.
   */
  constructor({ concepts, broader }: { concepts: string; broader: string }) {
    for (const [id, words] of linesOf(concepts)) this.learn(this.numberOf(id), words);
    for (const [id, narrower] of linesOf(broader)) {
      for (const one of narrower.split(",")) add(this.broader, this.numberOf(one.trim()), this.numberOf(id));
    }
  }

  /** The concepts of a text in normal form, by number, each with how plainly it is named, 0..1. */
  in(plain: string): Map<number, number> {
    const found = new Map<number, number>();
    for (const [run] of clean(plain).matchAll(RUN)) {
      if (CJK.test(run)) this.read(found, this.chinese, [[...run]]);
      else {
        const words = run.split(" ").filter((word) => word !== "");
        const forms = FORMS.map((form) => words.map(form));
        this.read(found, this.english, forms);
      }
    }
    return found;
  }

  /**
   * The longest phrase first; what lies within it, or reaches over its end, counts less. `forms`: the same parts in each form
   * in which they are looked for.
   */
  private read(found: Map<number, number>, lexicons: readonly Lexicon[], forms: readonly string[][]): void {
    let end = 0;
    const { length: count } = forms[0]!;
    for (let at = 0; at < count; at++) {
      const lengths = lexicons.map((lexicon, i) => lexicon.lengthsAt(forms[i]!, at));
      const any = lengths.reduce((all, each) => all | each, 0);
      for (let length = Math.min(31 - Math.clz32(any), count - at); length > 0; length--) {
        if ((any & (1 << length)) === 0) continue;
        const concepts = meaningOf(lexicons, forms, lengths, at, length);
        if (concepts === undefined) continue;
        const first = at >= end;
        if (first) end = at + length;
        this.note(found, concepts, first ? 1 : NESTED);
      }
    }
  }

  private note(found: Map<number, number>, concepts: readonly number[], weight: number): void {
    for (const concept of concepts) {
      atLeast(found, concept, weight);
      for (const broader of this.broader.get(concept) ?? []) atLeast(found, broader, weight * BROADER);
    }
  }

  private learn(concept: number, words: string): void {
    const [english = "", chinese = ""] = words.split("|");
    for (const phrase of phrasesOf(english)) {
      const parts = phrase.split(" ");
      for (const [i, form] of FORMS.entries()) this.english[i]!.add(parts.map(form), concept);
    }
    for (const phrase of phrasesOf(chinese)) this.chinese[0]!.add([...phrase], concept);
  }

  private numberOf(id: string): number {
    let number = this.numbers.get(id);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(id, number);
    }
    return number;
  }
}

function meaningOf(
  lexicons: readonly Lexicon[],
  forms: readonly string[][],
  lengths: readonly number[],
  at: number,
  length: number,
): readonly number[] | undefined {
  for (const [i, lexicon] of lexicons.entries()) {
    if ((lengths[i]! & (1 << length)) === 0) continue;
    const concepts = lexicon.at(forms[i]!, at, length);
    if (concepts !== undefined) return concepts;
  }
  return undefined;
}

function linesOf(text: string): [id: string, rest: string][] {
  return text
    .split("\n")
    .filter((line) => line.includes(":") && !line.startsWith("#"))
    .map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim(), line.slice(colon + 1)];
    });
}

/** Phrases as `clean` leaves them in a text. */
function phrasesOf(words: string): string[] {
  return words
    .toLowerCase()
    .split(",")
    .map((phrase) => clean(phrase.replace(/[\s_\-./]+/g, " ").trim()))
    .filter((phrase) => phrase !== "");
}

function clean(plain: string): string {
  return plain.replace(/['&]/g, "");
}

function singular(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word)) return word;
  return word.replace(/ies$/, "y").replace(/([^sui])s$/, "$1");
}

function atLeast(found: Map<number, number>, concept: number, weight: number): void {
  if ((found.get(concept) ?? 0) < weight) found.set(concept, weight);
}

function add<K>(index: Map<K, number[]>, key: K, concept: number): void {
  const concepts = index.get(key);
  if (concepts === undefined) index.set(key, [concept]);
  else if (!concepts.includes(concept)) concepts.push(concept);
}
