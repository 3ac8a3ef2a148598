import { HashIndex, hashOf } from "./hash-index.js";

const FIRST_PLACES = 16;
const NONE = -1;

/**
 * A map for entries that come and go by the thousand a second, such as messages in flight. Like `Map` it keeps their order.
 *
 * `Map` makes itself anew every so many deletions, and V8 lets each table point to the one that replaced it, for the sake
 * of open iterators. Once one table has grown old, young collections therefore keep every later one alive with all that
 * was ever in it, until the next full collection. A quarter of the cost of a call went into copying such dead entries.
 */
export class HashTable<K extends string | number, V> {
  private held: (K | undefined)[] = new Array(FIRST_PLACES);
  private entries: (V | undefined)[] = new Array(FIRST_PLACES);
  private index = new HashIndex(FIRST_PLACES);
  /** Places by the order in which they were taken. */
  private older = new Int32Array(FIRST_PLACES);
  private newer = new Int32Array(FIRST_PLACES);
  private oldest = NONE;
  private newest = NONE;
  private readonly free: number[] = [];
  /** Places that were ever used. */
  private used = 0;

  get size(): number {
    return this.used - this.free.length;
  }

  has(key: K): boolean {
    return this.find(key) >= 0;
  }

  get(key: K): V | undefined {
    const place = this.find(key);
    return place < 0 ? undefined : this.entries[place];
  }

  /** A known key keeps its place in the order. */
  set(key: K, value: V): void {
    const hash = hashOfKey(key);
    const known = this.find(key, hash);
    if (known >= 0) {
      this.entries[known] = value;
      return;
    }
    if (this.free.length === 0 && this.used === this.held.length) this.grow();
    const place = this.free.pop() ?? this.used++;
    this.held[place] = key;
    this.entries[place] = value;
    this.index.add(place, hash);
    this.older[place] = this.newest;
    this.newer[place] = NONE;
    if (this.newest === NONE) this.oldest = place;
    else this.newer[this.newest] = place;
    this.newest = place;
  }

  /** Takes the entry out and answers its value. */
  delete(key: K): V | undefined {
    const place = this.find(key);
    if (place < 0) return undefined;
    const value = this.entries[place];
    this.index.remove(place);
    const [older, newer] = [this.older[place]!, this.newer[place]!];
    if (older === NONE) this.oldest = newer;
    else this.newer[older] = newer;
    if (newer === NONE) this.newest = older;
    else this.older[newer] = older;
    this.held[place] = undefined;
    this.entries[place] = undefined;
    this.free.push(place);
    return value;
  }

  /** Oldest first. What is under way may be deleted meanwhile, and nothing else. */
  *values(): IterableIterator<V> {
    for (let place = this.oldest; place !== NONE; ) {
      const next = this.newer[place]!;
      yield this.entries[place]!;
      place = next;
    }
  }

  /** Oldest first, as `values`. */
  *keys(): IterableIterator<K> {
    for (let place = this.oldest; place !== NONE; ) {
      const next = this.newer[place]!;
      yield this.held[place]!;
      place = next;
    }
  }

  private find(key: K, hash = hashOfKey(key)): number {
    let place = this.index.first(hash);
    while (place >= 0 && this.held[place] !== key) place = this.index.after(place);
    return place;
  }

  private grow(): void {
    const places = this.held.length * 2;
    this.held.length = places;
    this.entries.length = places;
    this.older = longer(this.older, places);
    this.newer = longer(this.newer, places);
    this.index = new HashIndex(places);
    for (let place = 0; place < this.used; place++) this.index.add(place, hashOfKey(this.held[place]!));
  }
}

function longer(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const result = new Int32Array(length);
  result.set(array);
  return result;
}

function hashOfKey(key: string | number): number {
  return typeof key === "number" ? key | 0 : hashOf(key);
}
