import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FakeDelivery } from "../../../../test/kit/fake-link.js";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { anyone, callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import type { Children } from "./children.js";

let rooms: FakeRooms;
let front: FakeAgent;
let back: FakeAgent;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  front = await rooms.join(card("front", ["plan"], { maxConcurrentTasks: 50 }));
  back = await rooms.join(card("back", ["query", { name: "safe", idempotent: true }], { maxConcurrentTasks: 50 }));
});
// Whatever a test did: nothing is held for messages that have ended, and nothing else is in flight.
afterEach(async () => {
  await rooms.leap(600_000);
  expect([rooms.calls.counts.inFlight, parents(), back.instance.running, rooms.trouble]).toEqual([0, 0, 0, []]);
});

/** How many messages are known to have calls in flight that are part of them. */
const parents = () => (rooms.calls as unknown as { endings: { children: Children<never> } }).endings.children.size;

/** A call in the hands of an agent. */
interface InHands {
  reply: FakeReply;
  delivery: FakeDelivery;
  messageId: string;
}
function handedTo({ link }: FakeAgent, reply: FakeReply): InHands {
  const delivery = link.next();
  return { reply, delivery, messageId: delivery.message.messageId };
}
const working = () => handedTo(front, rooms.call({ capability: "plan", input: { n: front.link.deliveries.length } }));
/** A call for the sake of another message. */
const nested = (parentId: string, more = {}) =>
  handedTo(back, rooms.call({ capability: "query", parentId, ...more }, callerOf("front")));
const canceled = (agent: FakeAgent) => agent.link.cancels.map(({ messageId }) => messageId);
const task = async (more = {}) => {
  const submitted = await rooms.submit({ capability: "plan", ...more });
  front.link.next().accept();
  await rooms.pass(1);
  return String(submitted.results[0]!["messageId"]);
};

