import { join } from "node:path";
import { ReachError } from "@agent-reach/protocol";
import { type Connect, type Connection, SQLITE, sqliteCode } from "./driver.js";
import { storageFailure } from "./failures.js";

/**
 * Makes this process the only owner of a data directory, until it closes the lock or dies, however it dies.
 *
 * The lock is SQLite's own, on an empty file: Node has no lock of its own that dies with its process. Nothing else may
 * ever open that file: closing any descriptor of it would give the lock away.
 */
export function lockDirectory(connect: Connect, directory: string): Connection {
  let lock: Connection | undefined;
  try {
    lock = connect(join(directory, "reach.lock"));
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close();
    if (sqliteCode(error) !== SQLITE.BUSY) throw storageFailure(error, directory);
    throw new ReachError(
      "NOT_READY",
      `another node already runs on the data directory ${directory}; stop it, or give this one a directory of its own`,
      { cause: error, details: { reason: "locked", directory } },
    );
  }
}
