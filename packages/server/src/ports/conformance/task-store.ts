import { beforeEach, describe, expect, test } from "vitest";
import { type NewTask, OVERDUE, type TaskRecord, type TaskStore } from "../task-store.js";
import { newTask } from "./samples.js";
import { taskGroupsConformance } from "./task-groups.js";
import { taskListConformance } from "./task-list.js";
import { taskOrderConformance } from "./task-order.js";

export interface TaskSubject {
  open(): Promise<TaskStore>;
  /** Closes the store and opens what it kept; left out by engines that keep nothing. */
  reopen?(): Promise<TaskStore>;
}

/** The promises of TaskStore, for one engine. */
export function taskStoreConformance(subject: TaskSubject): void {
  const { open, reopen } = subject;
  describe("TaskStore", () => {
    let store: TaskStore;
    beforeEach(async () => {
      store = await open();
    });

    const insert = async (some?: Partial<NewTask>): Promise<TaskRecord> => (await store.insert(newTask(some))).task;
    const claim = async (lane: string, now: number, limit = 100): Promise<string[]> =>
      (await store.claimDue({ lane, now, limit })).tasks.map(({ messageId }) => messageId);

    test("TS1: a task comes back as it was inserted, with a place and a revision", async () => {
      const task = newTask({
        groupId: "batch-7",
        orderKey: "chat-1",
        notify: true,
        idempotencyKey: "key-1",
        agentId: "a",
      });
      const { task: stored, duplicate } = await store.insert(task);
      expect(duplicate).toBe(false);
      expect(stored).toEqual({ ...task, seq: 1, revision: 1 });
      expect(await store.get(task.messageId)).toEqual(stored);
      expect(await store.get("unknown")).toBeUndefined();
      expect((await insert()).seq).toBeGreaterThan(stored.seq);
    });

    test("TS1: a second task with the same messageId is not stored, and the first one is answered", async () => {
      const first = await insert({ principal: "one" });
      const again = await store.insert(newTask({ messageId: first.messageId, principal: "two", input: '"other"' }));
      expect(again).toEqual({ task: first, duplicate: true });
      expect(await store.list({}, { limit: 10 })).toHaveLength(1);
    });

    test("TS1, D20: a second task with the same key is not stored within tenant and principal, but is beyond", async () => {
      const first = await insert({ idempotencyKey: "key" });
      expect(await store.insert(newTask({ idempotencyKey: "key" }))).toEqual({ task: first, duplicate: true });
      expect((await store.insert(newTask({ idempotencyKey: "key", principal: "other" }))).duplicate).toBe(false);
      expect((await store.insert(newTask({ idempotencyKey: "key", tenant: "other" }))).duplicate).toBe(false);
    });

    test("TS1: a key equal to another task's messageId is the same key, if that one was given none", async () => {
      const first = await insert();
      expect(await store.insert(newTask({ idempotencyKey: first.messageId }))).toEqual({
        task: first,
        duplicate: true,
      });
      expect((await store.insert(newTask({ idempotencyKey: first.messageId, principal: "other" }))).duplicate).toBe(
        false,
      );
      const keyed = await insert({ idempotencyKey: "key" });
      expect((await store.insert(newTask({ idempotencyKey: keyed.messageId }))).duplicate).toBe(false);
    });

    test("TS1: a messageId equal to a key given earlier is the same key", async () => {
      const later = newTask();
      const first = await insert({ idempotencyKey: later.messageId });
      expect(await store.insert(later)).toEqual({ task: first, duplicate: true });
    });

    test("TS1: of many inserts of one key at the same time one is stored", async () => {
      const results = await Promise.all(
        Array.from({ length: 30 }, () => store.insert(newTask({ idempotencyKey: "key" }))),
      );
      expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
      expect(new Set(results.map(({ task }) => task.messageId)).size).toBe(1);
    });

    test("TS3: update stores the change and raises the revision by one", async () => {
      const task = await insert();
      const change: TaskRecord = {
        ...task,
        state: "working",
        lane: OVERDUE,
        dueAt: 5_000,
        deadlineAt: 2_000_000,
        agentId: "order-agent-01",
        instanceId: "i-1",
        attempt: 2,
        attempts: [
          {
            attempt: 1,
            agentId: "order-agent-01",
            instanceId: "i-1",
            epoch: 3,
            sentAt: 1_100,
            acceptedAt: 1_200,
            outcome: "passed_on",
            error: { code: "OUT_OF_STOCK" },
          },
          {
            attempt: 2,
            agentId: "another-agent",
            instanceId: "i-2",
            epoch: 1,
            standIn: "another-agent",
            sentAt: 1_250,
            outcome: "pending",
          },
        ],
        deliveryFailures: 2,
        losses: 1,
      };
      const stored = await store.update(change);
      expect(stored).toEqual({ ...change, revision: 2 });
      expect(await store.get(task.messageId)).toEqual(stored);
      const settled = await store.update(
        {
          ...stored!,
          state: "failed",
          dueAt: undefined,
          settledAt: 1_300,
          notify: true,
          error: {
            code: "AGENT_ERROR",
            message: "[AGENT_ERROR] no",
            retryable: false,
            outcome: "executed",
            details: { code: 7 },
          },
          receipt: { steps: ["asked"] } as unknown as TaskRecord["receipt"],
        },
        '{"n":1}',
      );
      expect(settled).toMatchObject({ revision: 3, notify: true, data: '{"n":1}', settledAt: 1_300 });
      expect(await store.get(task.messageId)).toEqual(settled);
    });

    test("TS3: update changes nothing unless the revision is the stored one", async () => {
      const task = await insert();
      const first = await store.update({ ...task, attempt: 1 });
      expect(await store.update({ ...task, attempt: 2 })).toBeUndefined();
      expect(await store.update({ ...task, revision: 99 })).toBeUndefined();
      expect(await store.update({ ...task, messageId: "unknown", seq: 99 })).toBeUndefined();
      expect(await store.get(task.messageId)).toEqual(first);
    });

    test("TS3: of many updates of one revision at the same time one is stored", async () => {
      const task = await insert();
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.update({ ...task, attempt: i + 1 }, `"${i + 1}"`)),
      );
      const winners = results.filter((result) => result !== undefined);
      expect(winners).toHaveLength(1);
      expect(winners[0]!.data).toBe(`"${winners[0]!.attempt}"`);
      expect(await store.get(task.messageId)).toEqual(winners[0]);
    });

    test("TS3: data stays until an update brings another", async () => {
      const task = await insert();
      const one = await store.update(task, "[1]");
      const two = await store.update({ ...one!, notify: true });
      expect(two!.data).toBe("[1]");
      expect((await store.update(two!, "[2]"))!.data).toBe("[2]");
      expect((await store.get(task.messageId))!.data).toBe("[2]");
    });

    test("TS4: a claimed task is not handed out again until it was updated or released", async () => {
      const task = await insert();
      expect(await claim("query_order", 1_000)).toEqual([task.messageId]);
      expect(await claim("query_order", 1_000)).toEqual([]);
      store.release([task.messageId, "unknown"]);
      expect(await claim("query_order", 1_000)).toEqual([task.messageId]);
      await store.update({ ...task, attempt: 1 });
      expect(await claim("query_order", 1_000)).toEqual([task.messageId]);
      await store.update({ ...task, revision: 77 });
      expect(await claim("query_order", 1_000)).toEqual([]);
    });

    test("TS4: many claims at the same time share the tasks without overlap", async () => {
      const inserted = await Promise.all(Array.from({ length: 200 }, () => insert()));
      const claims = await Promise.all(Array.from({ length: 30 }, () => claim("query_order", 1_000, 7)));
      const handedOut = claims.flat();
      expect(handedOut).toHaveLength(200);
      expect(new Set(handedOut)).toEqual(new Set(inserted.map(({ messageId }) => messageId)));
    });

    test("TS4: claims go on behind those that are claimed, and come back to what was released", async () => {
      const tasks = [];
      for (let i = 0; i < 20; i++) tasks.push(await insert({ dueAt: 100 + i }));
      const ids = tasks.map(({ messageId }) => messageId);
      expect(await claim("query_order", 1_000, 5)).toEqual(ids.slice(0, 5));
      expect(await claim("query_order", 1_000, 5)).toEqual(ids.slice(5, 10));
      store.release([ids[7]!, ids[2]!]);
      expect(await claim("query_order", 1_000, 3)).toEqual([ids[2], ids[7], ids[10]]);
      const early = await insert({ dueAt: 50 });
      expect(await claim("query_order", 1_000, 2)).toEqual([early.messageId, ids[11]]);
    });

    test("TS5: a lane hands out what is due, oldest dueAt first, then in order of insertion", async () => {
      const late = await insert({ dueAt: 300 });
      const second = await insert({ dueAt: 200 });
      const third = await insert({ dueAt: 200 });
      const first = await insert({ dueAt: 100 });
      await insert({ dueAt: 301 });
      await insert({ lane: "other", dueAt: 1 });
      await insert({ state: "working", lane: OVERDUE, dueAt: 1 });
      expect(await claim("query_order", 300)).toEqual([first, second, third, late].map(({ messageId }) => messageId));
    });

    test("TS5: claimDue says when its lane will have another one", async () => {
      await insert({ dueAt: 100 });
      await insert({ dueAt: 700 });
      const last = await insert({ dueAt: 500 });
      await insert({ dueAt: 200, lane: "other" });
      expect(await store.claimDue({ lane: "query_order", now: 100, limit: 1 })).toMatchObject({ nextAt: undefined });
      expect(await store.claimDue({ lane: "query_order", now: 100, limit: 1 })).toEqual({ tasks: [], nextAt: 500 });
      expect((await store.claimDue({ lane: "query_order", now: 500, limit: 5 })).nextAt).toBe(700);
      store.release([last.messageId]);
      expect((await store.claimDue({ lane: "query_order", now: 499, limit: 5 })).nextAt).toBe(500);
      expect(await store.claimDue({ lane: "nobody", now: 1, limit: 5 })).toEqual({ tasks: [], nextAt: undefined });
    });

    test("TS6: OVERDUE hands out what is due without waiting in a lane, and what waits past its deadline", async () => {
      const working = await insert({ state: "working", lane: OVERDUE, dueAt: 500 });
      const delivered = await insert({ state: "delivered", lane: OVERDUE, dueAt: 400 });
      const expired = await insert({ dueAt: 5_000, deadlineAt: 450 });
      await insert({ state: "stalled", lane: OVERDUE, dueAt: undefined });
      await insert({ state: "working", lane: OVERDUE, dueAt: 501 });
      await insert({ state: "completed", lane: OVERDUE, dueAt: undefined, settledAt: 1 });
      await insert({ dueAt: 1, deadlineAt: 900 });
      const { tasks, nextAt } = await store.claimDue({ lane: OVERDUE, now: 500, limit: 10 });
      expect(tasks.map(({ messageId }) => messageId).sort()).toEqual(
        [working, delivered, expired].map(({ messageId }) => messageId).sort(),
      );
      expect(nextAt).toBe(501);
      expect(await claim(OVERDUE, 500)).toEqual([]);
      store.release([expired.messageId]);
      expect(await claim(OVERDUE, 500)).toEqual([expired.messageId]);
    });

    test("TS4 TS6: a task claimed as overdue is not handed out by its lane, nor the other way round", async () => {
      const task = await insert({ dueAt: 100, deadlineAt: 200 });
      expect(await claim(OVERDUE, 300)).toEqual([task.messageId]);
      expect(await claim("query_order", 300)).toEqual([]);
      store.release([task.messageId]);
      expect(await claim("query_order", 300)).toEqual([task.messageId]);
      expect(await claim(OVERDUE, 300)).toEqual([]);
    });

    test("TS4 TS6: an update moves a task between lanes and moments", async () => {
      let task = await insert();
      await claim("query_order", 1_000);
      task = (await store.update({ ...task, state: "delivered", lane: OVERDUE, dueAt: 2_000 }))!;
      expect(await claim("query_order", 9_000)).toEqual([]);
      expect(await claim(OVERDUE, 1_999)).toEqual([]);
      expect(await claim(OVERDUE, 2_000)).toEqual([task.messageId]);
      task = (await store.update({ ...task, state: "queued", lane: "b", dueAt: 50 }))!;
      expect(await claim("b", 50)).toEqual([task.messageId]);
      await store.update({ ...task, state: "dead", lane: OVERDUE, dueAt: undefined, settledAt: 60 });
      expect([await claim("b", 9_000), await claim(OVERDUE, 9_000_000)]).toEqual([[], []]);
    });

    test("TS7: input and data come back to the character, short and long", async () => {
      const numbers = '{"a":12345678901234567890,"b":1.0,"c":-0,"d":1e400,"e":0.1000,"__proto__":1}';
      const long = `{"text":"${"\\ud83d lone, 漢字, \u2028 ".repeat(20_000)}"}`;
      for (const input of [numbers, " [ 1 ,\n2 ]", '"\\ud800"', '""', long]) {
        for (const data of [numbers, long, "null"]) {
          const task = await insert({ input });
          await store.update({ ...task, state: "completed", dueAt: undefined, settledAt: 1 }, data);
          const read = await store.get(task.messageId);
          expect(read!.input === input && read!.data === data).toBe(true);
        }
      }
    });

    taskOrderConformance(() => store);
    taskListConformance(() => store);
    taskGroupsConformance(() => store);

    if (reopen) {
      test("TS2 TS4: what was answered survives a restart, without its claims", async () => {
        const waiting = await insert({ orderKey: "k", idempotencyKey: "key" });
        const behind = await insert({ orderKey: "k" });
        const working = await store.update({ ...(await insert()), state: "working", lane: OVERDUE, dueAt: 9 }, '"d"');
        await claim("query_order", 1_000);
        await claim(OVERDUE, 1_000);
        const counts = await store.counts();
        store = await reopen();
        expect(await store.get(waiting.messageId)).toEqual(waiting);
        expect(await store.get(working!.messageId)).toEqual(working);
        expect(await store.counts()).toEqual(counts);
        expect(await claim("query_order", 1_000)).toEqual([waiting.messageId]);
        expect(await claim(OVERDUE, 1_000)).toEqual([working!.messageId]);
        expect((await store.insert(newTask({ idempotencyKey: "key" }))).duplicate).toBe(true);
        await store.update({ ...waiting, state: "completed", dueAt: undefined, settledAt: 1 });
        expect(await claim("query_order", 1_000)).toEqual([behind.messageId]);
      });

      test("TS2, TS9: many that were stored at once are all there after a restart", async () => {
        await store.insertAll(
          Array.from({ length: 50 }, () => newTask({ groupId: "g" })),
          () => true,
        );
        store = await reopen();
        expect(await store.countOpenGroups()).toMatchObject([{ groupId: "g", byState: { queued: 50 } }]);
        expect(await claim("query_order", 1_000)).toHaveLength(50);
      });

      test("TS1, D16: a seq is not given again when the newest task was forgotten before a restart", async () => {
        const first = await insert({ state: "completed", dueAt: undefined, settledAt: 1 });
        await store.trim(2, 10);
        store = await reopen();
        expect((await insert()).seq).toBeGreaterThan(first.seq);
      });
    }
  });
}
