import type { System } from "../../ports/system.js";
import type { Engine } from "../engine.js";
import { openDatabase } from "./database.js";
import { SqliteJournal } from "./journal.js";
import { SqliteRegistryStore } from "./registry-store.js";
import { SqliteTaskStore } from "./task-store.js";
import { Writer } from "./writer.js";

/** The default: one file `reach.db` in `directory`, which this process then owns. Rejects if it cannot be had or trusted. */
export async function openSqlite(directory: string, system?: System): Promise<Engine> {
  const database = await openDatabase(directory);
  const writer = new Writer(database.connection, directory, (done) => database.sync(done), system);
  const registry = new SqliteRegistryStore(database, writer);
  let closing: Promise<void> | undefined;
  return {
    registry,
    tasks: new SqliteTaskStore(database, writer),
    journal: new SqliteJournal(database, writer),
    close: () => {
      closing ??= (async () => {
        await writer.close();
        await registry.close();
        database.close();
      })();
      return closing;
    },
  };
}
