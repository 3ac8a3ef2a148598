import { expect, test } from "vitest";
import type { NewTask, TaskRecord, TaskStore } from "../task-store.js";
import { newTask } from "./samples.js";

/** TS5 for tasks that must follow one another. */
export function taskOrderConformance(current: () => TaskStore): void {
  const insert = async (some?: Partial<NewTask>): Promise<TaskRecord> => (await current().insert(newTask(some))).task;
  const claim = async (lane: string): Promise<string[]> =>
    (await current().claimDue({ lane, now: 1_000, limit: 100 })).tasks.map(({ messageId }) => messageId);
  const settle = async (task: TaskRecord, state: TaskRecord["state"] = "completed"): Promise<TaskRecord> =>
    (await current().update({ ...task, state, lane: "", dueAt: undefined, settledAt: 1_000 }))!;

  test("TS5: a task is not handed out before its predecessor has ended, also when it is due earlier", async () => {
    const first = await insert({ orderKey: "k", dueAt: 900 });
    const second = await insert({ orderKey: "k", dueAt: 100 });
    const third = await insert({ orderKey: "k", dueAt: 200, lane: "other" });
    const free = await insert({ dueAt: 500 });
    expect(await claim("query_order")).toEqual([free.messageId, first.messageId]);
    expect(await claim("other")).toEqual([]);
    await settle(first, "failed");
    expect(await claim("query_order")).toEqual([second.messageId]);
    const delivered = await current().update({ ...second, state: "delivered", lane: "", dueAt: 5_000 });
    expect(await claim("other")).toEqual([]);
    await settle(delivered!, "dead");
    expect(await claim("other")).toEqual([third.messageId]);
  });

  test("TS5: a predecessor that waits, works or lies stalled holds its successor", async () => {
    for (const state of ["queued", "delivered", "working", "stalled"] as const) {
      const first = await insert({ orderKey: state, state, lane: "elsewhere", dueAt: undefined });
      const second = await insert({ orderKey: state });
      expect(await claim("query_order")).toEqual([]);
      await settle(first, "canceled");
      expect(await claim("query_order")).toEqual([second.messageId]);
      await settle(second);
    }
  });

  test("TS5: a task that ended before its successor came holds nobody", async () => {
    await insert({ orderKey: "k", state: "completed", dueAt: undefined, settledAt: 1 });
    const second = await insert({ orderKey: "k" });
    expect(await claim("query_order")).toEqual([second.messageId]);
  });

  test("TS5: when one in the middle ends, the order of the others stays", async () => {
    const [first, second, third] = [
      await insert({ orderKey: "k" }),
      await insert({ orderKey: "k" }),
      await insert({ orderKey: "k" }),
    ];
    await settle(second, "canceled");
    expect(await claim("query_order")).toEqual([first.messageId]);
    expect(await claim("query_order")).toEqual([]);
    await settle(first);
    expect(await claim("query_order")).toEqual([third.messageId]);
  });

  test("TS5: one that is queued again takes its old place before those that still wait", async () => {
    const [first, second] = [await insert({ orderKey: "k" }), await insert({ orderKey: "k" })];
    const dead = await settle(first, "dead");
    const again = await current().update({
      ...dead,
      state: "queued",
      lane: "query_order",
      dueAt: 1_000,
      settledAt: undefined,
    });
    expect(await claim("query_order")).toEqual([first.messageId]);
    await settle(again!);
    expect(await claim("query_order")).toEqual([second.messageId]);
  });

  test("TS5: one that is queued again behind an open predecessor waits for it", async () => {
    const [first, second] = [await insert({ orderKey: "k" }), await insert({ orderKey: "k" })];
    const canceled = await settle(second, "canceled");
    await current().update({ ...canceled, state: "queued", lane: "query_order", dueAt: 1, settledAt: undefined });
    expect(await claim("query_order")).toEqual([first.messageId]);
    await settle(first);
    expect(await claim("query_order")).toEqual([second.messageId]);
  });

  const numbered = (sequence: number, some?: Partial<NewTask>): Promise<TaskRecord> => {
    const { request } = newTask();
    return insert({ orderKey: "k", request: { ...request, sequence }, ...some });
  };

  test("TS5: tasks with numbers go in the order of their numbers, those without behind them", async () => {
    const without = await insert({ orderKey: "k" });
    const third = await numbered(3, { dueAt: 1 });
    const first = await numbered(1);
    const second = await numbered(2, { lane: "other" });
    const again = await numbered(2);
    expect(await claim("query_order")).toEqual([first.messageId]);
    await settle(first);
    expect(await claim("query_order")).toEqual([]);
    expect(await claim("other")).toEqual([second.messageId]);
    await settle(second);
    for (const next of [again, third, without]) {
      expect(await claim("query_order")).toEqual([next.messageId]);
      await settle(next);
    }
  });

  const send = (task: TaskRecord): Promise<TaskRecord | undefined> =>
    current().update({ ...task, state: "delivered", lane: "", dueAt: 5_000 });

  test("TS5: a lower number that comes while a later one is in somebody's hands waits for it", async () => {
    const second = await numbered(2);
    expect(await claim("query_order")).toEqual([second.messageId]);
    const sent = await send(second);
    const first = await numbered(1);
    expect(await claim("query_order")).toEqual([]);
    await settle(sent!);
    expect(await claim("query_order")).toEqual([first.messageId]);
  });

  test("TS5: one that was claimed is not sent after a lower number has come", async () => {
    const second = await numbered(2);
    expect(await claim("query_order")).toEqual([second.messageId]);
    const first = await numbered(1);
    expect(await send(second)).toBeUndefined();
    expect(await current().get(second.messageId)).toEqual(second);
    expect(await claim("query_order")).toEqual([first.messageId]);
    const sent = await send(first);
    expect(await send(second)).toBeUndefined();
    current().release([second.messageId]);
    expect(await claim("query_order")).toEqual([]);
    await settle(sent!);
    expect(await claim("query_order")).toEqual([second.messageId]);
    expect(await send(second)).toMatchObject({ state: "delivered" });
  });

  test("TS5: one that was claimed may be sent after all when the lower number is gone", async () => {
    const second = await numbered(2);
    expect(await claim("query_order")).toEqual([second.messageId]);
    await settle(await numbered(1), "canceled");
    expect(await send(second)).toMatchObject({ state: "delivered" });
  });

  test("TS5: of two that are claimed when the first one is queued again, only one is ever in hands", async () => {
    const [first, second] = [await insert({ orderKey: "k" }), await insert({ orderKey: "k" })];
    const failed = await settle(first, "failed");
    expect(await claim("query_order")).toEqual([second.messageId]);
    const again = await current().update({
      ...failed,
      state: "queued",
      lane: "query_order",
      dueAt: 1,
      settledAt: undefined,
    });
    expect(await claim("query_order")).toEqual([first.messageId]);
    expect(await send(second)).toBeUndefined();
    const sent = await send(again!);
    expect(sent).toMatchObject({ state: "delivered" });
    expect(await send(second)).toBeUndefined();
    await settle(sent!);
    expect(await send(second)).toMatchObject({ state: "delivered" });
  });

  test("TS5: when a claim is given back, or the work comes back, the lower number goes first", async () => {
    const third = await numbered(3);
    expect(await claim("query_order")).toEqual([third.messageId]);
    const second = await numbered(2);
    current().release([third.messageId]);
    expect(await claim("query_order")).toEqual([second.messageId]);
    const sent = await send(second);
    const first = await numbered(1);
    await current().update({ ...sent!, state: "queued", lane: "query_order", dueAt: 1 });
    expect(await claim("query_order")).toEqual([first.messageId]);
    await settle(first);
    expect(await claim("query_order")).toEqual([second.messageId]);
  });

  test("TS5: the last number that ended is known, however it ended, and is forgotten with its tasks", async () => {
    expect(await current().lastEnded("k")).toBeUndefined();
    const [first, second] = [await numbered(1), await numbered(2)];
    await insert({ orderKey: "k", state: "completed", dueAt: undefined, settledAt: 1 });
    await numbered(9, { orderKey: "other", state: "completed", dueAt: undefined, settledAt: 1 });
    expect(await current().lastEnded("k")).toBeUndefined();
    await settle(first);
    expect(await current().lastEnded("k")).toBe(1);
    await settle(second, "dead");
    expect(await current().lastEnded("k")).toBe(2);
    await current().trim(5_000, 100);
    expect(await current().lastEnded("k")).toBeUndefined();
  });

  test("TS5: a long line of waiting successors does not make claims slow", async () => {
    const [first] = await Promise.all(Array.from({ length: 3_000 }, () => insert({ orderKey: "k", dueAt: 1 })));
    const free = await Promise.all(Array.from({ length: 200 }, () => insert({ dueAt: 2 })));
    const started = performance.now();
    const claimed: string[] = [];
    for (let i = 0; i < 201; i++) {
      const { tasks } = await current().claimDue({ lane: "query_order", now: 1_000, limit: 1 });
      claimed.push(...tasks.map(({ messageId }) => messageId));
    }
    // Walking over the line at each claim would look at 600,000 tasks, which takes several times as long.
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(claimed).toEqual([first, ...free].map((task) => task!.messageId));
    await settle(first!);
    expect(await claim("query_order")).toHaveLength(1);
  });
}
