import { HashIndex, hashOf } from "./hash-index.js";

const FIRST_PLACES = 16;
const NONE = -1;

/**
 * A map for entries that come and go by the thousand a second, such as messages in flight.
 *
 * `Map` makes itself anew every so many deletions, and V8 lets each table point to the one that replaced it, for the sake
 * of open iterators. Once one table has grown old, young collections therefore keep every later one alive with all that
 * was ever in it, until the next full collection (ADR 10).
 */
export class HashTable<K extends string | number, V> {
  protected held: (K | undefined)[] = new Array(FIRST_PLACES);
  protected entries: (V | undefined)[] = new Array(FIRST_PLACES);
  private index = new HashIndex(FIRST_PLACES);
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

  set(key: K, value: V): void {
    const hash = hashOfKey(key);
    const known = this.find(key, hash);
    if (known >= 0) {
      this.entries[known] = value;
      return;
    }
    if (this.free.length === 0 && this.used === this.held.length) this.grow(this.held.length * 2);
    const place = this.free.pop() ?? this.used++;
    this.held[place] = key;
    this.entries[place] = value;
    this.index.add(place, hash);
    this.taken(place);
  }

  /** Takes the entry out and answers its value. */
  delete(key: K): V | undefined {
    const place = this.find(key);
    if (place < 0) return undefined;
    const value = this.entries[place];
    this.index.remove(place);
    this.left(place);
    this.held[place] = undefined;
    this.entries[place] = undefined;
    this.free.push(place);
    return value;
  }

  /** All values as they are now, in no order. */
  all(): V[] {
    return this.entries.filter((_, place) => this.held[place] !== undefined) as V[];
  }

  protected taken(_place: number): void {}

  protected left(_place: number): void {}

  protected grow(places: number): void {
    this.held.length = places;
    this.entries.length = places;
    this.index = new HashIndex(places);
    for (let place = 0; place < this.used; place++) this.index.add(place, hashOfKey(this.held[place]!));
  }

  private find(key: K, hash = hashOfKey(key)): number {
    let place = this.index.first(hash);
    while (place >= 0 && this.held[place] !== key) place = this.index.after(place);
    return place;
  }
}

/** The same, which keeps the order in which its keys came, as a `Map` does. */
export class OrderedTable<K extends string | number, V> extends HashTable<K, V> {
  /** Neighbours of each place in the order. */
  private older = new Int32Array(FIRST_PLACES);
  private newer = new Int32Array(FIRST_PLACES);
  private oldest = NONE;
  private newest = NONE;

  /** Oldest first. What was given last may be deleted before the next is asked for, and nothing else. */
  *values(): IterableIterator<V> {
    for (const place of this.places()) yield this.entries[place]!;
  }

  /** As `values`. */
  *keys(): IterableIterator<K> {
    for (const place of this.places()) yield this.held[place]!;
  }

  private *places(): IterableIterator<number> {
    for (let place = this.oldest; place !== NONE; ) {
      const next = this.newer[place]!;
      yield place;
      place = next;
    }
  }

  protected override taken(place: number): void {
    this.older[place] = this.newest;
    this.newer[place] = NONE;
    if (this.newest === NONE) this.oldest = place;
    else this.newer[this.newest] = place;
    this.newest = place;
  }

  protected override left(place: number): void {
    const older = this.older[place]!;
    const newer = this.newer[place]!;
    if (older === NONE) this.oldest = newer;
    else this.newer[older] = newer;
    if (newer === NONE) this.newest = older;
    else this.older[newer] = older;
  }

  protected override grow(places: number): void {
    super.grow(places);
    this.older = longer(this.older, places);
    this.newer = longer(this.newer, places);
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
