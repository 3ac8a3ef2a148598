import { ReachError } from "@agent-reach/protocol";
import { isStorageFailure, SQLITE, sqliteCode } from "./driver.js";

/** What an operator reads when the store gives way: what happened, to which directory, and what helps. */
export function storageFailure(error: unknown, directory: string): ReachError {
  const { reason, text } = describe(sqliteCode(error), directory);
  return new ReachError("NOT_READY", `${text} (SQLite: ${(error as Error).message})`, {
    cause: error,
    details: { reason, directory },
  });
}

function describe(code: number | undefined, directory: string): { reason: string; text: string } {
  switch (code) {
    case SQLITE.FULL:
      return {
        reason: "full",
        text: `the store in ${directory} is full, nothing of this request was kept; free space there, it then works again by itself`,
      };
    case SQLITE.READONLY:
      return {
        reason: "read_only",
        text: `the store in ${directory} cannot be written to; give this user the right to write there, or choose another directory`,
      };
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      return {
        reason: "corrupt",
        text: `the store in ${directory} is damaged; stop the node and restore reach.db from a backup`,
      };
    case SQLITE.BUSY:
      return {
        reason: "locked",
        text: `the store in ${directory} is held by another process; end that one, or choose another directory`,
      };
    default:
      return {
        reason: "unwritable",
        text: `the store in ${directory} could not be read or written; see to the disk, it then works again by itself`,
      };
  }
}

/** Runs a read, and turns what the disk has to say into our words. */
export function reading<T>(directory: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isStorageFailure(error) ? storageFailure(error, directory) : error;
  }
}
