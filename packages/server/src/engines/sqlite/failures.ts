import { type Outcome, ReachError } from "@agent-reach/protocol";
import { SQLITE, sqliteCode } from "./driver.js";

/** What an operator reads when the store gives way: what happened, to which directory, and what helps. */
export function storageFailure(error: unknown, directory: string): ReachError {
  const { reason, text } = describe(sqliteCode(error), directory);
  return new ReachError("NOT_READY", `${text} (SQLite: ${(error as Error).message})`, {
    cause: error,
    details: { reason, directory },
  });
}

/** A commit happened, but whether it outlives a loss of power nobody can say (W7). `outcome` is that of one request. */
export function syncFailure(error: Error, directory: string, outcome: Outcome): ReachError {
  return new ReachError(
    "NOT_READY",
    `the disk did not confirm what was written to the store in ${directory}; see to the disk and start the node again, until then it keeps nothing new (${error.message})`,
    { cause: error, outcome, details: { reason: "unconfirmed", directory } },
  );
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
