import { HashIndex, hashOf } from "./hash-index.js";

const FIRST_PLACES = 16;

/**
 * A map for entries that come and go by the ten thousand a second, such as messages in flight.
 *
 * `Map` makes itself anew every so many deletions, and V8 lets each table point to the one that replaced it, for the sake
 * of open iterators. Once one table has grown old, young collections therefore keep every later one alive with all that
 * was ever in it, until the next full collection. A quarter of the cost of a call went into copying such dead entries.
 */
export class HashTable<K extends string | number, V> {
  private keys: (K | undefined)[] = new Array(FIRST_PLACES);
  private entries: (V | undefined)[] = new Array(FIRST_PLACES);
  private index = new HashIndex(FIRST_PLACES);
  private readonly free: number[] = [];
  /** Places that were ever used. */
  private used = 0;

  get size(): number {
    return this.used - this.free.length;
  }

  get(key: K): V | undefined {
    const place = this.find(key);
    return place < 0 ? undefined : this.entries[place];
  }

  set(key: K, value: V): void {
    const known = this.find(key);
    if (known >= 0) {
      this.entries[known] = value;
      return;
    }
    if (this.free.length === 0 && this.used === this.keys.length) this.grow();
    const place = this.free.pop() ?? this.used++;
    this.keys[place] = key;
    this.entries[place] = value;
    this.index.add(place, hash(key));
  }

  /** Takes the entry out and answers it. */
  delete(key: K): V | undefined {
    const place = this.find(key);
    if (place < 0) return undefined;
    const value = this.entries[place];
    this.index.remove(place);
    this.keys[place] = undefined;
    this.entries[place] = undefined;
    this.free.push(place);
    return value;
  }

  /** All values as they are now, in no order. */
  values(): V[] {
    return this.entries.filter((_, place) => this.keys[place] !== undefined) as V[];
  }

  private find(key: K): number {
    let place = this.index.first(hash(key));
    while (place >= 0 && this.keys[place] !== key) place = this.index.after(place);
    return place;
  }

  private grow(): void {
    const places = this.keys.length * 2;
    this.keys.length = places;
    this.entries.length = places;
    this.index = new HashIndex(places);
    for (let place = 0; place < this.used; place++) this.index.add(place, hash(this.keys[place]!));
  }
}

function hash(key: string | number): number {
  return typeof key === "number" ? key | 0 : hashOf(key);
}
