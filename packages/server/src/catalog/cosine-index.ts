import { Postings, type Worth } from "./postings.js";
import type { Steps } from "./steps.js";

/** Postings that are gone through at a stretch: a fraction of a millisecond. */
const STRETCH = 50_000;
/** Lengths are computed anew when so much more came. */
const GROWTH = 1.1;

/**
 * Documents and requests as vectors of weighted features, compared by the cosine of their angle. What a feature is worth depends
 * on how many documents have it, so the lengths of vectors drift as documents come; `refresh` sets them right again.
 */
export class CosineIndex {
  private readonly postings = new Postings();
  private lengths = new Float32Array(64);
  private count = 0;
  private refreshedAt = 0;

  /** `worth`: 0 for what is not to be looked at. */
  constructor(private readonly worth: Worth) {}

  /** Documents are numbered from 0 in the order in which they are added. */
  add(features: ReadonlyMap<number, number>): void {
    const document = this.count++;
    if (this.count > this.lengths.length) this.lengths = larger(this.lengths);
    this.postings.add(document, features);
    this.lengths[document] = this.lengthOf(features);
  }

  /** The length of a vector of these features. */
  lengthOf(features: ReadonlyMap<number, number>): number {
    let squares = 0;
    for (const [key, weight] of features) squares += (this.worthOf(key) * weight) ** 2;
    return Math.sqrt(squares);
  }

  /** The cosine of a document that need not be here. */
  cosine(request: ReadonlyMap<number, number>, document: ReadonlyMap<number, number>): number {
    let sum = 0;
    for (const [key, weight] of request) sum += weight * (document.get(key) ?? 0) * this.worthOf(key) ** 2;
    const both = this.lengthOf(request) * this.lengthOf(document);
    return both > 0 ? sum / both : 0;
  }

  worthOf(key: number): number {
    return this.worth(this.postings.count(key), this.count);
  }

  /**
   * Puts the cosine of each of the first `count` documents into its place in `sums`, 0..1, in steps. What is there behind them may
   * change.
   */
  *cosines(request: ReadonlyMap<number, number>, sums: Float32Array, count = this.count): Steps<void> {
    sums.fill(0, 0, count);
    let squares = 0;
    let seen = 0;
    for (const [key, weight] of request) {
      const worth = this.worthOf(key);
      if (worth === 0) continue;
      if (seen > STRETCH) {
        seen = 0;
        yield;
      }
      seen += this.postings.count(key);
      squares += (worth * weight) ** 2;
      // Worth twice: once in the document's vector, and once in the request's.
      this.postings.addTo(sums, key, weight * worth * worth);
    }
    const length = Math.sqrt(squares);
    const { lengths } = this;
    for (let i = 0; i < count; i++) {
      const sum = sums[i]!;
      if (sum === 0) continue;
      const both = lengths[i]! * length;
      sums[i] = both > 0 ? sum / both : 0;
    }
  }

  /** Whether so much came since the last time that lengths should be computed anew. */
  get isStale(): boolean {
    return this.count > this.refreshedAt * GROWTH;
  }

  /** Computes all lengths anew, in steps. */
  *refresh(): Generator<void> {
    const { count } = this;
    const squares = new Float32Array(count);
    yield* this.postings.addSquares(squares, (df) => this.worth(df, count), STRETCH);
    for (let i = 0; i < count; i++) this.lengths[i] = Math.sqrt(squares[i]!);
    this.refreshedAt = count;
  }
}

export function larger(array: Float32Array): Float32Array<ArrayBuffer> {
  const copy = new Float32Array(array.length * 2);
  copy.set(array);
  return copy;
}
