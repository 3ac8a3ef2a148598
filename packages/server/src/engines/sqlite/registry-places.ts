import type { RegistryKind } from "../../ports/registry-store.js";

/** Superseded rows that may wait to be deleted: so many at once cost less than each alone, and no pause that anybody feels. */
const WAITING_MAX = 256;

/**
 * Where each record of the registry stands: the revision under which its newest row was appended, and the older rows, which
 * are to be deleted.
 *
 * P1  Within a transaction it shows what that transaction has changed.
 * P2  After a rollback it shows what it showed before the transaction.
 * P3  Of one record the row with the largest revision counts, so rows can be learned again in order of revision.
 */
export class RegistryPlaces {
  readonly #stored = new Map<string, number>();
  /** Changes of the transaction that is under way; undefined: removed. */
  readonly #changed = new Map<string, number | undefined>();
  /** Rows of earlier transactions that are superseded. */
  #waiting: number[] = [];
  #waitingDeleted = false;
  /** Those that this transaction has superseded, and how many of them it has deleted again. */
  #older: number[] = [];
  #olderDeleted = 0;

  of(kind: RegistryKind, key: string): number | undefined {
    const id = idOf(kind, key);
    return this.#changed.has(id) ? this.#changed.get(id) : this.#stored.get(id);
  }

  put(kind: RegistryKind, key: string, revision: number): void {
    this.#change(kind, key, revision);
  }

  remove(kind: RegistryKind, key: string): void {
    this.#change(kind, key, undefined);
  }

  #change(kind: RegistryKind, key: string, revision: number | undefined): void {
    const before = this.of(kind, key);
    if (before !== undefined) this.#older.push(before);
    this.#changed.set(idOf(kind, key), revision);
  }

  /** Rows to delete in this transaction: none, unless more than `allowed` wait. */
  toDelete(allowed = WAITING_MAX): readonly number[] {
    const waiting = this.#waitingDeleted ? [] : this.#waiting;
    if (waiting.length + this.#older.length - this.#olderDeleted <= allowed) return [];
    const rows = [...waiting, ...this.#older.slice(this.#olderDeleted)];
    this.#waitingDeleted = true;
    this.#olderDeleted = this.#older.length;
    return rows;
  }

  /** The transaction is over: stored, or undone. */
  end(stored: boolean): void {
    if (stored) {
      for (const [id, revision] of this.#changed) {
        if (revision === undefined) this.#stored.delete(id);
        else this.#stored.set(id, revision);
      }
      if (this.#waitingDeleted) this.#waiting = [];
      for (let i = this.#olderDeleted; i < this.#older.length; i++) this.#waiting.push(this.#older[i]!);
    }
    this.#changed.clear();
    this.#waitingDeleted = false;
    this.#older = [];
    this.#olderDeleted = 0;
  }

  /** Keys of one kind in order. */
  keys(kind: RegistryKind, prefix: string, after: string, limit: number | undefined): string[] {
    const start = idOf(kind, prefix);
    const skip = kind.length + 1;
    const keys: string[] = [];
    for (const id of this.#stored.keys()) if (id.startsWith(start) && id.slice(skip) > after) keys.push(id.slice(skip));
    return keys.sort().slice(0, limit);
  }
}

function idOf(kind: RegistryKind, key: string): string {
  return `${kind} ${key}`;
}
