import { HashIndex, hashOf } from "../collections/hash-index.js";

/** Where items may be kept in less room. A slot is an item's place among the newest. */
export interface Shelf<T> {
  /** Puts the item away; false if it has to stay as it is. */
  put(slot: number, item: T): boolean;
  has(slot: number): boolean;
  isOf(slot: number, messageId: string): boolean;
  /** A new object with all that the item was. */
  read(slot: number): T;
  clear(slot: number): void;
}

/**
 * The newest items by id, exactly so many. Looking for an id that is not there, as for every new message, touches no
 * object: a Map of tens of thousands of strings costs several cache misses a look, and one that loses its oldest entry
 * with every new one costs them twice.
 */
export class Recent<T extends { readonly messageId: string; slot: number }> {
  /** Those that are not on the shelf. */
  private readonly items: (T | undefined)[];
  private readonly index: HashIndex;
  private readonly size: number;
  private newest = 0;

  constructor(
    size: number,
    private readonly shelf: Shelf<T>,
    private readonly onForget: (slot: number) => void,
  ) {
    this.size = Math.max(1, size);
    this.items = new Array(this.size);
    this.index = new HashIndex(this.size);
  }

  /** Whoever is asked for comes down from the shelf, and is itself from then on. */
  get(id: string): T | undefined {
    for (let slot = this.index.first(hashOf(id)); slot >= 0; slot = this.index.after(slot)) {
      const item = this.items[slot];
      if (item !== undefined ? item.messageId === id : this.shelf.isOf(slot, id)) return item ?? this.takeDown(slot);
    }
    return undefined;
  }

  /** The item in this place, unless it is on the shelf. */
  at(slot: number): T | undefined {
    return this.items[slot];
  }

  /** The item itself, or if it was put away, what came down in its place. */
  current(item: T): T {
    return this.items[item.slot] === item ? item : (this.get(item.messageId) ?? item);
  }

  add(item: T): void {
    const slot = this.newest;
    this.newest = (slot + 1) % this.size;
    this.forget(slot);
    item.slot = slot;
    this.items[slot] = item;
    this.index.add(slot, hashOf(item.messageId));
  }

  /** False if it has to stay as it is. */
  shelve(item: T): boolean {
    const { slot } = item;
    if (this.items[slot] !== item || !this.shelf.put(slot, item)) return false;
    this.items[slot] = undefined;
    return true;
  }

  /** Oldest first; those on the shelf stay there, and are told by their place. */
  select(wanted: (item: T) => boolean, wantedOnShelf: (slot: number) => boolean): T[] {
    const found: T[] = [];
    for (let i = 0; i < this.size; i++) {
      const slot = (this.newest + i) % this.size;
      const item = this.items[slot];
      if (item !== undefined) {
        if (wanted(item)) found.push(item);
      } else if (this.shelf.has(slot) && wantedOnShelf(slot)) found.push(this.shelf.read(slot));
    }
    return found;
  }

  private takeDown(slot: number): T {
    const item = this.shelf.read(slot);
    this.shelf.clear(slot);
    item.slot = slot;
    this.items[slot] = item;
    return item;
  }

  private forget(slot: number): void {
    const shelved = this.shelf.has(slot);
    if (this.items[slot] === undefined && !shelved) return;
    this.index.remove(slot);
    this.onForget(slot);
    if (shelved) this.shelf.clear(slot);
  }
}
