/**
 * A map for what comes and goes with every message. The built-in Map replaces its table when so many keys have come and gone,
 * and each old table holds the next one: once one of them has grown old, everything that ever stood in a later one looks
 * alive to the garbage collector's small rounds, and is copied. Here its tables hold numbers, and the values stand beside it.
 */
export class Keyed<Value> {
  readonly #places = new Map<string, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  get(key: string): Value | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  set(key: string, value: Value): void {
    const place = this.#places.get(key) ?? this.#free.pop() ?? this.#values.length;
    this.#places.set(key, place);
    this.#values[place] = value;
  }

  delete(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
  }

  /** Oldest first. */
  keys(): Iterable<string> {
    return this.#places.keys();
  }

  /** A copy, in no order, so that what happens on the way may change the map. */
  values(): Value[] {
    return this.#values.filter((value) => value !== undefined);
  }
}
