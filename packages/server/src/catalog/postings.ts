/** A list's blocks hold 2 entries, then 4, 8 and so on up to so many: most features occur once, and some everywhere. */
const BLOCK_MAX = 1024;
const SLOTS_MIN = 1024;
/** A slot is five numbers: key, used (1) or free (0), entries, the latest block, free places in that block. */
const SLOT = 5;
/** A weight is kept as one of 256 roots, which keeps small ones apart. */
const WEIGHT_MAX = 8;
const weights = Float32Array.from({ length: 256 }, (_, i) => (i / 255) ** 2 * WEIGHT_MAX);

/** What a feature's presence in `df` of `count` documents makes it worth. */
export type Worth = (df: number, count: number) => number;

/**
 * An inverted index: which documents have which features, and how much of them. Features are 32-bit numbers, documents count up
 * from 0. One posting takes four bytes, in one array for all: a hundred thousand cards have tens of millions of them, which as
 * objects would fill the memory.
 */
export class Postings {
  private slots = new Int32Array(SLOTS_MIN * SLOT);
  private used = 0;
  /** Blocks, each: the block before, then its entries, as document·256 + weight. */
  private pool = new Int32Array(4096);
  private end = 1;

  /** Adds a document. Features of weight 0 or less are not kept. */
  add(document: number, features: ReadonlyMap<number, number>): void {
    for (const [key, weight] of features) if (weight > 0) this.push(key, (document << 8) | rooted(weight));
  }

  /** How many documents have it. */
  count(key: number): number {
    const at = this.slotOf(key);
    return this.slots[at + 1] === 0 ? 0 : this.slots[at + 2]!;
  }

  /** Adds `factor · weight` of each document that has the feature to its place in `sums`. */
  addTo(sums: Float32Array, key: number, factor: number): void {
    const at = this.slotOf(key);
    if (this.slots[at + 1] === 0) return;
    this.each(at, (block, from, to) => {
      for (let i = from; i < to; i++) {
        const entry = block[i]!;
        const document = entry >>> 8;
        sums[document] = sums[document]! + factor * weights[entry & 255]!;
      }
    });
  }

  /**
   * As `addTo` for every feature, squared: `(factor(df) · weight)²`. Yields after about so many postings, so that others may
   * have the event loop; documents may be added meanwhile.
   */
  *addSquares(sums: Float32Array, factor: (df: number) => number, pauseAfter: number): Generator<void> {
    let seen = 0;
    for (let at = 0; at < this.slots.length; at += SLOT) {
      if (this.slots[at + 1] === 0) continue;
      const worth = factor(this.slots[at + 2]!);
      this.each(at, (block, from, to) => {
        for (let i = from; i < to; i++) {
          const entry = block[i]!;
          const document = entry >>> 8;
          // Documents that came after `sums` was made are not in it.
          if (document < sums.length) sums[document] = sums[document]! + (worth * weights[entry & 255]!) ** 2;
        }
        seen += to - from;
      });
      if (seen >= pauseAfter) {
        seen = 0;
        const before = this.slots;
        yield;
        // The table grew meanwhile, and every feature stands elsewhere.
        if (this.slots !== before) {
          sums.fill(0);
          at = -SLOT;
        }
      }
    }
  }

  private each(at: number, visit: (block: Int32Array, from: number, to: number) => void): void {
    const { slots, pool } = this;
    let left = slots[at + 2]!;
    let block = slots[at + 3]!;
    let size = sizeOfLast(left);
    let filled = size - slots[at + 4]!;
    while (left > 0) {
      visit(pool, block + 1, block + 1 + filled);
      left -= filled;
      block = pool[block]!;
      size = sizeOfLast(left);
      filled = size;
    }
  }

  private push(key: number, entry: number): void {
    let at = this.slotOf(key);
    if (this.slots[at + 1] === 0) {
      if (this.used * 2 >= this.slots.length / SLOT) {
        this.grow();
        at = this.slotOf(key);
      }
      this.slots[at] = key;
      this.slots[at + 1] = 1;
      this.used++;
    }
    const { slots } = this;
    const count = slots[at + 2]!;
    if (slots[at + 4] === 0) {
      const size = sizeOfLast(count + 1);
      const block = this.allocate(size + 1);
      this.pool[block] = slots[at + 3]!;
      slots[at + 3] = block;
      slots[at + 4] = size;
    }
    const size = sizeOfLast(count + 1);
    this.pool[slots[at + 3]! + 1 + size - slots[at + 4]!] = entry;
    slots[at + 2] = count + 1;
    slots[at + 4] = slots[at + 4]! - 1;
  }

  private allocate(size: number): number {
    const at = this.end;
    this.end += size;
    if (this.end > this.pool.length) {
      const larger = new Int32Array(Math.max(this.end, Math.ceil(this.pool.length * 1.5)));
      larger.set(this.pool);
      this.pool = larger;
    }
    return at;
  }

  private slotOf(key: number): number {
    const { slots } = this;
    const mask = slots.length / SLOT - 1;
    // Sequential keys, which concepts have, would otherwise fill one stretch.
    let n = (Math.imul(key, 0x9e3779b1) >>> 7) & mask;
    for (;;) {
      const at = n * SLOT;
      if (slots[at + 1] === 0 || slots[at] === key) return at;
      n = (n + 1) & mask;
    }
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at += SLOT) {
      if (old[at + 1] === 0) continue;
      this.slots.set(old.subarray(at, at + SLOT), this.slotOf(old[at]!));
    }
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
