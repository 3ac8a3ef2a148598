import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newTask } from "../../ports/conformance/samples.js";
import type { TaskRecord } from "../../ports/task-store.js";
import { openSqlite } from "./index.js";

test("TS2 TS3: of many that are noted as heard at once, those which changed meanwhile stay as they are", async () => {
  const directory = mkdtempSync(join(tmpdir(), "reach-"));
  const engine = await openSqlite(directory);
  const ended: TaskRecord[] = [];
  for (let i = 0; i < 3; i++)
    ended.push(
      (await engine.tasks.insert(newTask({ state: "dead", lane: "", dueAt: undefined, settledAt: 1, notify: true })))
        .task,
    );
  const noted = ended.map((task) => engine.tasks.update({ ...task, notify: false }));
  const requeued = await engine.tasks.update({ ...ended[1]!, state: "queued", lane: "query", dueAt: 5, notify: false });
  expect(requeued).toMatchObject({ revision: 2, state: "queued" });
  const after = [{ ...ended[0]!, revision: 2, notify: false }, requeued, { ...ended[2]!, revision: 2, notify: false }];
  expect(await Promise.all(noted)).toEqual([after[0], undefined, after[2]]);
  const stored = () => Promise.all(ended.map(({ messageId }) => engine.tasks.get(messageId)));
  expect(await stored()).toEqual(after);
  expect((await engine.tasks.list({ notify: true }, { limit: 10 })).length).toBe(0);
  await engine.close();
  rmSync(directory, { recursive: true });
});
