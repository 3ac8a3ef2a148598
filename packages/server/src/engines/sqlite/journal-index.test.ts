import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newEvent } from "../../ports/conformance/samples.js";
import type { Engine } from "../engine.js";
import { type Database, openDatabase } from "./database.js";
import { openSqlite } from "./index.js";

let directory: string;
let engine: Engine;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "reach-"));
  engine = await openSqlite(directory);
});
afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true });
});

/** Events 1 to `count`, each of a message of its own. */
async function fill(from: number, to: number): Promise<void> {
  const ids = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  await engine.journal.append(ids.map((id) => newEvent(id, { messageId: `m-${id}`, traceId: `trace-${id % 7}` })));
}
const found = async (id: number) => (await engine.journal.byMessage(`m-${id}`)).map((event) => event.id);

/** What the file holds, seen while no node has it. */
async function whileClosed<T>(look: (database: Database) => T): Promise<T> {
  await engine.close();
  const database = await openDatabase(directory);
  const seen = look(database);
  database.close();
  engine = await openSqlite(directory);
  return seen;
}
const segments = ({ connection }: Database) =>
  connection.prepare("SELECT segment, count(*) AS keys FROM journal_keys GROUP BY segment").all();

test("J1: messages are found before and after their segment was written, and after restarts in between", async () => {
  await fill(1, 1_000);
  expect(await found(1)).toEqual([1]);
  expect(await whileClosed(segments)).toEqual([]);
  expect([await found(1), await found(1_000)]).toEqual([[1], [1_000]]);
  await fill(1_001, 5_000);
  const written = await whileClosed(segments);
  expect(written.map(({ segment }) => segment)).toEqual([0, 1]);
  for (const id of [1, 1_000, 1_001, 2_500, 5_000]) expect(await found(id)).toEqual([id]);
  await fill(5_001, 5_002);
  expect((await engine.journal.byTrace("trace-3")).length).toBe(Math.floor((5_002 - 3) / 7) + 1);
});

test("J3: segments go when none of their chunks is left", async () => {
  await fill(1, 5_000);
  await engine.journal.trim(0, 100);
  expect(await whileClosed(segments)).toEqual([]);
  expect([await found(1), await found(4_950)]).toEqual([[], [4_950]]);
});
