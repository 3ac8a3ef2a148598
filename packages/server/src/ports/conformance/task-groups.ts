import { expect, test } from "vitest";
import { type NewTask, OVERDUE, type TaskRecord, type TaskStore } from "../task-store.js";
import { newTask, nextId } from "./samples.js";

const always = () => true;
const byContent = (stored: TaskRecord, given: NewTask) => stored.contentHash === given.contentHash;

/** Inserting many at once, and counting groups. */
export function taskGroupsConformance(current: () => TaskStore): void {
  const claim = async (lane: string): Promise<string[]> =>
    (await current().claimDue({ lane, now: 1_000, limit: 100 })).tasks.map(({ messageId }) => messageId);
  const everything = () => current().list({}, { limit: 1_000, order: "oldest" });

  test("TS9: many tasks are stored in the order in which they were given, and may be claimed", async () => {
    const tasks = Array.from({ length: 300 }, (_, i) => newTask({ groupId: "g", input: `${i}` }));
    const result = await current().insertAll(tasks, always);
    expect(result).toEqual({
      ok: true,
      inserted: tasks.map((task, i) => ({ task: { ...task, seq: i + 1, revision: 1 }, duplicate: false })),
    });
    expect((await everything()).map(({ input }) => input)).toEqual(tasks.map(({ input }) => input));
    expect(await claim("query_order")).toEqual(tasks.slice(0, 100).map(({ messageId }) => messageId));
    expect((await current().counts()).byState.queued).toBe(300);
  });

  test("TS9: of none, none is stored", async () => {
    expect(await current().insertAll([], always)).toEqual({ ok: true, inserted: [] });
    expect(await everything()).toEqual([]);
  });

  test("TS9: what is there already is answered, and the rest is stored", async () => {
    const { task: first } = await current().insert(newTask({ idempotencyKey: "key" }));
    const [same, twin] = [newTask({ idempotencyKey: "key" }), newTask()];
    const result = await current().insertAll([same, twin, { ...twin, input: "2" }], always);
    expect(result).toMatchObject({
      ok: true,
      inserted: [{ duplicate: true }, { duplicate: false }, { duplicate: true }],
    });
    if (!result.ok) throw new Error("unreachable");
    expect(result.inserted[0]!.task).toEqual(first);
    expect(result.inserted[2]!.task).toEqual(result.inserted[1]!.task);
    expect((await everything()).map(({ messageId }) => messageId)).toEqual([first.messageId, twin.messageId]);
  });

  test("TS9: where one stands against it none is stored, and nothing is left of the others", async () => {
    const { task: first } = await current().insert(newTask({ contentHash: "other", idempotencyKey: "key" }));
    const ordered = newTask({ orderKey: "k", input: JSON.stringify("x".repeat(5_000)) });
    const tasks = [newTask(), ordered, newTask({ idempotencyKey: "key" }), newTask()];
    const [, alongside] = await Promise.all([
      current().insert(newTask({ lane: "other" })),
      current().insert(newTask({ lane: "other" })),
      current()
        .insertAll(tasks, byContent)
        .then((result) => {
          expect(result).toEqual({ ok: false, at: 2, stored: first });
        }),
      current().insert(newTask({ lane: "other" })),
    ]);
    expect(alongside.duplicate).toBe(false);
    expect((await everything()).map(({ lane }) => lane)).toEqual(["query_order", "other", "other", "other"]);
    for (const { messageId } of tasks) expect(await current().get(messageId)).toBeUndefined();
    expect(await claim("query_order")).toEqual([first.messageId]);
    expect(await current().insertAll([tasks[0]!, ordered], byContent)).toMatchObject({ ok: true });
    expect(await claim("query_order")).toEqual([tasks[0]!.messageId, ordered.messageId]);
  });

  test("TS9: two with one key and different content stand against each other", async () => {
    const messageId = nextId();
    const tasks = [newTask({ messageId }), newTask({ messageId, contentHash: "other" })];
    expect(await current().insertAll(tasks, byContent)).toMatchObject({ ok: false, at: 1, stored: { messageId } });
    expect(await everything()).toEqual([]);
  });

  test("TS9: many tasks of one order go one after another", async () => {
    const tasks = [3, 1, 2].map((sequence) =>
      newTask({ orderKey: "k", request: { ...newTask().request, sequence }, input: `${sequence}` }),
    );
    await current().insertAll(tasks, always);
    expect(await claim("query_order")).toEqual([tasks[1]!.messageId]);
  });

  test("groups are counted by state and principal, and open ones are found", async () => {
    const settled = { state: "completed", dueAt: undefined, settledAt: 1, lane: OVERDUE } as const;
    await current().insertAll(
      [
        newTask({ groupId: "a" }),
        newTask({ groupId: "a" }),
        newTask({ groupId: "a", state: "stalled", dueAt: undefined, lane: OVERDUE }),
        newTask({ groupId: "a", ...settled }),
        newTask({ groupId: "a", principal: "other", ...settled, state: "dead" }),
        newTask({ groupId: "b", ...settled }),
        newTask(),
      ],
      always,
    );
    const sorted = async (counts: Promise<{ groupId: string; principal: string }[]>) =>
      (await counts).sort((x, y) => (x.principal < y.principal ? -1 : 1));
    const none = { queued: 0, delivered: 0, working: 0, completed: 0, failed: 0, canceled: 0, dead: 0, stalled: 0 };
    expect(await sorted(current().countGroup("a"))).toEqual([
      { groupId: "a", principal: "other", byState: { ...none, dead: 1 } },
      { groupId: "a", principal: "shop", byState: { ...none, queued: 2, stalled: 1, completed: 1 } },
    ]);
    expect(await current().countGroup("c")).toEqual([]);
    expect(await current().countOpenGroups()).toEqual([
      { groupId: "a", principal: "shop", byState: { ...none, queued: 2, stalled: 1 } },
    ]);
    const [task] = await current().list({ groupId: "b" }, { limit: 1 });
    await current().update({ ...task!, state: "queued", lane: "query_order", dueAt: 1_000, settledAt: undefined });
    expect((await sorted(current().countOpenGroups())).map(({ groupId }) => groupId)).toEqual(["a", "b"]);
  });
}
