import { ReachError } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { localOperator } from "../access/access.js";
import { taskText } from "./text.js";

let rooms: FakeRooms;
let agent: FakeAgent;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  agent = await rooms.join(
    card("a1", ["query", { name: "strict", inputSchema: { type: "object", required: ["id"] } }]),
  );
});
const uuid = (n: number): string => `0199a5c2-6f0e-7c11-9b1e-${String(n).padStart(12, "0")}`;
const once = { capability: "query", input: { a: 1, b: 2 }, messageId: uuid(1) };

describe("submit", () => {
  test("is answered when the task is stored", async () => {
    const reply = await rooms.submit(once);
    expect(reply.results[0]).toMatchObject({ messageId: uuid(1), state: "queued", duplicate: false });
    expect(await rooms.task(uuid(1))).toMatchObject({ input: '{"a":1,"b":2}', principal: "anonymous" });
  });

  test("refuses what nobody ever offered, and what breaks the schema, and stores neither", async () => {
    expect((await rooms.submit({ capability: "ghost" })).failure).toMatchObject({ code: "NO_ROUTE" });
    expect((await rooms.submit({ capability: "strict", input: {} })).failure).toMatchObject({
      code: "INVALID_INPUT",
      path: "id",
    });
    expect((await rooms.engine.tasks.counts()).byState.queued).toBe(0);
    expect(agent.link.deliveries).toEqual([]);
  });

  test("dryRun decides and stores nothing", async () => {
    const reply = await rooms.submit({ ...once, dryRun: true });
    expect(reply.results[0]).toMatchObject({ dryRun: true, decision: { chosen: { agentId: "a1" } } });
    expect(await rooms.engine.tasks.get(uuid(1))).toBeUndefined();
  });
});

describe("DLV-7: a task that comes again", () => {
  test("D17: is one task, while it runs and after it succeeded", async () => {
    await rooms.submit(once);
    const again = await rooms.submit({ ...once, input: { b: 2, a: 1 } });
    expect(again.results[0]).toMatchObject({ messageId: uuid(1), duplicate: true, state: "delivered" });
    await agent.link.next().complete("once");
    const later = await rooms.submit(once);
    expect(later.results[0]).toMatchObject({ duplicate: true, state: "completed" });
    expect(agent.link.deliveries).toHaveLength(1);
  });

  test("is known by its key, which belongs to its principal", async () => {
    const keyed = { ...once, idempotencyKey: "order-7" };
    await rooms.submit(keyed, callerOf("shop"));
    const again = await rooms.submit({ ...keyed, messageId: uuid(2) }, callerOf("shop"));
    expect(again.results[0]).toMatchObject({ messageId: uuid(1), duplicate: true });
    const other = await rooms.submit({ ...keyed, messageId: uuid(3) }, callerOf("other"));
    expect(other.results[0]).toMatchObject({ messageId: uuid(3), duplicate: false });
  });

  test("with other content is a conflict, and somebody else's is forbidden", async () => {
    await rooms.submit(once, callerOf("shop"));
    expect((await rooms.submit({ ...once, input: 3 }, callerOf("shop"))).failure).toMatchObject({
      code: "CONFLICT",
      details: { messageId: uuid(1) },
    });
    expect((await rooms.submit(once, callerOf("thief"))).failure).toMatchObject({ code: "FORBIDDEN" });
  });

  test("is answered though new work would be refused: a full disk, a rate", async () => {
    const submit = (envelope: object) => rooms.submit({ capability: "query", ...envelope });
    rooms = await FakeRooms.open({ limits: { messagesPerSecPerCaller: 2 } });
    agent = await rooms.join(card("a1", ["query"]));
    await submit({ messageId: uuid(1), input: 1 });
    await agent.link.next().complete();
    await submit({});
    expect((await submit({})).failure.code).toBe("RATE_LIMITED");
    const known = { messageId: uuid(1), state: "completed", duplicate: true };
    expect((await submit({ messageId: uuid(1), input: 1 })).results[0]).toMatchObject(known);
    expect((await submit({ messageId: uuid(1), input: 2 })).failure.code).toBe("RATE_LIMITED");
    await rooms.pass(1_000);
    rooms.engine.tasks.insert = () => Promise.reject(new ReachError("NOT_READY", "the disk is full"));
    expect((await submit({ messageId: uuid(1), input: 1 })).results[0]).toMatchObject(known);
    expect((await submit({ messageId: uuid(2), input: 1 })).failure.code).toBe("NOT_READY");
    const unconfirmed = new ReachError("NOT_READY", "the disk failed", { details: { reason: "unconfirmed" } });
    rooms.engine.tasks.insert = () => Promise.reject(unconfirmed);
    await rooms.pass(2_000);
    expect((await submit({ messageId: uuid(1), input: 1 })).failure.outcome).toBe("unknown");
    await rooms.pass(2_000);
    expect((await submit({ messageId: uuid(2), input: 1 })).failure.outcome).toBe("not_executed");
  });

  test("D17: runs again if it did not succeed", async () => {
    await rooms.submit(once);
    await agent.link.next().fail();
    const again = await rooms.submit(once);
    expect(again.results[0]).toMatchObject({ messageId: uuid(1), duplicate: false, state: "queued" });
    expect(agent.link.next().attempt).toBe(2);
  });

  test("DLV-19: does not run again if it was meant to be done at most once and may have been", async () => {
    const most = { ...once, delivery: "atMostOnce" as const };
    await rooms.submit(most);
    agent.link.next().fail();
    await rooms.pass(0);
    const again = await rooms.submit(most);
    expect(again.results[0]).toMatchObject({ state: "failed", duplicate: true });
    await rooms.pass(1_000);
    expect([agent.link.waiting, await rooms.state(uuid(1))]).toEqual([0, "failed"]);
    expect(await rooms.tasks.requeue([uuid(1)])).toEqual([uuid(1)]);
    await rooms.pass(100);
    expect(agent.link.waiting).toBe(1);
  });
});

