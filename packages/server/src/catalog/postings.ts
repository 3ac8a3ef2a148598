import { FeatureTable } from "./feature-table.js";

/** A list's blocks hold 2 entries, then 4, 8 and so on up to so many: most features occur once, and some everywhere. */
const BLOCK_MAX = 1024;
/** Blocks lie in arrays of so many numbers; one array for all could only grow by being copied, tens of megabytes at a time. */
const PAGE_BITS = 15;
const PAGE = 1 << PAGE_BITS;
/** What is known of a feature: how many entries it has, where its latest block is, and how many places are free there. */
const FIELDS = 3;
const FEATURES_MIN = 64;
/** A weight is kept as one of 256 roots, which keeps small ones apart. */
const WEIGHT_MAX = 8;
const weights = Float32Array.from({ length: 256 }, (_, i) => (i / 255) ** 2 * WEIGHT_MAX);

/** To come to a feature takes about as long as to go through so many of its postings, and most have but one. */
const FEATURE_COST = 24;

/** What a feature's presence in `df` of `count` documents makes it worth. */
export type Worth = (df: number, count: number) => number;

/**
 * An inverted index: which documents have which features, and how much of them. Features are 32-bit numbers, documents count up
 * from 0. One posting takes four bytes, in arrays for all: a hundred thousand cards have tens of millions of them, which as
 * objects would fill the memory.
 */
export class Postings {
  private readonly features = new FeatureTable();
  private lists = new Int32Array(FEATURES_MIN * FIELDS);
  /** Blocks, each: the block before, then its entries, as document·256 + weight. */
  private readonly pages: Int32Array[] = [];
  /** Where the next block begins. No block begins at 0, which stands for none. */
  private end = 1;

  /** Adds a document. Features of weight 0 or less are not kept. */
  add(document: number, features: ReadonlyMap<number, number>): void {
    for (const [key, weight] of features) if (weight > 0) this.push(key, (document << 8) | rooted(weight));
  }

  /** How many documents have it. */
  count(key: number): number {
    const feature = this.features.find(key);
    return feature < 0 ? 0 : this.lists[feature * FIELDS]!;
  }

  /** Adds `factor · weight` of each document that has the feature to its place in `sums`, if it has one there. */
  addTo(sums: Float32Array, key: number, factor: number): void {
    const feature = this.features.find(key);
    if (feature < 0) return;
    this.each(feature, (page, from, to) => {
      for (let i = from; i < to; i++) {
        const entry = page[i]!;
        const document = entry >>> 8;
        sums[document] = sums[document]! + factor * weights[entry & 255]!;
      }
    });
  }

  /**
   * As `addTo` for every feature, squared: `(factor(df) · weight)²`. Yields after about the time that so many postings take, so that
   * others may have the event loop; documents may be added meanwhile.
   */
  *addSquares(sums: Float32Array, factor: (df: number) => number, pauseAfter: number): Generator<void> {
    let seen = 0;
    for (const feature of yield* this.features.inOrder()) {
      const worth = factor(this.lists[feature * FIELDS]!);
      this.each(feature, (page, from, to) => {
        for (let i = from; i < to; i++) {
          const entry = page[i]!;
          const document = entry >>> 8;
          // Documents that came after `sums` was made are not in it.
          if (document < sums.length) sums[document] = sums[document]! + (worth * weights[entry & 255]!) ** 2;
        }
        seen += to - from;
      });
      seen += FEATURE_COST;
      if (seen < pauseAfter) continue;
      seen = 0;
      yield;
    }
  }

  private each(feature: number, visit: (page: Int32Array, from: number, to: number) => void): void {
    const { lists, pages } = this;
    let left = lists[feature * FIELDS]!;
    let block = lists[feature * FIELDS + 1]!;
    let filled = sizeOfLast(left) - lists[feature * FIELDS + 2]!;
    while (left > 0) {
      const page = pages[block >>> PAGE_BITS]!;
      const at = block & (PAGE - 1);
      visit(page, at + 1, at + 1 + filled);
      left -= filled;
      block = page[at]!;
      filled = sizeOfLast(left);
    }
  }

  private push(key: number, entry: number): void {
    let feature = this.features.find(key);
    if (feature < 0) feature = this.features.add(key);
    if (this.features.size * FIELDS > this.lists.length) {
      const larger = new Int32Array(this.lists.length * 2);
      larger.set(this.lists);
      this.lists = larger;
    }
    const { lists } = this;
    const at = feature * FIELDS;
    const count = lists[at]!;
    const size = sizeOfLast(count + 1);
    if (lists[at + 2] === 0) {
      const block = this.allocate(size + 1);
      this.pages[block >>> PAGE_BITS]![block & (PAGE - 1)] = lists[at + 1]!;
      lists[at + 1] = block;
      lists[at + 2] = size;
    }
    const place = lists[at + 1]! + 1 + size - lists[at + 2]!;
    this.pages[place >>> PAGE_BITS]![place & (PAGE - 1)] = entry;
    lists[at] = count + 1;
    lists[at + 2] = lists[at + 2]! - 1;
  }

  /** A block lies on one page. */
  private allocate(size: number): number {
    if ((this.end & (PAGE - 1)) + size > PAGE) this.end = (this.end | (PAGE - 1)) + 1;
    const at = this.end;
    this.end += size;
    if (at >>> PAGE_BITS >= this.pages.length) this.pages.push(new Int32Array(PAGE));
    return at;
  }
}

function rooted(weight: number): number {
  return Math.max(1, Math.min(255, Math.round(Math.sqrt(weight / WEIGHT_MAX) * 255)));
}

/** The size of the block in which the entry number `count` (from 1) of a list lies: 2, 4, 8 … and then always the largest. */
function sizeOfLast(count: number): number {
  const size = 1 << (31 - Math.clz32(count + 1));
  return Math.min(size, BLOCK_MAX);
}
