import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { System } from "../../ports/system.js";
import { type Connect, type Connection, isStorageFailure, loadDriver, SQLITE, sqliteCode } from "../sqlite/driver.js";
import { type CacheStatements, cacheStatements, createCache } from "./vector-cache-schema.js";

export interface VectorCacheOptions {
  /** Most vectors that are kept; of more, those go which nobody has used for longest. */
  rowsMax: number;
  system: System;
  /** Hears what an operator should know, in a sentence. */
  warn(text: string): void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A file that is damaged again and again has a disk that should not be written to. */
const FRESH_STARTS_MAX = 3;

/**
 * Vectors on disk, so that a start does not embed a whole catalog again. All of it can be computed anew: the file may be
 * deleted at any time while the node is stopped, nothing waits for the disk to confirm, a file that is damaged is put aside,
 * and what else goes wrong switches the cache off until the next start. None of it ever fails an embedding.
 *
 * A vector is looked at before it is given out: it has as many numbers as it should, and length 1, which hardly any damage
 * within a page leaves so. When it was last used is kept by the day, so that reading seldom writes.
 */
export class VectorCache {
  private connection: Connection | undefined;
  private statements!: CacheStatements;
  private rows = 0;
  private freshStarts = 0;
  private readonly spaces = new Map<string, number>();

  private constructor(
    private readonly connect: Connect,
    private readonly file: string,
    private readonly options: VectorCacheOptions,
  ) {}

  /** Never rejects on account of the file: at worst nothing is cached, and a warning says so. */
  static async open(file: string, options: VectorCacheOptions): Promise<VectorCache> {
    const cache = new VectorCache(await loadDriver(), file, options);
    cache.attempt(() => {
      mkdirSync(dirname(file), { recursive: true });
      cache.begin();
    });
    return cache;
  }

  /** How many vectors are kept, of all spaces. */
  get size(): number {
    return this.rows;
  }

  get(space: string, key: string, dims: number): Float32Array | undefined {
    return this.guarded(() => {
      const row = this.statements.get.get(this.spaceNumber(space), key);
      if (row === undefined) return undefined;
      const vector = sound(row["vector"], dims);
      if (vector === undefined) {
        this.rows -= Number(this.statements.remove.run(row["rowid"]!).changes);
        return undefined;
      }
      const today = this.today();
      if ((row["used_day"] as number) < today) this.statements.use.run(today, row["rowid"]!);
      return vector;
    });
  }

  put(space: string, vectors: Iterable<readonly [string, Float32Array]>): void {
    this.guarded(() => {
      const [number, today] = [this.spaceNumber(space), this.today()];
      this.transaction(() => {
        for (const [key, vector] of vectors) {
          const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
          this.rows += Number(this.statements.put.run(number, key, today, bytes).changes);
        }
        const excess = this.rows - this.options.rowsMax;
        if (excess > 0) this.rows -= Number(this.statements.removeOldest.run(excess).changes);
      });
    });
  }

  /** None of its vectors is given out any more. They go in time as what nobody uses: thousands at once would hold up the node. */
  forget(space: string): void {
    this.guarded(() => {
      this.statements.removeSpace.run(space);
      this.spaces.delete(space);
    });
  }

  close(): void {
    const { connection } = this;
    this.connection = undefined;
    try {
      connection?.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // What is damaged, or lies on a full disk, is closed all the same.
      if (!isStorageFailure(error)) throw error;
    } finally {
      connection?.close();
    }
  }

  private begin(): void {
    this.connection = this.connect(this.file);
    createCache(this.connection);
    this.statements = cacheStatements(this.connection);
    this.rows = this.statements.count.get()!["rows"] as number;
    this.spaces.clear();
  }

  /** Undefined when the cache is off, or was found to be of no use. */
  private guarded<T>(work: () => T): T | undefined {
    return this.connection === undefined ? undefined : this.attempt(work);
  }

  private attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      const code = sqliteCode(error);
      const damaged = code === SQLITE.CORRUPT || code === SQLITE.NOTADB;
      if (!isStorageFailure(error) && (error as NodeJS.ErrnoException).syscall === undefined) throw error;
      if (damaged && this.freshStarts++ < FRESH_STARTS_MAX) this.putAside(error as Error);
      else this.off(error as Error);
      return undefined;
    }
  }

  private putAside(error: Error): void {
    this.close();
    const aside = `${this.file}.damaged`;
    try {
      for (const end of ["-wal", "-shm"]) rmSync(`${this.file}${end}`, { force: true });
      renameSync(this.file, aside);
      this.begin();
    } catch (again) {
      return this.off(again as Error);
    }
    this.options.warn(
      `the cache of vectors ${this.file} was damaged (${error.message}); it is now ${aside}, which may be deleted, and a new one is begun`,
    );
  }

  private off(error: Error): void {
    this.close();
    this.options.warn(
      `the cache of vectors ${this.file} cannot be used (${error.message}), so texts are embedded again after a start; see to the disk and start the node again`,
    );
  }

  private transaction(work: () => void): void {
    const { rows } = this;
    this.connection!.exec("BEGIN");
    try {
      work();
      this.connection!.exec("COMMIT");
    } catch (error) {
      this.rows = rows;
      try {
        this.connection!.exec("ROLLBACK");
      } catch {
        // SQLite has done so by itself after errors of the disk.
      }
      throw error;
    }
  }

  private spaceNumber(space: string): number {
    const known = this.spaces.get(space);
    if (known !== undefined) return known;
    this.statements.putSpace.run(space);
    const number = this.statements.getSpace.get(space)!["number"] as number;
    this.spaces.set(space, number);
    return number;
  }

  private today(): number {
    return Math.floor(this.options.system.now() / DAY_MS);
  }
}

function sound(bytes: unknown, dims: number): Float32Array | undefined {
  if (!(bytes instanceof Uint8Array) || bytes.byteLength !== dims * 4) return undefined;
  // A copy, since what SQLite gives need not begin at a multiple of four.
  const vector = new Float32Array(bytes.slice().buffer);
  let squares = 0;
  for (const x of vector) squares += x * x;
  return Math.abs(squares - 1) < 1e-3 ? vector : undefined;
}