describe("looking and waiting", () => {
  test("a result that is there is answered at once, one that is not when it comes", async () => {
    await rooms.submit(once);
    const waiting = rooms.tasks.result(localOperator, uuid(1), 60_000);
    await settle();
    const pending = rooms.system.pending;
    await agent.link.next().complete("here");
    expect(await waiting).toMatchObject({ state: "completed", data: '"here"' });
    expect(await rooms.tasks.result(localOperator, uuid(1), 60_000)).toMatchObject({ state: "completed" });
    expect(rooms.system.pending).toBeLessThan(pending);
  });

  test("or as the task is when the wait is over", async () => {
    await rooms.submit(once);
    const waiting = rooms.tasks.result(localOperator, uuid(1), 2_000);
    await rooms.pass(2_000);
    expect(await waiting).toMatchObject({ state: "delivered" });
    expect(await rooms.tasks.result(localOperator, uuid(1), 0)).toMatchObject({ state: "delivered" });
  });

  test("is for its sender and for operators", async () => {
    await rooms.submit(once, callerOf("shop"));
    await expect(rooms.tasks.get(callerOf("thief"), uuid(1))).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(rooms.tasks.cancel(callerOf("thief"), uuid(1), "no")).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(rooms.tasks.get(callerOf("shop"), uuid(9))).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await rooms.tasks.get(callerOf("shop"), uuid(1))).toMatchObject({ messageId: uuid(1) });
  });

  test("the text of a task has input and data as they came", async () => {
    await rooms.submit(once);
    await agent.link.next().complete({ x: 1 });
    const task = await rooms.task(uuid(1));
    const digits = { ...task, input: '{"id":12345678901234567890}' };
    expect(taskText(digits, { input: true })).toContain('"input":{"id":12345678901234567890},"data":{"x":1}}');
    expect(JSON.parse(taskText(task, { input: false }))).toMatchObject({
      kind: "task",
      state: "completed",
      attempts: [{ outcome: "completed", agentId: "a1" }],
    });
    expect(taskText(task, { input: false })).not.toContain('"input"');
  });
});

