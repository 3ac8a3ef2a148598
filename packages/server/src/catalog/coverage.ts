import type { LocalEmbedder } from "./stages.js";
import { partsOf } from "./text.js";

/** So many words are kept with their vectors: a megabyte. */
const WORDS_MAX = 8_192;
/**
 * So many numbers of a vector are compared, thousands of times for each request: the table has its directions in the order of how
 * much they tell, and on the development sets these refuse as well as all 128.
 */
const DIMS = 32;
/** A clause of fewer words says too little to be all that was meant, if there are longer ones. */
const CLAUSE_MIN = 2;
/** So many words of a clause, of a request and of a card are looked at: a page must not cost as much as a hundred sentences. */
const CLAUSE_MAX = 24;
const CLAUSES_MAX = 8;
const REQUEST_MAX = 64;
const CARD_MAX = 128;
/** How rare a word is among so many cards says as much as how much it says in the language at large; among more, more. */
const CARDS_WORTH = 20;

interface Word {
  /** What it means; undefined for one that the embedder does not know. */
  readonly vector: Float32Array | undefined;
  /** How much it says in the language at large. */
  readonly weight: number;
}

/** The words of a card, and the vectors of those that have one, one behind the other. */
export interface CardWords {
  readonly words: ReadonlySet<string>;
  readonly vectors: Float32Array;
}

/** How rare words are among cards. */
interface Rarity {
  readonly size: number;
  worthOfWord(word: string): number;
}

/**
 * How much of what a request says is said by cards as well, word by word: in the same word, or in one that means something like it
 * (for each word the highest cosine, as in BERTScore, Zhang and others 2020). What nobody serves is often near to a card as a
 * whole, and yet has a word that no card of the kind would have.
 */
export class Coverage {
  private readonly known = new Map<string, Word>();

  constructor(
    private readonly embedder: LocalEmbedder,
    private readonly rarity: Rarity,
  ) {}

  /** Of texts in normal form. */
  cardOf(texts: readonly string[]): CardWords {
    const words = wordsIn(texts, CARD_MAX);
    const vectors = [...words].flatMap((word) => this.wordOf(word).vector ?? []);
    const packed = new Float32Array(vectors.length * DIMS);
    for (const [i, vector] of vectors.entries()) packed.set(vector, i * DIMS);
    return { words, vectors: packed };
  }

  /** Of a text in normal form. */
  requestOf(plain: string): RequestWords {
    return new RequestWords(plain, this);
  }

  /**
   * What a word is worth. In a small catalog most are rare, "please" and "for me" as well; in a large one it is the catalog that
   * tells what a word is worth there. Set on the development sets, where the language alone refuses two points less.
   */
  worthOf(word: string): number {
    const share = this.rarity.size / (this.rarity.size + CARDS_WORTH);
    return this.rarity.worthOfWord(word) ** share * this.wordOf(word).weight ** (1 - share);
  }

  /** 1 if the card has the word itself. */
  nearness(word: string, { words, vectors }: CardWords): number {
    if (words.has(word)) return 1;
    const { vector } = this.wordOf(word);
    return vector === undefined ? 0 : nearest(vector, vectors);
  }

  private wordOf(text: string): Word {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    // What the language at large does not know may be a name, or a typing error.
    const weight = this.embedder.weightOf(text) || 1;
    const word = { vector: beginningOf(this.embedder.embedOne(text)), weight };
    if (this.known.size === WORDS_MAX) this.known.clear();
    this.known.set(text, word);
    return word;
  }
}

/** A request's words, and how near each comes to the cards that it was compared with. */
export class RequestWords {
  private readonly worth = new Map<string, number>();
  private readonly near = new Map<CardWords, Map<string, number>>();
  private words: ReadonlySet<string> | undefined;

  constructor(
    private readonly plain: string,
    private readonly coverage: Coverage,
  ) {}

  /** The share of its words, each by what it is worth, that one card says, 0..1; 0 without words. */
  share(card: CardWords): number {
    this.words ??= wordsIn([this.plain], REQUEST_MAX);
    return this.covered(this.words, [card]) ?? 0;
  }

  /**
   * The same over several cards and of one clause: of the one that is covered best, since people tell a story around what they
   * want. Undefined if there are no words. Clauses in normal form.
   */
  best(clauses: readonly string[], cards: readonly CardWords[]): number | undefined {
    const cut = (clauses.length === 0 ? [this.plain] : clauses)
      .slice(0, CLAUSES_MAX)
      .map((clause) => wordsIn([clause], CLAUSE_MAX));
    const long = cut.filter((words) => words.size >= CLAUSE_MIN);
    let best: number | undefined;
    for (const words of long.length > 0 ? long : cut) {
      const covered = this.covered(words, cards);
      if (covered !== undefined) best = Math.max(best ?? 0, covered);
    }
    return best;
  }

  private covered(words: ReadonlySet<string>, cards: readonly CardWords[]): number | undefined {
    let [sum, all] = [0, 0];
    for (const word of words) {
      let worth = this.worth.get(word);
      if (worth === undefined) {
        worth = this.coverage.worthOf(word);
        this.worth.set(word, worth);
      }
      let most = 0;
      for (const card of cards) most = Math.max(most, this.nearness(word, card));
      all += worth;
      sum += worth * most;
    }
    return all > 0 ? sum / all : undefined;
  }

  private nearness(word: string, card: CardWords): number {
    let known = this.near.get(card);
    if (known === undefined) {
      known = new Map();
      this.near.set(card, known);
    }
    let near = known.get(word);
    if (near === undefined) {
      near = this.coverage.nearness(word, card);
      known.set(word, near);
    }
    return near;
  }
}

/** The first words of texts in normal form. */
function wordsIn(texts: readonly string[], most: number): Set<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const word of partsOf(text)) {
      if (words.size === most) return words;
      words.add(word);
    }
  }
  return words;
}

/** The beginning of a vector, of length 1 again; undefined where there is nothing. */
function beginningOf(vector: Float32Array): Float32Array | undefined {
  const beginning = new Float32Array(DIMS);
  beginning.set(vector.subarray(0, DIMS));
  const length = Math.hypot(...beginning);
  return length > 0 ? beginning.map((x) => x / length) : undefined;
}

/** The highest cosine with one of several vectors that lie one behind the other; below zero counts as zero. */
function nearest(vector: Float32Array, vectors: Float32Array): number {
  let most = 0;
  for (let from = 0; from < vectors.length; from += DIMS) {
    // Two sums, since each addition would otherwise wait for the one before.
    let even = 0;
    let odd = 0;
    for (let i = 0; i < DIMS; i += 2) {
      even += vector[i]! * vectors[from + i]!;
      odd += vector[i + 1]! * vectors[from + i + 1]!;
    }
    if (even + odd > most) most = even + odd;
  }
  return most;
}
