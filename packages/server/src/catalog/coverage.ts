import { cosineOf } from "./card-features.js";
import type { LocalEmbedder } from "./stages.js";
import { partsOf } from "./text.js";

/** So many words are kept with their vectors: a megabyte. */
const WORDS_MAX = 8_192;
/**
 * So many numbers of a vector are compared, a thousand times for each request: the table has its directions in the order of how
 * much they tell, and on the development sets these refuse as well as all 128.
 */
const DIMS = 32;
/** A clause of fewer words says too little to be all that was meant, if there are longer ones; of one, so many are looked at. */
const CLAUSE_MIN = 2;
const CLAUSE_MAX = 24;
/** So many clauses are looked at, and words of a card: a page must not cost as much as a hundred sentences. */
const CLAUSES_MAX = 8;
const CARD_MAX = 128;

/** How rare a word is among so many cards says as much as how much it says in the language at large; among more, more. */
const CARDS_WORTH = 20;

/** A word, and what it means; undefined for one that the embedder does not know. */
export interface Word {
  readonly text: string;
  readonly vector: Float32Array | undefined;
  /** How much it says in the language at large. */
  readonly weight: number;
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
  private readonly words = new Map<string, Word>();

  constructor(
    private readonly embedder: LocalEmbedder,
    private readonly rarity: Rarity,
  ) {}

  /** The first words of texts in normal form, each once. */
  wordsIn(texts: readonly string[], most = CARD_MAX): Word[] {
    const words = new Set<string>();
    for (const text of texts) {
      for (const word of partsOf(text)) {
        if (words.size === most) break;
        words.add(word);
      }
      if (words.size === most) break;
    }
    return Array.from(words, (word) => this.wordOf(word));
  }

  /**
   * Of the clause that cards cover best, since people tell a story around what they want: the share of its words, each by what it
   * is worth, 0..1. Undefined if there are no words. Clauses in normal form.
   */
  of(clauses: readonly string[], cards: readonly (readonly Word[])[]): number | undefined {
    const seen = new Map<Word, number>();
    const covered = (word: Word): number => {
      const known = seen.get(word) ?? nearest(word, cards);
      seen.set(word, known);
      return known;
    };
    const cut = clauses.slice(0, CLAUSES_MAX).map((clause) => this.wordsIn([clause], CLAUSE_MAX));
    const long = cut.filter((words) => words.length >= CLAUSE_MIN);
    let best: number | undefined;
    for (const words of long.length > 0 ? long : cut) {
      let [sum, all] = [0, 0];
      for (const word of words) {
        const worth = this.worthOf(word);
        all += worth;
        sum += worth * covered(word);
      }
      if (all > 0) best = Math.max(best ?? 0, sum / all);
    }
    return best;
  }

  /**
   * In a small catalog most words are rare, "please" and "for me" as well; in a large one it is the catalog that tells what a word
   * is worth there. Set on the development sets, where the language alone refuses two points less.
   */
  private worthOf({ text, weight }: Word): number {
    const share = this.rarity.size / (this.rarity.size + CARDS_WORTH);
    return this.rarity.worthOfWord(text) ** share * weight ** (1 - share);
  }

  private wordOf(text: string): Word {
    const known = this.words.get(text);
    if (known !== undefined) return known;
    // What the language at large does not know may be a name, or a typing error.
    const weight = this.embedder.weightOf(text) || 1;
    const word = { text, vector: beginningOf(this.embedder.embedOne(text)), weight };
    if (this.words.size === WORDS_MAX) this.words.clear();
    this.words.set(text, word);
    return word;
  }
}

/** The beginning of a vector, of length 1 again; undefined where there is nothing. */
function beginningOf(vector: Float32Array): Float32Array | undefined {
  const beginning = vector.slice(0, DIMS);
  const length = Math.hypot(...beginning);
  return length > 0 ? beginning.map((x) => x / length) : undefined;
}

function nearest({ text, vector }: Word, cards: readonly (readonly Word[])[]): number {
  for (const words of cards) if (words.some((word) => word.text === text)) return 1;
  let most = 0;
  if (vector === undefined) return most;
  for (const words of cards)
    for (const word of words) if (word.vector !== undefined) most = Math.max(most, cosineOf(word.vector, vector));
  return most;
}
