// Yardstick for submit: SQLite alone, in process. One row a message with a unique messageId, on disk (WAL,
// synchronous=FULL) before it counts, all that waits in one turn of the event loop in one commit.
import { join } from "node:path";
import { newId } from "../lib/ids.mjs";
import { closedLoop } from "../lib/load.mjs";
import { servePart } from "../lib/part.mjs";
import { grouped, openDatabase } from "../lib/sqlite.mjs";

const body = JSON.stringify({
  capability: "query_order",
  input: { order_id: "20250101001", note: "x".repeat(200) },
});
let enqueue;
let insert;

servePart({
  async open({ dir }) {
    const db = await openDatabase(join(dir, "inserts.db"));
    db.exec("CREATE TABLE task (seq INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE, state TEXT, body TEXT)");
    insert = db.prepare("INSERT INTO task (message_id, state, body) VALUES (?, 'queued', ?)");
    enqueue = grouped(db);
  },
  run: (options) => closedLoop(options, (done) => enqueue(() => insert.run(newId(), body), done)),
});
