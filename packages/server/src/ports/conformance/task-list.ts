import { expect, test } from "vitest";
import { type NewTask, OVERDUE, type TaskFilter, type TaskRecord, type TaskStore } from "../task-store.js";
import { newTask } from "./samples.js";

/** Listing, counting and forgetting tasks. */
export function taskListConformance(current: () => TaskStore): void {
  const insert = async (some?: Partial<NewTask>): Promise<TaskRecord> => (await current().insert(newTask(some))).task;
  const list = async (filter: TaskFilter, page: { after?: number; limit?: number; order?: "newest" | "oldest" } = {}) =>
    (await current().list(filter, { limit: 100, ...page })).map(({ seq }) => seq);

  test("list answers newest first, or oldest first when asked, page by page", async () => {
    const seqs = [];
    for (let i = 0; i < 10; i++) seqs.push((await insert()).seq);
    const newest = [...seqs].reverse();
    expect(await list({})).toEqual(newest);
    expect(await list({}, { order: "oldest" })).toEqual(seqs);
    expect(await list({}, { limit: 4 })).toEqual(newest.slice(0, 4));
    expect(await list({}, { limit: 4, after: newest[3]! })).toEqual(newest.slice(4, 8));
    expect(await list({}, { limit: 4, after: seqs[3]!, order: "oldest" })).toEqual(seqs.slice(4, 8));
    expect(await list({}, { after: seqs[0]! })).toEqual([]);
    expect(await list({}, { after: seqs[9]!, order: "oldest" })).toEqual([]);
  });

  test("list answers by each filter, and by several at once", async () => {
    const settled = { dueAt: undefined, settledAt: 1, lane: OVERDUE };
    const rows: Partial<NewTask>[] = [
      { state: "queued", groupId: "g" },
      { state: "delivered", lane: OVERDUE, instanceId: "i-1", agentId: "a-1" },
      { state: "working", lane: OVERDUE, instanceId: "i-2", agentId: "a-1", groupId: "g" },
      { state: "stalled", lane: OVERDUE, dueAt: undefined, principal: "other" },
      { ...settled, state: "completed", capability: "refund", notify: true },
      { ...settled, state: "failed", traceId: "t", createdAt: 5_000 },
      { ...settled, state: "canceled", notify: true, principal: "other" },
      { ...settled, state: "dead", capability: "refund", traceId: "t" },
    ];
    for (const row of rows) await insert(row);
    expect(await list({ states: ["dead", "queued", "stalled"] })).toEqual([8, 4, 1]);
    expect(await list({ states: ["dead", "queued", "stalled"] }, { limit: 2 })).toEqual([8, 4]);
    expect(await list({ states: ["dead", "queued", "stalled"] }, { limit: 1, after: 4 })).toEqual([1]);
    expect(await list({ states: ["completed", "working"] }, { order: "oldest" })).toEqual([3, 5]);
    expect(await list({ states: [] })).toEqual([]);
    expect(await list({ capability: "refund" })).toEqual([8, 5]);
    expect(await list({ agentId: "a-1" })).toEqual([3, 2]);
    expect(await list({ instanceId: "i-1", states: ["delivered", "working"] })).toEqual([2]);
    expect(await list({ groupId: "g" })).toEqual([3, 1]);
    expect(await list({ principal: "other" })).toEqual([7, 4]);
    expect(await list({ traceId: "t" })).toEqual([8, 6]);
    expect(await list({ since: 2_000 })).toEqual([6]);
    expect(await list({ notify: true })).toEqual([7, 5]);
    expect(await list({ notify: true, principal: "other" })).toEqual([7]);
    expect(await list({ notify: false }, { limit: 2 })).toEqual([8, 6]);
    expect(await list({ groupId: "g", states: ["working"], capability: "query_order" })).toEqual([3]);
    expect(await list({ traceId: "t", states: ["queued"] })).toEqual([]);
  });

  test("list finds the tasks of a trace among many", async () => {
    for (let at = 0; at < 6_000; at += 1_000) {
      await Promise.all(
        Array.from({ length: 1_000 }, (_, i) => insert((at + i) % 1_500 === 7 ? { traceId: "rare" } : {})),
      );
    }
    expect(await list({ traceId: "rare" })).toEqual([4_508, 3_008, 1_508, 8]);
    expect(await list({ traceId: "rare" }, { order: "oldest", after: 8, limit: 2 })).toEqual([1_508, 3_008]);
    expect(await list({ capability: "unknown" })).toEqual([]);
  });

  test("counts says what waits by lane and capability, and how many there are by state", async () => {
    await insert({ lane: "l", capability: "a", dueAt: 300, createdAt: 30, deadlineAt: 7_000 });
    await insert({ lane: "l", capability: "a", dueAt: 200, createdAt: 40, deadlineAt: 9_000 });
    await insert({ lane: "l", capability: "b", dueAt: 100, createdAt: 50, orderKey: "k" });
    await insert({ lane: "m", capability: "b", dueAt: 50, createdAt: 60, orderKey: "k" });
    const moving = await insert({ state: "working", lane: OVERDUE, dueAt: 8_000 });
    await insert({ state: "completed", lane: OVERDUE, dueAt: undefined, settledAt: 1 });
    await insert({ state: "dead", lane: OVERDUE, dueAt: undefined, settledAt: 1 });
    const counts = await current().counts();
    expect(counts.byState).toEqual({
      queued: 4,
      delivered: 0,
      working: 1,
      completed: 1,
      failed: 0,
      canceled: 0,
      dead: 1,
      stalled: 0,
    });
    expect(counts.lanes.sort((a, b) => a.firstDueAt - b.firstDueAt)).toEqual([
      { lane: "m", capability: "b", waiting: 1, firstDueAt: 50, oldestAt: 60 },
      { lane: "l", capability: "b", waiting: 1, firstDueAt: 100, oldestAt: 50 },
      { lane: "l", capability: "a", waiting: 2, firstDueAt: 200, oldestAt: 30 },
    ]);
    expect(counts.overdueAt).toBe(7_000);
    await current().update({ ...moving, dueAt: 6_000 });
    expect((await current().counts()).overdueAt).toBe(6_000);
  });

  test("counts of an empty store are zero", async () => {
    const { byState, lanes, overdueAt } = await current().counts();
    expect([Object.values(byState).every((count) => count === 0), lanes, overdueAt]).toEqual([true, [], undefined]);
  });

  test("trim forgets terminal tasks that settled long ago, oldest first, and nothing else", async () => {
    const settle = (settledAt: number, some: Partial<NewTask> = {}) =>
      insert({ state: "completed", lane: OVERDUE, dueAt: undefined, settledAt, ...some });
    const long = JSON.stringify("x".repeat(5_000));
    const [c, a, b] = [
      await settle(300),
      await settle(100, { input: long, data: long, idempotencyKey: "key" }),
      await settle(200),
    ];
    const open = await insert({ createdAt: 1 });
    expect(await current().trim(300, 1)).toBe(1);
    expect(await current().get(a.messageId)).toBeUndefined();
    expect(await current().trim(300, 10)).toBe(1);
    expect(await list({})).toEqual([open.seq, c.seq]);
    expect(await current().get(b.messageId)).toBeUndefined();
    expect((await current().counts()).byState).toMatchObject({ queued: 1, completed: 1 });
    expect((await current().insert(newTask({ idempotencyKey: "key" }))).duplicate).toBe(false);
    expect((await current().insert(newTask({ messageId: a.messageId }))).duplicate).toBe(false);
  });

  test("trim of many goes all the way to its limit", async () => {
    await Promise.all(
      Array.from({ length: 1_700 }, () =>
        insert({ state: "completed", lane: OVERDUE, dueAt: undefined, settledAt: 5 }),
      ),
    );
    expect(await current().trim(6, 1_200)).toBe(1_200);
    expect(await current().trim(6, 1_200)).toBe(500);
    expect(await list({})).toEqual([]);
  });
}
