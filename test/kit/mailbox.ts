import { patienceMs, within } from "./within.js";

/**
 * What came in, in order, until somebody takes it. A test may ask before or after the thing arrives: both find it,
 * so that no test depends on being quick.
 */
export class Mailbox<T> {
  readonly #kept: T[] = [];
  readonly #readers = new Set<{ wants: (item: T) => boolean; take: (item: T) => void }>();

  put(item: T): void {
    for (const reader of this.#readers) {
      if (!reader.wants(item)) continue;
      this.#readers.delete(reader);
      reader.take(item);
      return;
    }
    this.#kept.push(item);
  }

  /** Takes the first item that fits; waits for it if need be. */
  next(what: string, wants: (item: T) => boolean = () => true, ms: number = patienceMs): Promise<T> {
    const index = this.#kept.findIndex(wants);
    if (index >= 0) return Promise.resolve(this.#kept.splice(index, 1)[0] as T);
    const reader = { wants, take: (_item: T): void => {} };
    const coming = new Promise<T>((resolve) => {
      reader.take = resolve;
    });
    this.#readers.add(reader);
    return within(coming, what, ms).catch((error: Error) => {
      this.#readers.delete(reader);
      throw new Error(`${error.message}; instead there was ${JSON.stringify(this.#kept).slice(0, 800)}`);
    });
  }

  /** Everything that nobody took yet. */
  get untaken(): readonly T[] {
    return this.#kept;
  }

  /** Takes all that is there now. */
  drain(): T[] {
    return this.#kept.splice(0);
  }
}
