import { newTask } from "../../../ports/conformance/samples.js";
import { openSqlite } from "../index.js";

/**
 * Inserts and completes tasks one after another, many at the same time, and says on standard output what was answered:
 * `found N` at start, then `inserted N` and `completed N`, where all up to N are meant. It goes on until it is killed.
 */
const { tasks } = await openSqlite(process.env["REACH_DATA"]!);
const found = await tasks.list({}, { limit: 1_000_000, order: "oldest" });
let inserted = found.length;
let completed = 0;
let working = Promise.resolve();

// Pipes are written to before `write` returns, so nothing is said that a kill could take back.
process.stdout.write(`found ${inserted}\n`);
for (const task of found) {
  const n = completed + 1;
  if (task.state !== "completed") await complete(task, n);
  completed = n;
}
for (;;) {
  const first = inserted + 1;
  const group = Array.from({ length: 16 }, (_, i) => first + i);
  const answers = await Promise.all(
    group.map((n) =>
      tasks.insert(newTask({ messageId: `task-${n}`, idempotencyKey: `task-${n}`, input: `{"n":${n}}` })),
    ),
  );
  inserted += group.length;
  process.stdout.write(`inserted ${inserted}\n`);
  const earlier = working;
  // Completing overlaps with the next inserts, so that groups hold both.
  working = (async () => {
    await Promise.all(answers.map(({ task }, i) => complete(task, group[i]!)));
    await earlier;
    completed = group.at(-1)!;
    process.stdout.write(`completed ${completed}\n`);
  })();
}

async function complete(task: Parameters<typeof tasks.update>[0], n: number): Promise<void> {
  await tasks.update({ ...task, state: "completed", lane: "", dueAt: undefined, settledAt: n }, `{"result":${n}}`);
}
