import type { Connection } from "./driver.js";

interface Chunk {
  readonly id: number;
  readonly keys: ReadonlySet<number>;
}

/** Keys of one segment: writing that many takes a few milliseconds. */
const SEGMENT_KEYS = 2_048;

/**
 * Which chunks of the journal speak of a message or a trace. Names are random, and an index that took them as they come would
 * write a page for nearly every one; so keys gather in memory and go to disk as one segment, each page once.
 * What had not been written when the process ended is read from its chunks again.
 */
export class JournalIndex {
  readonly #statements;
  /** The segment that keys gather for. */
  #segment: number;
  /** The keys of its chunks so far, oldest first. */
  #gathered: Chunk[] = [];
  #size = 0;

  /** `keysOf`: those of a chunk, from its content. */
  constructor(connection: Connection, keysOf: (content: string) => ReadonlySet<number>) {
    this.#statements = {
      insert: connection.prepare("INSERT INTO journal_keys SELECT ?, value, ? FROM json_each(?)"),
      find: connection.prepare(
        `WITH RECURSIVE segments (n) AS (
           SELECT min(segment) FROM journal UNION ALL SELECT n + 1 FROM segments WHERE n < (SELECT max(segment) FROM journal))
         SELECT last_id FROM segments CROSS JOIN journal_keys AS keys ON keys.segment = n AND key = ?`,
      ),
      remove: connection.prepare(
        "DELETE FROM journal_keys WHERE segment < coalesce((SELECT min(segment) FROM journal), ?)",
      ),
    };
    const newest = connection.prepare("SELECT coalesce(max(segment), 0) AS segment FROM journal").get()!;
    this.#segment = newest["segment"] as number;
    const isWritten = connection.prepare("SELECT 1 FROM journal_keys WHERE segment = ? LIMIT 1").get(this.#segment);
    if (isWritten !== undefined) this.#segment += 1;
    const unwritten = connection
      .prepare("SELECT last_id, content FROM journal WHERE segment = ? ORDER BY last_id")
      .all(this.#segment);
    for (const row of unwritten) this.#gather({ id: row["last_id"] as number, keys: keysOf(row["content"] as string) });
  }

  /** The segment that the next chunk belongs to. */
  get segment(): number {
    return this.#segment;
  }

  /** Within the transaction that writes a chunk: whether its keys completed the segment, which is then written. */
  write(chunk: Chunk): boolean {
    if (this.#size + chunk.keys.size < SEGMENT_KEYS) return false;
    for (const { id, keys } of [...this.#gathered, chunk])
      this.#statements.insert.run(this.#segment, id, JSON.stringify([...keys]));
    return true;
  }

  /** After its commit. */
  written(chunk: Chunk, isComplete: boolean): void {
    if (!isComplete) return this.#gather(chunk);
    this.#segment += 1;
    this.#gathered = [];
    this.#size = 0;
  }

  /** Chunks that may speak of it, oldest first. */
  find(key: number): number[] {
    const chunkIds = this.#statements.find.all(key).map((row) => row["last_id"] as number);
    for (const { id, keys } of this.#gathered) if (keys.has(key)) chunkIds.push(id);
    return chunkIds.sort((a, b) => a - b);
  }

  /** Chunks were removed: segments of which none is left go as well. */
  trim(): void {
    this.#statements.remove.run(this.#segment);
  }

  #gather(chunk: Chunk): void {
    this.#gathered.push(chunk);
    this.#size += chunk.keys.size;
  }
}