describe("cancel, requeue, discard", () => {
  test("DLV-14: a cancelled task is withdrawn from whoever has it, and its late result changes nothing", async () => {
    await rooms.submit(once);
    const delivery = agent.link.next();
    delivery.accept();
    await rooms.pass(0);
    const task = await rooms.tasks.cancel(localOperator, uuid(1), "changed my mind");
    expect(task).toMatchObject({ state: "canceled", error: { code: "CANCELED", outcome: "unknown" } });
    expect(agent.link.cancels).toMatchObject([{ messageId: uuid(1), attempt: 1, reason: "changed my mind" }]);
    expect(agent.instance.running).toBe(0);
    expect(await rooms.complete(agent, delivery)).toBe("SETTLED");
    expect(await rooms.tasks.cancel(localOperator, uuid(1), "again")).toMatchObject({
      error: { message: expect.stringContaining("changed") },
    });
  });

  test("one that was never sent is surely not executed", async () => {
    await rooms.cut(agent);
    await rooms.submit(once);
    expect(await rooms.tasks.cancel(localOperator, uuid(1), "no")).toMatchObject({
      error: { outcome: "not_executed" },
    });
    const back = await rooms.join(card("a1", ["query"]), agent.registered);
    await rooms.pass(1_000);
    expect(back.link.deliveries).toEqual([]);
  });

  test("DLV-15: what failed can be requeued, with all its retries, or discarded; what succeeded or runs cannot", async () => {
    for (const n of [1, 2, 3, 4]) await rooms.submit({ ...once, messageId: uuid(n) });
    const [one, two, three] = [agent.link.next(), agent.link.next(), agent.link.next()];
    await one.fail();
    await two.fail();
    await three.complete();
    const all = [1, 2, 3, 4, 9].map(uuid);
    expect(await rooms.tasks.discard([uuid(2), ...all.slice(2)])).toEqual([uuid(2)]);
    expect(await rooms.task(uuid(2))).toMatchObject({
      state: "canceled",
      error: { code: "CANCELED", outcome: "executed" },
    });
    expect(await rooms.tasks.requeue([uuid(1), ...all.slice(2)])).toEqual([uuid(1)]);
    await rooms.pass(0);
    expect(await rooms.task(uuid(1))).toMatchObject({ state: "delivered", attempt: 2, error: undefined });
  });

  test("D04, DLV-11: results are kept for their time and then forgotten, open tasks never", async () => {
    await rooms.submit(once);
    await agent.link.next().complete();
    await rooms.submit({ ...once, messageId: uuid(2) });
    await rooms.leap(86_000_000);
    expect(await rooms.state(uuid(1))).toBe("completed");
    await rooms.leap(400_000);
    await rooms.pass(2_000);
    expect(await rooms.engine.tasks.get(uuid(1))).toBeUndefined();
    expect(await rooms.engine.tasks.get(uuid(2))).toBeDefined();
  });
});

describe("the agent's word", () => {
  test("counts for its own attempt alone", async () => {
    const other = await rooms.join(card("a2", ["else"]));
    await rooms.submit(once);
    const delivery = agent.link.next();
    const { record } = agent.instance;
    const result = { data: "1", receipt: undefined };
    expect(await rooms.complete(other, delivery)).toBe("STALE_ATTEMPT");
    expect(await rooms.tasks.complete(uuid(1), record, 2, result)).toBe("STALE_ATTEMPT");
    expect(await rooms.tasks.complete(uuid(9), record, 1, result)).toBe("UNKNOWN");
    expect(rooms.tasks.accept(uuid(1), other.registered.instanceId, 1)).toBe(false);
    expect(rooms.tasks.accept(uuid(1), record.instanceId, 2)).toBe(false);
    expect(rooms.tasks.accept(uuid(1), record.instanceId, 1)).toBe(true);
    expect(await rooms.complete(agent, delivery)).toBe("recorded");
    expect(await rooms.complete(agent, delivery)).toBe("SETTLED");
  });

  test("DLV-12: a result beyond the limit is refused", async () => {
    await rooms.submit(once);
    agent.link.next().accept();
    const huge = { data: `"${"x".repeat(1_048_577)}"`, receipt: undefined };
    await expect(rooms.tasks.complete(uuid(1), agent.instance.record, 1, huge)).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    });
  });
});
