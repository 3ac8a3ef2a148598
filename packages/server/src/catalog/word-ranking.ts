import { Postings } from "./postings.js";
import { hashOf, wordsOf } from "./text.js";

/** BM25's usual constants: how soon a repeated word stops counting, and how much long documents are held back. */
const K1 = 1.2;
const B = 0.75;

/** Documents ranked by the words that they share with a request: Okapi BM25 (Robertson and Zaragoza, 2009). */
export class WordRanking {
  private readonly postings = new Postings();
  private sums = new Float32Array(64);
  private count = 0;
  private words = 0;
  private best = 0;

  /** Documents are numbered from 0 in the order in which they are added; texts in normal form. */
  add(texts: readonly string[]): void {
    const counts = countsOf(texts.flatMap(wordsOf));
    for (const n of counts.values()) this.words += n;
    const document = this.count++;
    this.postings.add(document, this.weightsOf(counts));
  }

  /**
   * The score of each document, by its number, as a share of the best, 0..1. `words`: of the request, by `wordKeysOf`. The array
   * is valid until the next call.
   */
  shares(words: ReadonlySet<number>): Float32Array {
    if (this.sums.length < this.count) this.sums = new Float32Array(this.count * 2);
    const sums = this.sums.fill(0, 0, this.count);
    for (const word of words) this.postings.addTo(sums, word, this.worthOf(word));
    this.shareOut();
    return sums;
  }

  private shareOut(): void {
    const { sums, count } = this;
    let best = 0;
    for (let i = 0; i < count; i++) if (sums[i]! > best) best = sums[i]!;
    this.best = best;
    if (best > 0) for (let i = 0; i < count; i++) if (sums[i] !== 0) sums[i] = sums[i]! / best;
  }

  /** Puts another document in the place of one, in the shares of the last call; they are then shares of the best there is now. */
  replace(words: ReadonlySet<number>, at: number, texts: readonly string[]): void {
    const weights = this.weightsOf(countsOf(texts.flatMap(wordsOf)));
    let sum = 0;
    for (const word of words) sum += this.worthOf(word) * (weights.get(word) ?? 0);
    const { sums } = this;
    for (let i = 0; i < this.count; i++) sums[i] = i === at ? sum : sums[i]! * this.best;
    this.shareOut();
  }

  /**
   * How much of what a request says occurs anywhere: the share of its words, each by what it is worth, 0..1. Texts of one document
   * that are `gone` are taken for not there, and those that it keeps for all it has.
   */
  known(words: ReadonlySet<number>, gone: readonly string[] = [], kept: readonly string[] = []): number {
    const only = countsOf(gone.flatMap(wordsOf));
    for (const word of countsOf(kept.flatMap(wordsOf)).keys()) only.delete(word);
    let [known, all] = [0, 0];
    for (const word of words) {
      const df = this.postings.count(word) - (only.has(word) ? 1 : 0);
      const worth = this.worthOf(word, df);
      all += worth;
      if (df > 0) known += worth;
    }
    return all > 0 ? known / all : 0;
  }

  private worthOf(word: number, df = this.postings.count(word)): number {
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
