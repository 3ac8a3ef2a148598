import { HashTable } from "../collections/hash-table.js";

/** Something that is remembered for a while after it settled. */
export interface Memorable {
  readonly messageId: string;
  /** Another name it goes by, where it has one. */
  readonly alias: string | undefined;
  /** Monotonic ms. */
  readonly settledAt: number;
  /** Lets go of everything large. */
  forget(): void;
}

/**
 * Messages by id: those in flight for as long as they are, settled ones for a while, so that a repeated request gets the
 * answer that was given. Bounded in number, in time and in the size of what is remembered. The few in flight have a map
 * of their own, which stays small; settled ones are found where the journal keeps its last messages anyway.
 */
export class Memory<
  Open extends { readonly messageId: string; readonly alias: string | undefined },
  Settled extends Memorable,
> {
  private readonly inFlight = new HashTable<string, Open>();
  private readonly aliases = new HashTable<string, Open | Settled>();
  private readonly ring: (Settled | undefined)[];
  private readonly sizes: Float64Array;
  private head = 0;
  private count = 0;
  private held = 0;

  constructor(
    max: number,
    private readonly keepMs: number,
    /** Finds what settled by its id. */
    private readonly recall: (messageId: string) => Settled | undefined,
    /** Characters of remembered answers in all. */
    private readonly sizeMax = 64 * 1024 * 1024,
  ) {
    this.ring = new Array(Math.max(1, max));
    this.sizes = new Float64Array(Math.max(1, max));
  }

  /** The one in flight. */
  open(messageId: string): Open | undefined {
    return this.inFlight.get(messageId);
  }

  get(messageId: string, now: number): Open | Settled | undefined {
    const open = this.inFlight.get(messageId);
    if (open !== undefined) return open;
    const settled = this.recall(messageId);
    return settled !== undefined && this.isFresh(settled, now) ? settled : undefined;
  }

  byAlias(alias: string, now: number): Open | Settled | undefined {
    const item = this.aliases.get(alias);
    if (item === undefined || this.inFlight.get(item.messageId) === item) return item;
    return this.isFresh(item as Settled, now) ? item : undefined;
  }

  add(item: Open): void {
    this.inFlight.set(item.messageId, item);
    if (item.alias !== undefined) this.aliases.set(item.alias, item);
  }

  /** One in flight settled, and what is left of it needs no bounds of ours. */
  left(item: Open): void {
    this.inFlight.delete(item.messageId);
  }

  /** What is left of one in flight; from here on it may be forgotten, oldest first. */
  settled(item: Settled, size: number): void {
    this.inFlight.delete(item.messageId);
    if (item.alias !== undefined) this.aliases.set(item.alias, item);
    while (
      this.count > 0 &&
      (this.count >= this.ring.length || this.held + size > this.sizeMax || this.isOver(item.settledAt))
    )
      this.forgetOldest();
    const at = (this.head + this.count) % this.ring.length;
    this.ring[at] = item;
    this.sizes[at] = size;
    this.held += size;
    this.count++;
  }

  underway(): Iterable<Open> {
    return this.inFlight.all();
  }

  private isFresh(item: Settled, now: number): boolean {
    return now - item.settledAt <= this.keepMs;
  }

  private isOver(now: number): boolean {
    return !this.isFresh(this.ring[this.head]!, now);
  }

  private forgetOldest(): void {
    const old = this.ring[this.head]!;
    if (old.alias !== undefined && this.aliases.get(old.alias) === old) this.aliases.delete(old.alias);
    old.forget();
    this.ring[this.head] = undefined;
    this.held -= this.sizes[this.head]!;
    this.head = (this.head + 1) % this.ring.length;
    this.count--;
  }
}
