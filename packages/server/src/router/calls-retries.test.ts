import { beforeEach, describe, expect, test } from "vitest";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import type { Decision } from "./decision.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open({ breaker: { enabled: false } });
});
const safe = { name: "safe", idempotent: true };
const join = (id: string, more = {}): Promise<FakeAgent> => rooms.join(card(id, ["query", safe], more));
const verdict = ({ failure }: FakeReply) => [failure.code, failure.outcome, failure.retryable];
const sentTo = (...agents: FakeAgent[]) => agents.reduce((n, { link }) => n + link.deliveries.length, 0);
const decisions = (messageId: string) => {
  const log = rooms.journal.find(messageId)!;
  const all = Array.from({ length: log.size }, (_, i) => [log.typeAt(i), log.detailAt(i)] as const);
  return all.filter(([type]) => type === "decision").map(([, detail]) => (detail as Decision).toShape());
};

describe("RES-2: another attempt of a call", () => {
  test("goes to the least loaded of the others, not to the best by score", async () => {
    const first = await join("first");
    const reply = rooms.call({ capability: "query" });
    const busy = await join("busy", { maxConcurrentTasks: 20 });
    const idle = await join("idle");
    busy.instance.offers[0]!.measured.success(1, rooms.system.monotonic());
    idle.instance.offers[0]!.measured.success(5_000, rooms.system.monotonic());
    for (let i = 0; i < 5; i++) rooms.admission.take(busy.instance);
    first.link.next().refuse("NOT_NOW");
    idle.link.next().complete("from the idle one");
    expect(reply.data).toBe("from the idle one");
  });

  test("R01: of hundreds of calls that all fail, the agents see the calls and the budget, and not a multiple", async () => {
    const agents = [await join("a"), await join("b"), await join("c"), await join("d")];
    for (const { link } of agents) link.handler = (delivery) => delivery.refuse("BROKEN");
    const calls = 400;
    for (let i = 0; i < calls; i++) expect(verdict(rooms.call({ capability: "query" }))[1]).toBe("not_executed");
    expect(sentTo(...agents)).toBeLessThanOrEqual(calls + 0.1 * calls + 100);
    // Without a budget each would have tried three of them.
    expect(sentTo(...agents)).toBeGreaterThan(calls);
    expect(agents.map(({ instance }) => instance.running)).toEqual([0, 0, 0, 0]);
  });

  test("R01: in a chain of three only the hop that fails tries again, and each of its tries counts", async () => {
    const c = [await rooms.join(card("c1", ["c"])), await rooms.join(card("c2", ["c"]))];
    for (const { link } of c) link.handler = (delivery) => delivery.refuse("BROKEN");
    // A passes the failure of B on as its own business error, and so does B with C's.
    const pass = (to: string) => (delivery: FakeAgent["link"]["deliveries"][number]) => {
      const reply = rooms.call({ capability: to, parentId: delivery.message.messageId });
      delivery.fail({ code: reply.failure.code, message: "no luck downstream" });
    };
    const b = [await rooms.join(card("b1", ["b"])), await rooms.join(card("b2", ["b"]))];
    const a = await rooms.join(card("a1", ["a"]));
    for (const { link } of b) link.handler = pass("c");
    a.link.handler = pass("b");
    const reply = rooms.call({ capability: "a" });
    expect(reply.failure.code).toBe("AGENT_ERROR");
    expect([sentTo(a), sentTo(...b), sentTo(...c)]).toEqual([1, 1, 2]);
  });

  test("over the budget ends in what the last attempt ended in, and the record says that the budget was spent", async () => {
    const one = await join("one");
    const two = await join("two");
    while (rooms.calls.retryBudget.take(rooms.system.monotonic()));
    const messageId = rooms.system.newId();
    const reply = rooms.call({ capability: "query", messageId });
    const [holder] = [one, two].filter(({ link }) => link.waiting > 0);
    holder!.link.next().refuse("NOT_NOW");
    expect(verdict(reply)).toEqual(["UNAVAILABLE", "not_executed", true]);
    expect(sentTo(one, two)).toBe(1);
    const told = rooms.journal.find(messageId)!.detailOf(["not_retried"]);
    expect(told).toEqual({ reason: "the retry budget is spent", after: "refused" });
  });

  test("of an idempotent call over the budget is none: unacknowledged it fails, lost it may still be answered", async () => {
    const one = await join("one");
    const spend = () => {
      while (rooms.calls.retryBudget.take(rooms.system.monotonic()));
    };
    const unheard = rooms.call({ capability: "safe" });
    one.link.next();
    const two = await join("two");
    await rooms.pass(4_900);
    spend();
    await rooms.pass(200);
    expect(verdict(unheard)).toEqual(["DELIVERY_TIMEOUT", "unknown", true]);
    const lost = rooms.call({ capability: "safe", target: { agentId: "one" } });
    const delivery = one.link.next();
    delivery.accept();
    spend();
    await rooms.cut(one);
    expect(lost.answers).toBe(0);
    const back = await rooms.join(card("one", ["query", safe]), one.registered);
    await rooms.complete(back, delivery, "kept");
    expect(lost.data).toBe("kept");
    expect(sentTo(two)).toBe(0);
  });

  test("DLV-8: after an agent that drains is not counted, so that a rolling restart costs no caller an error", async () => {
    const leaving = await join("leaving", { maxConcurrentTasks: 500 });
    const replies = Array.from({ length: 240 }, () => rooms.call({ capability: "query" }));
    const next = await join("next", { maxConcurrentTasks: 500 });
    for (const delivery of leaving.link.deliveries) delivery.refuse("DRAINING");
    for (const delivery of next.link.deliveries) delivery.complete("from the next");
    expect(replies.map(({ data }) => data)).toEqual(replies.map(() => "from the next"));
    expect(rooms.calls.retryBudget.counts).toEqual({ granted: 0, denied: 0 });
  });

  test("spends nothing of the budget when there is nobody to go to", async () => {
    const only = await join("only");
    only.link.handler = (delivery) => delivery.refuse("NOT_NOW");
    for (let i = 0; i < 500; i++) rooms.call({ capability: "query" });
    await join("other");
    const reply = rooms.call({ capability: "query", target: { agentId: "other" } });
    expect(reply.answers).toBe(0);
    expect(rooms.calls.retryBudget.take(rooms.system.monotonic())).toBe(true);
    expect(rooms.calls.retryBudget.counts.denied).toBe(0);
  });
});

