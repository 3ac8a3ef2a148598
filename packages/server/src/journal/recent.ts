/**
 * The newest items by id, exactly so many. Ids and positions lie in arrays of numbers, so that looking for an id that is
 * not there, as for every new message, touches no object: a Map of tens of thousands of strings costs several cache
 * misses a look, and one that loses its oldest entry with every new one costs them twice.
 */
export class Recent<T extends { readonly messageId: string }> {
  private readonly items: (T | undefined)[];
  /** Position of the newest item of each bucket, and of the next older one of each item; -1: none. */
  private readonly heads: Int32Array;
  private readonly next: Int32Array;
  private readonly hashes: Int32Array;
  private readonly mask: number;
  private at = 0;

  constructor(
    private readonly size: number,
    private readonly onForget: (item: T) => void,
  ) {
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(2, size)));
    this.items = new Array(size);
    this.heads = new Int32Array(buckets).fill(-1);
    this.next = new Int32Array(size).fill(-1);
    this.hashes = new Int32Array(size);
    this.mask = buckets - 1;
  }

  get(id: string): T | undefined {
    const hash = hashOf(id);
    for (let at = this.heads[hash & this.mask]!; at >= 0; at = this.next[at]!) {
      if (this.hashes[at] === hash && this.items[at]!.messageId === id) return this.items[at];
    }
    return undefined;
  }

  add(item: T): void {
    const { at } = this;
    this.at = (at + 1) % this.size;
    const oldest = this.items[at];
    if (oldest !== undefined) {
      this.unlink(at);
      this.onForget(oldest);
    }
    const hash = hashOf(item.messageId);
    const bucket = hash & this.mask;
    this.items[at] = item;
    this.hashes[at] = hash;
    this.next[at] = this.heads[bucket]!;
    this.heads[bucket] = at;
  }

  /** Oldest first. */
  *values(): IterableIterator<T> {
    for (let i = 0; i < this.size; i++) {
      const item = this.items[(this.at + i) % this.size];
      if (item !== undefined) yield item;
    }
  }

  private unlink(gone: number): void {
    const bucket = this.hashes[gone]! & this.mask;
    let at = this.heads[bucket]!;
    if (at === gone) {
      this.heads[bucket] = this.next[gone]!;
      return;
    }
    while (this.next[at] !== gone) at = this.next[at]!;
    this.next[at] = this.next[gone]!;
  }
}

/** FNV-1a (Fowler, Noll, Vo) over all of it: where ids differ is their maker's business. */
function hashOf(id: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) h = Math.imul(h ^ id.charCodeAt(i), 0x01000193);
  return h ^ (h >>> 15);
}
