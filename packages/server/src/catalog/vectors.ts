/** Up to so many vectors each is compared in full, which takes a millisecond; of more, only their signs. */
const EXACT_MAX = 4_096;
/** Vectors lie in arrays of so many, since one for all could only grow by being copied, tens of megabytes at a time. */
const PAGE_BITS = 10;
const PAGE = 1 << PAGE_BITS;

/**
 * One vector a document: the mean direction of what its texts mean.
 *
 * Of many, the signs of their numbers are compared first, a bit each: the share of signs that differ grows with the angle
 * (Charikar 2002; here without random planes, since the table's directions have been made alike already). That is thirty times
 * as fast, and good enough to tell which few hundred are worth comparing in full.
 */
export class Vectors {
  private readonly pages: Float32Array[] = [];
  private signs: Int32Array<ArrayBuffer>;
  private count = 0;
  private readonly words: number;

  constructor(private readonly dims: number) {
    this.words = Math.ceil(dims / 32);
    this.signs = new Int32Array(64 * this.words);
  }

  /** Documents are numbered from 0 in the order in which they are added; a vector has length 1 or 0. */
  add(vector: Float32Array): void {
    const at = this.count++;
    if (at >>> PAGE_BITS >= this.pages.length) this.pages.push(new Float32Array(PAGE * this.dims));
    if (this.count * this.words > this.signs.length) {
      const signs = new Int32Array(this.signs.length * 2);
      signs.set(this.signs);
      this.signs = signs;
    }
    this.pages[at >>> PAGE_BITS]!.set(vector, (at & (PAGE - 1)) * this.dims);
    this.signs.set(signsOf(vector, this.words), at * this.words);
  }

  /**
   * Puts the cosine of each of the first `count` documents into its place in `sums`; below zero counts as zero. Answers whether
   * these are estimates.
   */
  cosines(request: Float32Array, sums: Float32Array, count = this.count): boolean {
    const areEstimates = count > EXACT_MAX;
    if (areEstimates) this.estimate(request, sums, count);
    else for (let at = 0; at < count; at++) sums[at] = this.cosine(at, request);
    return areEstimates;
  }

  /** In full. */
  cosine(at: number, request: Float32Array): number {
    const { dims } = this;
    const rows = this.pages[at >>> PAGE_BITS]!;
    const from = (at & (PAGE - 1)) * dims;
    // Two sums, since each addition would otherwise wait for the one before.
    let even = 0;
    let odd = 0;
    for (let i = 0; i + 1 < dims; i += 2) {
      even += rows[from + i]! * request[i]!;
      odd += rows[from + i + 1]! * request[i + 1]!;
    }
    if (dims % 2 === 1) even += rows[from + dims - 1]! * request[dims - 1]!;
    return Math.max(even + odd, 0);
  }

  private estimate(request: Float32Array, sums: Float32Array, count: number): void {
    const { signs, words, dims } = this;
    const wanted = signsOf(request, words);
    // Of a text without a known word nothing is near.
    if (request.every((x) => x === 0)) {
      sums.fill(0, 0, count);
      return;
    }
    const cosineOf = Float32Array.from({ length: dims + 1 }, (_, n) => Math.max(0, Math.cos((Math.PI * n) / dims)));
    for (let at = 0, from = 0; at < count; at++, from += words) {
      let differing = 0;
      // Four words at a time share the last step: no byte of their sum can overflow.
      let i = 0;
      for (; i + 3 < words; i += 4) {
        const bytes =
          onesByByte(signs[from + i]! ^ wanted[i]!) +
          onesByByte(signs[from + i + 1]! ^ wanted[i + 1]!) +
          onesByByte(signs[from + i + 2]! ^ wanted[i + 2]!) +
          onesByByte(signs[from + i + 3]! ^ wanted[i + 3]!);
        differing += total(bytes);
      }
      for (; i < words; i++) differing += total(onesByByte(signs[from + i]! ^ wanted[i]!));
      sums[at] = cosineOf[differing]!;
    }
  }
}

function signsOf(vector: Float32Array, words: number): Int32Array {
  const signs = new Int32Array(words);
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) signs[i >> 5] = signs[i >> 5]! | (1 << (i & 31));
  return signs;
}

/** How many bits are set in each byte of a word (the usual sum by halves; Warren, Hacker's Delight, 5-1). */
function onesByByte(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return (fours + (fours >>> 4)) & 0x0f0f0f0f;
}

/** The bytes, added up; together they are below 256. */
function total(bytes: number): number {
  return Math.imul(bytes, 0x01010101) >>> 24;
}