describe("ROUTE-7: the record of an attempt", () => {
  test("says what the one before ended in, and whether and why the instance changed", async () => {
    const one = await join("one");
    const messageId = rooms.system.newId();
    rooms.call({ capability: "query", messageId });
    const two = await join("two");
    one.link.next().refuse("NOT_NOW");
    two.link.next().complete();
    const [first, second] = decisions(messageId);
    expect(first).not.toHaveProperty("previous");
    const { instanceId } = one.registered;
    expect(second!.previous).toEqual({
      attempt: 1,
      agentId: "one",
      instanceId,
      outcome: "refused",
      code: "NOT_NOW",
      moved: true,
      verdict: "cool_down",
    });
  });

  test("tells of an idempotent call that its instance was lost", async () => {
    const one = await join("one");
    const messageId = rooms.system.newId();
    rooms.call({ capability: "safe", messageId });
    const two = await join("two");
    await rooms.cut(one);
    two.link.next().complete();
    expect(decisions(messageId)[1]!.previous).toMatchObject({
      attempt: 1,
      agentId: "one",
      outcome: "lost",
      moved: true,
      verdict: "suspect",
    });
  });

  test("tells of a task that the same instance got it again", async () => {
    const one = await join("one");
    const reply = await rooms.submit({ capability: "query" });
    const messageId = String(reply.results[0]!["messageId"]);
    one.link.next();
    await rooms.pass(7_000);
    expect(one.link.next().attempt).toBe(2);
    expect(decisions(messageId)[1]!.previous).toMatchObject({
      attempt: 1,
      outcome: "no_ack",
      moved: false,
      verdict: "chosen",
    });
  });
});