describe("RES-3: what is open for the sake of a call ends with it", () => {
  const endings: [string, string | undefined, (of: InHands) => void | Promise<void>][] = [
    ["canceled by its caller", "CANCELED", ({ messageId }) => void rooms.calls.cancel(anyone, messageId, "never mind")],
    ["answered", undefined, ({ delivery }) => void delivery.complete()],
    ["answered with a business error", "AGENT_ERROR", ({ delivery }) => void delivery.fail()],
    [
      "answered with a result that is too large",
      "PAYLOAD_TOO_LARGE",
      ({ delivery }) => void delivery.complete("x".repeat(2 ** 20)),
    ],
    ["lost with its agent", "DELIVERY_TIMEOUT", () => rooms.cut(front).then(() => rooms.pass(2_020))],
    ["given up since the node stops", "DRAINING", () => rooms.calls.stop()],
  ];
  test.each(endings)("DLV-14: when it is %s", async (_, parentCode, end) => {
    const parent = working();
    const child = nested(parent.messageId);
    await end(parent);
    expect(parent.reply.answers).toBe(1);
    expect(child.reply.failure).toMatchObject({ code: "CANCELED", outcome: "unknown", retryable: false });
    expect(child.reply.failure.details).toEqual({ parentId: parent.messageId, ...(parentCode && { parentCode }) });
    expect(back.link.cancels).toEqual([
      { messageId: child.messageId, attempt: 1, reason: child.reply.failure.message },
    ]);
  });

  test("one that nobody has yet is told so, and nobody gets it any more", async () => {
    await rooms.join(card("narrow", ["rare"], { maxConcurrentTasks: 1 }));
    rooms.call({ capability: "rare" });
    const parent = working();
    const child = rooms.call({ capability: "rare", parentId: parent.messageId }, callerOf("front"));
    rooms.calls.cancel(anyone, parent.messageId, "never mind");
    expect([child.failure.code, child.failure.outcome]).toEqual(["CANCELED", "not_executed"]);
    expect(rooms.admission.lines().size).toBe(0);
  });

  test("one that somebody may have done before it was sent again is in doubt, and both are told", async () => {
    const parent = working();
    const child = rooms.call({ capability: "safe", parentId: parent.messageId }, callerOf("front"));
    const other = await rooms.join(card("other", ["safe"]));
    await rooms.pass(5_010);
    other.link.next().accept();
    rooms.calls.cancel(anyone, parent.messageId, "never mind");
    expect([child.failure.code, child.failure.outcome]).toEqual(["CANCELED", "unknown"]);
    const { messageId } = other.link.deliveries[0]!.message;
    expect([other.link.cancels, back.link.cancels]).toMatchObject([
      [{ messageId, attempt: 2 }],
      [{ messageId, attempt: 1 }],
    ]);
  });

  test("DLV-14: and what is open for its sake in turn, down to the last, while others go on", async () => {
    const top = working();
    const middle = nested(top.messageId);
    const beside = nested(top.messageId, { input: { n: 2 } });
    const bottom = nested(middle.messageId, { input: { n: 3 } });
    const stranger = nested(working().messageId, { input: { n: 4 } });
    rooms.calls.cancel(anyone, top.messageId, "never mind");
    expect(canceled(back)).toEqual([middle, bottom, beside].map(({ messageId }) => messageId));
    expect(bottom.reply.failure.details).toEqual({ parentId: middle.messageId, parentCode: "CANCELED" });
    stranger.delivery.complete("still wanted");
    expect(stranger.reply.data).toBe("still wanted");
  });

  test("what its agent answers to it afterwards is late, and changes nothing", async () => {
    const parent = working();
    const child = nested(parent.messageId);
    parent.delivery.complete();
    child.delivery.complete("too late");
    expect([child.reply.answers, child.reply.failure.code]).toEqual([1, "CANCELED"]);
    expect(rooms.journal.find(child.messageId)!.lastType).toBe("late");
  });

  test("at the deadline that both have, the child's agent is the one who was too slow", async () => {
    // The one that is looked at first differs: calls wait in the slot in which they were put last.
    for (const acceptsLate of [false, true]) {
      rooms.call({ capability: "plan", timeoutMs: 4_000, input: { acceptsLate } });
      const parent = front.link.next();
      if (!acceptsLate) parent.accept();
      const child = nested(parent.message.messageId, { timeoutMs: 60_000, input: { acceptsLate } });
      child.delivery.accept();
      if (acceptsLate) parent.accept();
      await rooms.pass(4_020);
      expect([child.reply.failure.code, child.reply.failure.outcome]).toEqual(["TIMEOUT", "unknown"]);
    }
  });

  test("one that ended before is no part of it any more", async () => {
    const parent = working();
    const child = nested(parent.messageId);
    child.delivery.complete("in time");
    expect(parents()).toBe(0);
    parent.delivery.complete();
    expect([child.reply.data, child.reply.answers, back.link.cancels]).toEqual(["in time", 1, []]);
  });
});

describe("DLV-7: a nested call for which others wait too", () => {
  const key = { idempotencyKey: "once" };

  test("goes on until the last message ends that it is part of", async () => {
    const [one, two] = [working(), working()];
    const child = nested(one.messageId, key);
    const second = rooms.call({ capability: "query", parentId: two.messageId, ...key }, callerOf("front"));
    rooms.calls.cancel(anyone, one.messageId, "never mind");
    expect([child.reply.answers, canceled(back)]).toEqual([0, []]);
    rooms.calls.cancel(anyone, two.messageId, "never mind");
    expect(second.failure.details).toMatchObject({ parentId: two.messageId });
    expect(canceled(back)).toEqual([child.messageId]);
  });

  test("goes on if one of them is part of nothing", async () => {
    const parent = working();
    const child = nested(parent.messageId, key);
    const other = rooms.call({ capability: "query", ...key }, callerOf("front"));
    parent.delivery.complete();
    child.delivery.complete("for the other one");
    expect(other.data).toBe("for the other one");
  });

  test("repeated by the one who sent it, it is still part of the same", async () => {
    const parent = working();
    const child = nested(parent.messageId);
    const again = { capability: "query", messageId: child.messageId, parentId: parent.messageId };
    const repeated = rooms.call(again, callerOf("front"));
    parent.delivery.complete();
    expect([child.reply.failure.code, repeated.failure.code]).toEqual(["CANCELED", "CANCELED"]);
  });

  test("is not kept by one that is part of itself", async () => {
    const parent = working();
    const child = nested(parent.messageId, key);
    const within = nested(child.messageId, { input: { n: 2 } });
    const itself = rooms.call({ capability: "query", parentId: within.messageId, ...key }, callerOf("back"));
    // Another principal's key is another one: only the same one joins.
    const joined = rooms.call({ capability: "query", parentId: within.messageId, ...key }, callerOf("front"));
    rooms.calls.cancel(anyone, parent.messageId, "never mind");
    expect([child, within].map(({ reply }) => reply.failure.code)).toEqual(["CANCELED", "CANCELED"]);
    expect([itself, joined].map(({ failure }) => failure.code)).toEqual(["LOOP_DETECTED", "CANCELED"]);
  });
});

