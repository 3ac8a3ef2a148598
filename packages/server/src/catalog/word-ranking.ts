import { Postings } from "./postings.js";
import { hashOf, stem, wordsOf } from "./text.js";

/** BM25's usual constants: how soon a repeated word stops counting, and how much long documents are held back. */
const K1 = 1.2;
const B = 0.75;

/** Documents ranked by the words that they share with a request: Okapi BM25 (Robertson and Zaragoza, 2009). */
export class WordRanking {
  private readonly postings = new Postings();
  private count = 0;
  private words = 0;

  /** How many documents there are. */
  get size(): number {
    return this.count;
  }

  /** Documents are numbered from 0 in the order in which they are added; texts in normal form. */
  add(texts: readonly string[]): void {
    const counts = countsOf(texts.flatMap(wordsOf));
    for (const n of counts.values()) this.words += n;
    const document = this.count++;
    this.postings.add(document, this.weightsOf(counts));
  }

  /**
   * Puts the score of each of the first `count` documents into its place in `sums`, as a share of the best, 0..1; answers what
   * the best was. `words`: of the request, by `wordKeysOf`. What is there behind them may change.
   */
  shares(words: ReadonlySet<number>, sums: Float32Array, count = this.count): number {
    sums.fill(0, 0, count);
    for (const word of words) this.postings.addTo(sums, word, this.worthOf(word));
    return shareOut(sums, count);
  }

  /** Puts another document in the place of one in shares of `best`; they are then shares of the best there is now, which it answers. */
  replace(
    { words, sums, best, count }: { words: ReadonlySet<number>; sums: Float32Array; best: number; count: number },
    at: number,
    texts: readonly string[],
  ): number {
    const weights = this.weightsOf(countsOf(texts.flatMap(wordsOf)));
    let sum = 0;
    for (const word of words) sum += this.worthOf(word) * (weights.get(word) ?? 0);
    for (let i = 0; i < count; i++) sums[i] = i === at ? sum : sums[i]! * best;
    return shareOut(sums, count);
  }

  /** What a word is worth: more, the fewer documents have it. */
  worthOfWord(word: string): number {
    return this.worthOf(hashOf(stem(word)));
  }

  private worthOf(word: number): number {
    const df = this.postings.count(word);
    return Math.log(1 + (this.count - df + 0.5) / (df + 0.5));
  }

  private weightsOf(counts: ReadonlyMap<number, number>): Map<number, number> {
    let length = 0;
    for (const n of counts.values()) length += n;
    const average = this.count > 0 ? this.words / this.count : length;
    const weights = new Map<number, number>();
    for (const [word, n] of counts) weights.set(word, (n * (K1 + 1)) / (n + K1 * (1 - B + (B * length) / average)));
    return weights;
  }
}

function shareOut(sums: Float32Array, count: number): number {
  let best = 0;
  for (let i = 0; i < count; i++) if (sums[i]! > best) best = sums[i]!;
  if (best > 0) for (let i = 0; i < count; i++) if (sums[i] !== 0) sums[i] = sums[i]! / best;
  return best;
}

/** The words of a text in normal form, each once. Cutting it takes longer than looking all of them up. */
export function wordKeysOf(plain: string): ReadonlySet<number> {
  return new Set(wordsOf(plain).map(hashOf));
}

function countsOf(words: readonly string[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) {
    const key = hashOf(word);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
