import {
  closeSync,
  existsSync,
  fdatasync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { ReachError } from "@agent-reach/protocol";
import {
  type Connect,
  type Connection,
  isStorageFailure,
  loadDriver,
  SQLITE,
  type Statement,
  sqliteCode,
  type Value,
} from "./driver.js";
import { storageFailure } from "./failures.js";
import { lockDirectory } from "./lock.js";
import { APPLICATION_ID, migrations } from "./schema.js";

/** Up to this size the file is checked at every start, beyond it only when it was not closed properly: 1 GB takes about a second. */
const CHECK_ALWAYS_BYTES_MAX = 256 * 1024 * 1024;
/**
 * So many pages in the log, of 4 KiB each, are copied into the file at once, while the event loop waits: a few milliseconds. Twice
 * as many brought no more submits or tasks a second.
 */
const CHECKPOINT_PAGES = 500;
/** Where the log's index says how many pages the log has (https://sqlite.org/walformat.html, mxFrame). */
const LOG_PAGES_AT = 16;
const LOG_BYTES_KEPT = 64 * 1024 * 1024;
/** SQLite's own default of 2 MiB makes it read indexes from the file again and again. */
const CACHE_KIB = 64 * 1024;
/** Left free on the disk: twice the log between two checkpoints, for the log itself and for what a checkpoint adds to the file. */
const RESERVE_BYTES = 4 * CHECKPOINT_PAGES * 4096;
const BUSY_TIMEOUT_MS = 250;
/** SQLite's own limit. */
const PAGES_MAX = 0xfffffffe;
const FILE = "reach.db";
const LOG = `${FILE}-wal`;
const LOG_INDEX = `${FILE}-shm`;
const MAGIC = "SQLite format 3\0";

/** The open file, which this process alone has. */
export class Database {
  readonly directory: string;
  readonly connection: Connection;
  readonly #lock: Connection;
  readonly #getMeta: Statement;
  readonly #setMeta: Statement;
  readonly #copyLog: Statement;
  /** SQLite's write-ahead log, which stays the same file as long as the connection is open. */
  readonly #log: number;
  readonly #logIndex: number;
  readonly #file: number;
  readonly #logPages = new Uint32Array(1);
  /** How many pages the log had when it was last copied; it begins anew if nobody else reads it. */
  #copiedPages = 0;

  constructor(directory: string, connection: Connection, lock: Connection) {
    this.directory = directory;
    this.connection = connection;
    this.#lock = lock;
    this.#getMeta = connection.prepare("SELECT value FROM meta WHERE key = ?");
    this.#setMeta = connection.prepare("UPDATE meta SET value = ? WHERE key = ?");
    this.#copyLog = connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    // Reading has made sure that the log is there.
    this.meta("clean");
    this.#log = openSync(join(directory, LOG), "r+");
    this.#logIndex = openSync(join(directory, LOG_INDEX), "r");
    this.#file = openSync(join(directory, FILE), "r+");
  }

  /**
   * Asks the disk to keep all that was committed. Beside the event loop: a disk takes from 0.3 ms to many. Nothing may be written
   * meanwhile.
   */
  sync(done: (error: Error | null) => void): void {
    fdatasync(this.#log, (error) => {
      if (error === null && this.#isLogLong() && this.#checkpoint()) fdatasync(this.#file, done);
      else done(error);
    });
  }

  #isLogLong(): boolean {
    readSync(this.#logIndex, this.#logPages, 0, this.#logPages.byteLength, LOG_PAGES_AT);
    const pages = this.#logPages[0]!;
    if (pages < this.#copiedPages) this.#copiedPages = 0;
    return pages - this.#copiedPages >= CHECKPOINT_PAGES;
  }

  /**
   * Copies the log, which is on disk, into the file. SQLite would have the file synced as well, and the event loop wait for it; that
   * is left to the caller, before the next write, which may begin the log anew.
   */
  #checkpoint(): boolean {
    this.connection.exec("PRAGMA synchronous = OFF");
    try {
      this.#copiedPages = this.#copyLog.get()!["log"] as number;
      return true;
    } catch (error) {
      // On a full disk all stays in the log, until there is room.
      if (!isStorageFailure(error)) throw error;
      return false;
    } finally {
      this.connection.exec("PRAGMA synchronous = NORMAL");
    }
  }

  meta(key: string): number {
    return this.#getMeta.get(key)!["value"] as number;
  }

  setMeta(key: string, value: number): void {
    this.#setMeta.run(value, key);
  }

  /**
   * Lets the file grow into what is free on the disk but for a reserve. To forget what is old is to write, to the log first: were
   * the disk full to the last byte of what the node stored itself, nothing could ever be forgotten, and it would stay full.
   */
  limitGrowth(): void {
    const { bavail, bsize } = statfsSync(this.directory);
    const room = Math.max(0, bavail * bsize - RESERVE_BYTES);
    const pages = (pragma(this.connection, "page_count") as number) + Math.floor(room / 4096);
    this.connection.exec(`PRAGMA max_page_count = ${Math.min(pages, PAGES_MAX)}`);
  }

  /** Not while it is being synced. */
  close(): void {
    closeSync(this.#log);
    try {
      this.setMeta("clean", 1);
      this.connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // On a full disk the log stays beside the file, and the next start takes its time to check both.
      if (!isStorageFailure(error)) throw error;
    } finally {
      this.connection.close();
      // To close a file ends all locks that the process has on it, so these were left open until nobody needs the locks.
      closeSync(this.#logIndex);
      closeSync(this.#file);
      this.#lock.close();
    }
  }
}

/** Opens or creates `reach.db`. What is there and cannot be used is refused, never replaced. */
export async function openDatabase(directory: string): Promise<Database> {
  const connect = await loadDriver();
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    throw refusal(
      directory,
      "unwritable",
      `the data directory ${directory} cannot be created (${(cause as Error).message}); choose another one`,
      cause,
    );
  }
  const lock = lockDirectory(connect, directory);
  let connection: Connection | undefined;
  try {
    const file = join(directory, FILE);
    if (existsSync(file)) checkHeader(file, directory);
    else create(connect, file, directory);
    connection = connect(file);
    prepare(connection, file, directory);
    const database = new Database(directory, connection, lock);
    database.limitGrowth();
    markOpen(database);
    return database;
  } catch (error) {
    connection?.close();
    lock.close();
    throw isStorageFailure(error) ? storageFailure(error, directory) : error;
  }
}

/** A new file gets its name when it is complete, so that an empty or half one is damage and not a start that was cut short. */
function create(connect: Connect, file: string, directory: string): void {
  const log = `${file}-wal`;
  if (existsSync(log) && statSync(log).size > 0) {
    throw refusal(
      directory,
      "corrupt",
      `${log} is there, but ${file} is not; put the file back, or move both away to begin anew`,
    );
  }
  const unfinished = `${file}.new`;
  for (const name of [unfinished, `${unfinished}-journal`, log]) rmSync(name, { force: true });
  const connection = connect(unfinished);
  try {
    connection.exec("PRAGMA synchronous = FULL");
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    migrate(connection, unfinished, directory);
  } finally {
    connection.close();
  }
  renameSync(unfinished, file);
  syncDirectory(directory);
}

function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function checkHeader(file: string, directory: string): void {
  const header = Buffer.alloc(MAGIC.length);
  const descriptor = openSync(file, "r");
  const bytes = readSync(descriptor, header, 0, header.length, 0);
  closeSync(descriptor);
  if (bytes === 0) throw damaged(file, directory, "it is empty");
  if (header.toString("latin1") !== MAGIC) throw damaged(file, directory, "it is not an SQLite file");
}

function prepare(connection: Connection, file: string, directory: string): void {
  try {
    // Other nodes are kept away by the lock of the directory. Who looks into the file with a tool of their own may do so, and
    // is waited for only briefly, since the whole node waits along.
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const clean = isOurs(connection, file, directory) && isClean(connection);
    if (!clean || statSync(file).size <= CHECK_ALWAYS_BYTES_MAX) {
      const found = pragma(connection, "quick_check");
      if (found !== "ok") throw damaged(file, directory, String(found));
    }
  } catch (error) {
    const code = sqliteCode(error);
    if (code !== SQLITE.CORRUPT && code !== SQLITE.NOTADB) throw error;
    throw damaged(file, directory, (error as Error).message, error);
  }
  migrate(connection, file, directory);
  // NORMAL is set after WAL, and by name, since builds differ in their default. It leaves what was committed to `sync`, for which
  // the writer waits: FULL would do it within COMMIT, and the whole node would wait. Checkpoints are left to it as well.
  assertPragma(connection, "journal_mode", "WAL", "wal");
  assertPragma(connection, "synchronous", "NORMAL", 1);
  connection.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT}; PRAGMA wal_autocheckpoint = 0`);
  connection.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`);
}

function isOurs(connection: Connection, file: string, directory: string): boolean {
  if (pragma(connection, "application_id") === APPLICATION_ID) return true;
  throw refusal(
    directory,
    "foreign",
    `${file} is an SQLite file, but not of Agent-Reach; choose another data directory`,
  );
}

function isClean(connection: Connection): boolean {
  return connection.prepare("SELECT value FROM meta WHERE key = 'clean'").get()?.["value"] === 1;
}

function migrate(connection: Connection, file: string, directory: string): void {
  const version = pragma(connection, "user_version") as number;
  if (version > migrations.length) {
    throw refusal(
      directory,
      "newer",
      `${file} has version ${version}, this node knows versions up to ${migrations.length}; run the newer node that wrote it`,
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index >= version) connection.exec(`BEGIN; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}

function markOpen(database: Database): void {
  try {
    database.setMeta("clean", 0);
  } catch (error) {
    // A node on a full disk still serves calls, and its store works again when there is room.
    if (sqliteCode(error) !== SQLITE.FULL) throw error;
  }
}

function assertPragma(connection: Connection, name: string, value: string, expected: Value): void {
  connection.exec(`PRAGMA ${name} = ${value}`);
  const actual = pragma(connection, name);
  if (actual !== expected) {
    throw new ReachError(
      "NOT_READY",
      `SQLite answered ${actual} to ${name} = ${value}, without which tasks would not be safe; keep the data directory on a local disk`,
    );
  }
}

function pragma(connection: Connection, name: string): Value | undefined {
  const row = connection.prepare(`PRAGMA ${name}`).get();
  return row && Object.values(row)[0];
}

function damaged(file: string, directory: string, what: string, cause?: unknown): ReachError {
  const text = `${file} is damaged: ${what}; nothing was changed. Restore it from a backup, or move it away (with ${file}-wal) to begin anew`;
  return refusal(directory, "corrupt", text, cause);
}

function refusal(directory: string, reason: string, text: string, cause?: unknown): ReachError {
  return new ReachError("NOT_READY", text, { cause, details: { reason, directory } });
}