describe("RES-3: what is open for the sake of a task ends with it", () => {
  test("DLV-14: when it is canceled, and what is sent before its agent hears of that is refused", async () => {
    const parentId = await task();
    const child = nested(parentId);
    await rooms.tasks.cancel(anyone, parentId, "never mind");
    expect(child.reply.failure).toMatchObject({
      code: "CANCELED",
      outcome: "unknown",
      details: { parentId, parentCode: "CANCELED" },
    });
    expect(canceled(back)).toEqual([child.messageId]);
    const late = rooms.call({ capability: "query", parentId }, callerOf("front"));
    expect(late.failure).toMatchObject({ code: "CANCELED", outcome: "not_executed", details: { parentId } });
    expect(back.link.waiting).toBe(0);
  });

  test("when it is completed, and what comes later stands for itself", async () => {
    const parentId = await task();
    const child = nested(parentId);
    await rooms.complete(front, front.link.deliveries[0]!);
    expect(child.reply.failure.details).toEqual({ parentId });
    nested(parentId).delivery.complete("for itself");
  });

  test("when it fails for being overdue, at the moment at which its calls end of themselves", async () => {
    const parentId = await task({ completionTimeoutMs: 20_000, onStalled: "fail" });
    const child = nested(parentId, { timeoutMs: 60_000 });
    child.delivery.accept();
    await rooms.pass(20_300);
    expect([await rooms.state(parentId), child.reply.failure.code]).toEqual(["failed", "TIMEOUT"]);
    const late = rooms.call({ capability: "query", parentId }, callerOf("front"));
    expect(late.failure.details).toEqual({ parentId, parentCode: "TIMEOUT" });
  });

  test("not while it only goes to somebody else: it is open, and whoever had it may still have the result", async () => {
    const parentId = await task();
    const child = nested(parentId);
    await rooms.cut(front);
    await rooms.pass(2_500);
    expect(await rooms.state(parentId)).toBe("queued");
    const meanwhile = nested(parentId, { input: { n: 2 } });
    const { messageId } = child;
    const repeated = rooms.call({ capability: "query", messageId, parentId }, callerOf("front"));
    expect([child.reply.answers, repeated.answers, canceled(back)]).toEqual([0, 0, []]);
    await rooms.tasks.cancel(anyone, parentId, "never mind");
    expect([repeated.failure.code, canceled(back)]).toEqual(["CANCELED", [messageId, meanwhile.messageId]]);
  });

  test("a task that was submitted on the way goes on, and so do calls for its sake", async () => {
    const parent = working();
    const submitted = await rooms.submit({ capability: "query", parentId: parent.messageId }, callerOf("front"));
    const middle = back.link.next();
    middle.accept();
    await rooms.pass(1);
    const bottom = nested(middle.message.messageId, { input: { n: 2 } });
    rooms.calls.cancel(anyone, parent.messageId, "never mind");
    expect([bottom.reply.answers, canceled(back)]).toEqual([0, []]);
    bottom.delivery.complete();
    expect(await rooms.complete(back, middle)).toBe("recorded");
    expect(await rooms.state(submitted.results[0]!["messageId"])).toBe("completed");
  });
});
