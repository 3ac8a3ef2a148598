import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
let front: FakeAgent;
let back: FakeAgent;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  front = await rooms.join(card("front", ["plan", "other"], { maxConcurrentTasks: 50 }));
  back = await rooms.join(card("back", ["query"]));
});
const nested = (parentId: string, more = {}) =>
  rooms.call({ capability: "query", parentId, ...more }, callerOf("front"));

describe("RES-3: a nested call never outlives its parent", () => {
  test("T02: of a call it gets what is left, however much it asks for", async () => {
    rooms.call({ capability: "plan", timeoutMs: 10_000 });
    const parent = front.link.next();
    parent.accept();
    await rooms.pass(4_000);
    const child = nested(parent.message.messageId, { timeoutMs: 120_000 });
    const delivery = back.link.next();
    expect(delivery.envelope.timeoutMs).toBe(6_000);
    delivery.accept();
    await rooms.pass(6_020);
    expect(child.failure).toMatchObject({ code: "TIMEOUT", outcome: "unknown" });
  });

  test("of a task it ends when the task is overdue itself", async () => {
    const submitted = await rooms.submit({ capability: "plan", completionTimeoutMs: 60_000 });
    const { messageId } = submitted.results[0]!;
    front.link.next().accept();
    await rooms.pass(45_000);
    const child = nested(String(messageId), { timeoutMs: 120_000 });
    const delivery = back.link.next();
    expect(delivery.envelope.timeoutMs).toBe(15_000);
    delivery.accept();
    await rooms.pass(15_300);
    expect([await rooms.state(messageId), child.errors.length]).toEqual(["stalled", 1]);
  });

  test("of a task that was fetched late it has the time which the task has, from then on", async () => {
    const puller = await rooms.join(card("puller", ["nightly"]), { link: new FakeLink("pull") });
    await rooms.submit({ capability: "nightly", completionTimeoutMs: 20_000 });
    const parent = puller.link.next();
    await rooms.pass(30_000);
    parent.fetch();
    await rooms.pass(5_000);
    parent.accept();
    await rooms.pass(2_000);
    nested(parent.message.messageId);
    expect(back.link.next().envelope.timeoutMs).toBe(18_000);
  });

  test("of a task which outlasted a restart of the node it ends with the task, not a full time later", async () => {
    const { messageId } = (await rooms.submit({ capability: "plan", completionTimeoutMs: 60_000 })).results[0]!;
    front.link.next().accept();
    await rooms.pass(40_000);
    rooms = await rooms.restart();
    back = await rooms.join(card("back", ["query"]));
    nested(String(messageId));
    const { timeoutMs } = back.link.next().envelope;
    expect(timeoutMs).toBeLessThanOrEqual(20_000);
    expect(timeoutMs).toBeGreaterThan(19_900);
  });

  test("of a call that failed it is refused: nobody waits for it any longer", async () => {
    const parent = rooms.call({ capability: "plan", timeoutMs: 1_000 });
    const { messageId } = front.link.next().message;
    await rooms.pass(1_020);
    expect(parent.failure.code).toBe("DELIVERY_TIMEOUT");
    expect(nested(messageId).failure).toMatchObject({
      code: "CANCELED",
      outcome: "not_executed",
      retryable: false,
      details: { parentId: messageId, parentCode: "DELIVERY_TIMEOUT" },
    });
    expect(back.link.deliveries).toEqual([]);
  });

  test("of a call that was answered it stands for itself", async () => {
    for (const answer of ["complete", "fail"] as const) {
      rooms.call({ capability: "plan" });
      const parent = front.link.next();
      parent[answer]();
      const child = nested(parent.message.messageId);
      expect(back.link.next().envelope.timeoutMs).toBe(30_000);
      expect(child.answers).toBe(0);
    }
  });

  test("a task that is submitted on the way is bound by no call: that is what tasks are for", async () => {
    rooms.call({ capability: "plan", timeoutMs: 2_000 });
    const { messageId: parentId } = front.link.next().message;
    const task = await rooms.submit({ capability: "query", parentId }, callerOf("front"));
    const delivery = back.link.next();
    delivery.accept();
    await rooms.pass(5_000);
    expect(await rooms.complete(back, delivery)).toBe("recorded");
    expect(await rooms.state(task.results[0]!["messageId"])).toBe("completed");
  });
});

describe("RES-8: loops", () => {
  test("the same request within its own chain ends, in calls and through tasks", async () => {
    await rooms.submit({ capability: "plan", input: { n: 1 } });
    const outer = front.link.next();
    outer.accept();
    const middle = await rooms.submit(
      { capability: "query", input: { n: 1 }, parentId: outer.message.messageId },
      callerOf("front"),
    );
    back.link.next().accept();
    const parentId = String(middle.results[0]!["messageId"]);
    const again = { capability: "plan", input: { n: 1 }, parentId };
    const expected = { code: "LOOP_DETECTED", retryable: false, details: { messageId: outer.message.messageId } };
    expect(rooms.call(again, callerOf("back")).failure).toMatchObject(expected);
    expect((await rooms.submit(again, callerOf("back"))).failure).toMatchObject(expected);
    expect(rooms.call({ ...again, input: { n: 2 } }, callerOf("back")).answers).toBe(0);
  });

  test("naming the agent does not hide one, and handing on to another agent is none", async () => {
    const other = await rooms.join(card("front-2", ["plan"]));
    rooms.call({ capability: "plan", input: { n: 1 }, target: { agentId: "front" } });
    const parent = front.link.next();
    const again = { capability: "plan", input: { n: 1 }, parentId: parent.message.messageId };
    expect(rooms.call(again, callerOf("front")).failure.code).toBe("LOOP_DETECTED");
    expect(rooms.call({ ...again, target: { agentId: "front" } }, callerOf("front")).failure.code).toBe(
      "LOOP_DETECTED",
    );
    expect(rooms.call({ ...again, target: { agentId: "front-2" } }, callerOf("front")).answers).toBe(0);
    expect(other.link.waiting).toBe(1);
  });

  test("seventeen calls within each other are one too many", async () => {
    let parentId: string | undefined;
    for (let depth = 0; depth <= 16; depth++) {
      const reply = rooms.call({ capability: "other", input: { depth }, ...(parentId && { parentId }) });
      expect([depth, reply.answers]).toEqual([depth, 0]);
      parentId = front.link.deliveries.at(-1)!.message.messageId;
    }
    expect(rooms.call({ capability: "other", input: { depth: 17 }, parentId: parentId! }).failure).toMatchObject({
      code: "LOOP_DETECTED",
      details: { hopsMax: 16 },
    });
  });
});
