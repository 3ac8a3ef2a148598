/**
 * Messages by id: those in flight for as long as they are, settled ones for a while, so that a repeated request gets the
 * answer that was given. Bounded in number and in the size of what is remembered.
 */
export class Memory<T extends { readonly messageId: string; settledAt: number; alias: string | undefined }> {
  private readonly byId = new Map<string, T>();
  private readonly settledRing: (T | undefined)[];
  private readonly sizes: Float64Array;
  private head = 0;
  private count = 0;
  private held = 0;

  constructor(
    max: number,
    private readonly keepMs: number,
    /** Characters of remembered answers in all. */
    private readonly sizeMax = 64 * 1024 * 1024,
  ) {
    this.settledRing = new Array(Math.max(1, max));
    this.sizes = new Float64Array(Math.max(1, max));
  }

  get(messageId: string, now: number): T | undefined {
    const item = this.byId.get(messageId);
    if (item === undefined || item.settledAt === 0 || now - item.settledAt <= this.keepMs) return item;
    return undefined;
  }

  add(item: T): void {
    this.byId.set(item.messageId, item);
    if (item.alias !== undefined) this.byId.set(item.alias, item);
  }

  /** As if it had never been. */
  drop(item: T): void {
    if (this.byId.get(item.messageId) === item) this.byId.delete(item.messageId);
    if (item.alias !== undefined && this.byId.get(item.alias) === item) this.byId.delete(item.alias);
  }

  /** From here on the item may be forgotten, oldest first. */
  settled(item: T, size: number): void {
    while (this.count > 0 && (this.count >= this.settledRing.length || this.held + size > this.sizeMax || this.isOver(item.settledAt))) this.forget();
    const at = (this.head + this.count) % this.settledRing.length;
    this.settledRing[at] = item;
    this.sizes[at] = size;
    this.held += size;
    this.count++;
  }

  *values(): IterableIterator<T> {
    yield* new Set(this.byId.values());
  }

  private isOver(now: number): boolean {
    return now - this.settledRing[this.head]!.settledAt > this.keepMs;
  }

  private forget(): void {
    const old = this.settledRing[this.head]!;
    this.drop(old);
    this.settledRing[this.head] = undefined;
    this.held -= this.sizes[this.head]!;
    this.head = (this.head + 1) % this.settledRing.length;
    this.count--;
  }
}
