import { ReachError } from "@agent-reach/protocol";

/** What a column may hold. Booleans are 0 and 1; bytes are read by the vectors of the embedders alone. */
export type Value = string | number | Uint8Array | null;
export type Row = Record<string, Value>;

export interface Statement {
  run(...values: Value[]): { changes: number | bigint };
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
}

/** The little of `node:sqlite` that is used here, which two implementations offer alike. */
export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export type Connect = (file: string) => Connection;

interface SqliteModule {
  DatabaseSync: new (file: string) => unknown;
}

/** The runtime's own SQLite (Node 22.13 and later), else the one that came with the package. */
export async function loadDriver(): Promise<Connect> {
  const { DatabaseSync } = builtIn() ?? (await bundled());
  return (file) => new DatabaseSync(file) as Connection;
}

function builtIn(): SqliteModule | undefined {
  // Loading it warns once that it is experimental: true, but nothing that a user of this node could act upon.
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return (process as { getBuiltinModule?: (id: string) => unknown }).getBuiltinModule?.("node:sqlite") as
      | SqliteModule
      | undefined;
  } finally {
    process.emitWarning = warn;
  }
}

async function bundled(): Promise<SqliteModule> {
  try {
    return await import("@photostructure/sqlite");
  } catch (cause) {
    throw new ReachError(
      "NOT_READY",
      `SQLite could not be loaded (${(cause as Error).message}), so nothing could be kept; install again with optional and native packages allowed, or run on Node 22.13 or later`,
      { cause, details: { reason: "driver" } },
    );
  }
}

/** The primary result code of SQLite, or undefined for an error of another kind. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

export const SQLITE = { BUSY: 5, READONLY: 8, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 } as const;

/** Codes that speak about one statement and its values; all others speak about the file, the disk or the machine. */
const aboutStatement = new Set([1, 18, 19, 20, 21, 25]);

export function isStorageFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && !aboutStatement.has(code);
}
