import { larger } from "./cosine-index.js";

/** One vector a document: the mean direction of what its texts mean. */
export class Vectors {
  private rows: Float32Array<ArrayBuffer>;
  private sums = new Float32Array(64);
  private count = 0;

  constructor(private readonly dims: number) {
    this.rows = new Float32Array(64 * dims);
  }

  /** Documents are numbered from 0 in the order in which they are added; a vector has length 1 or 0. */
  add(vector: Float32Array): void {
    const at = this.count++ * this.dims;
    if (at + this.dims > this.rows.length) this.rows = larger(this.rows);
    this.rows.set(vector, at);
  }

  /** The cosine of each document, by its number; below zero counts as zero. The array is valid until the next call. */
  cosines(request: Float32Array): Float32Array {
    if (this.sums.length < this.count) this.sums = new Float32Array(this.count * 2);
    const { rows, sums, dims } = this;
    for (let document = 0, at = 0; document < this.count; document++, at += dims) {
      let sum = 0;
      for (let i = 0; i < dims; i++) sum += rows[at + i]! * request[i]!;
      sums[document] = Math.max(sum, 0);
    }
    return sums;
  }

  get bytes(): number {
    return this.rows.byteLength + this.sums.byteLength;
  }
}
