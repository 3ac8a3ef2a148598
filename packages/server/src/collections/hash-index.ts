/**
 * Finds places by hash: chains of positions in arrays of numbers, which touch no object until a hash is equal. What lies
 * in the places is its owner's business.
 */
export class HashIndex {
  /** Newest place of each bucket, and the next older one of each place; -1: none. */
  private readonly heads: Int32Array;
  private readonly next: Int32Array;
  private readonly hashes: Int32Array;
  private readonly mask: number;

  constructor(places: number) {
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(2, places)));
    this.heads = new Int32Array(buckets).fill(-1);
    this.next = new Int32Array(places).fill(-1);
    this.hashes = new Int32Array(places);
    this.mask = buckets - 1;
  }

  /** The newest place with this hash, -1 if there is none. */
  first(hash: number): number {
    return this.withHash(this.heads[hash & this.mask]!, hash);
  }

  /** The next older place with the hash of this one, -1 if there is none. */
  after(place: number): number {
    return this.withHash(this.next[place]!, this.hashes[place]!);
  }

  add(place: number, hash: number): void {
    const bucket = hash & this.mask;
    this.hashes[place] = hash;
    this.next[place] = this.heads[bucket]!;
    this.heads[bucket] = place;
  }

  remove(place: number): void {
    const bucket = this.hashes[place]! & this.mask;
    let at = this.heads[bucket]!;
    if (at === place) {
      this.heads[bucket] = this.next[place]!;
      return;
    }
    while (this.next[at] !== place) at = this.next[at]!;
    this.next[at] = this.next[place]!;
  }

  private withHash(place: number, hash: number): number {
    let at = place;
    while (at >= 0 && this.hashes[at] !== hash) at = this.next[at]!;
    return at;
  }
}

/** FNV-1a (Fowler, Noll, Vo) over all of it: where ids differ is their maker's business. */
export function hashOf(key: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193);
  return h ^ (h >>> 15);
}
