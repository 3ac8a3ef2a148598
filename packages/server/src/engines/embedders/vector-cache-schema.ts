import { type Connection, SQLITE, type Statement } from "../sqlite/driver.js";

/** "Revc": what stands in the header of a file that is such a cache. */
const APPLICATION_ID = 0x52657663;
/** A cache of another version is not read but begun anew. */
const VERSION = 1;
/** The node waits along when another program looks into the file. */
const BUSY_TIMEOUT_MS = 50;

/** The number of a space that is gone is never given again, since its vectors are still there. Vectors lie in the order in which they came; when one was last used decides who goes first. */
const SCHEMA = `
  CREATE TABLE spaces (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE vectors (
    space INTEGER NOT NULL,
    key TEXT NOT NULL,
    used_day INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (space, key)
  ) STRICT;
  CREATE INDEX vectors_by_use ON vectors (used_day);
`;

/** Makes the tables in a new file. Throws an SQLite error with code NOTADB if the file is something else. */
export function createCache(connection: Connection): void {
  connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  const application = pragma(connection, "application_id");
  const version = pragma(connection, "user_version");
  const tables = connection.prepare("SELECT count(*) AS n FROM sqlite_schema").get()!["n"];
  if (tables !== 0 && (application !== APPLICATION_ID || version !== VERSION))
    throw Object.assign(new Error(`it is of another program, or of version ${version}`), { errcode: SQLITE.NOTADB });
  // Nobody waits for the disk: after a loss of power the file may be damaged, and is then begun anew.
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  if (tables !== 0) return;
  connection.exec(
    `BEGIN; ${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION}; COMMIT`,
  );
}

export interface CacheStatements {
  readonly get: Statement;
  readonly put: Statement;
  readonly use: Statement;
  readonly remove: Statement;
  readonly removeOldest: Statement;
  readonly count: Statement;
  readonly getSpace: Statement;
  readonly putSpace: Statement;
  readonly removeSpace: Statement;
}

export function cacheStatements(connection: Connection): CacheStatements {
  return {
    get: connection.prepare("SELECT rowid, used_day, vector FROM vectors WHERE space = ? AND key = ?"),
    put: connection.prepare("INSERT OR IGNORE INTO vectors (space, key, used_day, vector) VALUES (?, ?, ?, ?)"),
    use: connection.prepare("UPDATE vectors SET used_day = ? WHERE rowid = ?"),
    remove: connection.prepare("DELETE FROM vectors WHERE rowid = ?"),
    // An index of SQLite ends in the rowid, so among those of one day the first that came go first.
    removeOldest: connection.prepare(
      "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY used_day, rowid LIMIT ?)",
    ),
    count: connection.prepare("SELECT count(*) AS rows FROM vectors"),
    getSpace: connection.prepare("SELECT number FROM spaces WHERE id = ?"),
    removeSpace: connection.prepare("DELETE FROM spaces WHERE id = ?"),
    putSpace: connection.prepare("INSERT OR IGNORE INTO spaces (id) VALUES (?)"),
  };
}

function pragma(connection: Connection, name: string): unknown {
  return Object.values(connection.prepare(`PRAGMA ${name}`).get()!)[0];
}
