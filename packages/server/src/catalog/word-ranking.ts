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
    this.postings.add(this.count++, this.weightsOf(counts));
  }

  /** The score of each document, by its number, as a share of the best, 0..1. The array is valid until the next call. */
  shares(plain: string): Float32Array {
    if (this.sums.length < this.count) this.sums = new Float32Array(this.count * 2);
    const sums = this.sums.fill(0, 0, this.count);
    for (const word of countsOf(wordsOf(plain)).keys()) this.postings.addTo(sums, word, this.worthOf(word));
    this.best = 0;
    for (let i = 0; i < this.count; i++) this.best = Math.max(this.best, sums[i]!);
    if (this.best > 0) for (let i = 0; i < this.count; i++) sums[i] = sums[i]! / this.best;
    return sums;
  }

  /** The same for a document that is not here, beside those of the last call. */
  share(plain: string, texts: readonly string[]): number {
    const weights = this.weightsOf(countsOf(texts.flatMap(wordsOf)));
    let sum = 0;
    for (const word of countsOf(wordsOf(plain)).keys()) sum += this.worthOf(word) * (weights.get(word) ?? 0);
    return this.best > 0 ? Math.min(1, sum / this.best) : 0;
  }

  /** How much of what a text says occurs anywhere: the share of its words, each by what it is worth, 0..1. */
  known(plain: string): number {
    let [known, all] = [0, 0];
    for (const word of countsOf(wordsOf(plain)).keys()) {
      const worth = this.worthOf(word);
      all += worth;
      if (this.postings.count(word) > 0) known += worth;
    }
    return all > 0 ? known / all : 0;
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

  get bytes(): number {
    return this.postings.bytes + this.sums.byteLength;
  }
}

function countsOf(words: readonly string[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) {
    const key = hashOf(word);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
