import { OrderedTable } from "./hash-table.js";

/** Remembers so many values; whichever was not asked for the longest is forgotten first. */
export class RecentlyUsed<V> {
  private readonly table = new OrderedTable<string, V>();

  /** 0 remembers nothing. */
  constructor(private readonly max: number) {}

  get size(): number {
    return this.table.size;
  }

  get(key: string): V | undefined {
    const value = this.table.delete(key);
    if (value !== undefined) this.table.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    if (this.max === 0) return;
    this.table.delete(key);
    if (this.table.size >= this.max) {
      for (const oldest of this.table.keys()) {
        this.table.delete(oldest);
        break;
      }
    }
    this.table.set(key, value);
  }
}
