import { beforeEach, describe, expect, test } from "vitest";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});

const FAST = { name: "fast" };
const SLOW = { name: "slow" };
const join = (id: string, capability: object, more = {}): Promise<FakeAgent> =>
  rooms.join(card(id, [capability as { name: string }], more));
const ask = (more = {}): FakeReply => rooms.call({ capability: "fast", fallback: ["slow"], ...more });
const events = (messageId: string) => {
  const log = rooms.journal.find(messageId)!;
  return Array.from({ length: log.size }, (_, i) => log.typeAt(i));
};

describe("RES-9: somebody stands in", () => {
  test("when nobody offers what was asked for, and the answer says that it is degraded and who gave it", async () => {
    const stand = await join("stand", SLOW);
    const reply = ask();
    expect(JSON.parse(stand.link.deliveries[0]!.message.envelope)).toMatchObject({ capability: "slow" });
    stand.link.next().complete("good enough");
    expect(reply.results[0]).toMatchObject({ data: "good enough", degraded: true, agentId: "stand" });
  });

  test("not while those it is for are able, and then nothing is degraded", async () => {
    const first = await join("first", FAST);
    const stand = await join("stand", SLOW);
    const reply = ask();
    first.link.next().complete("best");
    expect(reply.results[0]?.["degraded"]).toBeUndefined();
    expect(stand.link.deliveries).toHaveLength(0);
  });

  test("when all are busy; and if nobody who may stand in is free either, it waits for those it is for", async () => {
    const first = await join("first", FAST, { maxConcurrentTasks: 1 });
    const stand = await join("stand", SLOW, { maxConcurrentTasks: 1 });
    ask();
    const second = ask();
    const third = ask();
    expect([first.link.waiting, stand.link.waiting]).toEqual([1, 1]);
    stand.link.next().complete("from the stand-in");
    expect(second.results[0]?.["degraded"]).toBe(true);
    first.link.next().complete("done");
    await rooms.pass(0);
    first.link.next().complete("from the first");
    expect(third.results[0]).toMatchObject({ data: "from the first", agentId: "first" });
  });

  test("when the breaker of all is open", async () => {
    const first = await join("first", FAST);
    const stand = await join("stand", SLOW);
    first.link.handler = (delivery) => delivery.refuse("UNAVAILABLE");
    for (let i = 0; i < 40; i++) rooms.call({ capability: "fast" });
    expect(first.instance.offers[0]!.breaker.state).toBe("open");
    const reply = ask();
    stand.link.next().complete("ok");
    expect(reply.results[0]?.["degraded"]).toBe(true);
  });

  test("when all refuse", async () => {
    const first = await join("first", FAST);
    const stand = await join("stand", SLOW);
    const reply = ask();
    first.link.next().refuse("NOT_NOW");
    stand.link.next().complete("ok");
    expect(reply.results[0]?.["degraded"]).toBe(true);
  });

  test("after a business error that is listed, and after no other; what the first said is the last word if nobody can", async () => {
    const first = await join("first", FAST);
    const stand = await join("stand", SLOW);
    const unlisted = ask({ fallbackOn: ["OUT_OF_STOCK"] });
    first.link.next().fail({ code: "NO_SUCH_ORDER", message: "no" });
    expect(unlisted.failure.code).toBe("AGENT_ERROR");
    expect(stand.link.deliveries).toHaveLength(0);
    const listed = ask({ fallbackOn: ["OUT_OF_STOCK"] });
    first.link.next().fail({ code: "OUT_OF_STOCK", message: "none left" });
    stand.link.next().complete("from another shop");
    expect(listed.results[0]).toMatchObject({ data: "from another shop", degraded: true });
    const inVain = ask({ fallbackOn: ["OUT_OF_STOCK"] });
    first.link.next().fail({ code: "OUT_OF_STOCK", message: "none left" });
    stand.link.next().refuse("NOT_NOW");
    expect(inVain.failure).toMatchObject({ code: "AGENT_ERROR", outcome: "executed" });
    // The first is not asked a second time for what it has done.
    expect(first.link.waiting).toBe(0);
  });

  test("not when the outcome is unknown and a second execution might do harm", async () => {
    const first = await join("first", FAST);
    const stand = await join("stand", SLOW);
    const reply = ask({ timeoutMs: 60_000 });
    expect(first.link.waiting).toBe(1);
    await rooms.pass(20_000);
    expect(reply.failure).toMatchObject({ code: "DELIVERY_TIMEOUT", outcome: "unknown" });
    expect(stand.link.deliveries).toHaveLength(0);
  });

  test("when an idempotent one gives no sign, within the deadline of the call", async () => {
    const first = await join("first", { ...FAST, idempotent: true });
    const stand = await join("stand", SLOW);
    const reply = ask({ timeoutMs: 60_000 });
    expect(first.link.waiting).toBe(1);
    await rooms.pass(6_000);
    const { message } = stand.link.deliveries[0]!;
    expect(JSON.parse(message.envelope).timeoutMs).toBeLessThan(60_000);
    stand.link.next().complete("ok");
    expect(reply.results[0]?.["degraded"]).toBe(true);
  });

  test("in the order of the list, by agent as well as by capability, passing over whoever cannot take the input", async () => {
    const needsMore = { ...SLOW, inputSchema: { type: "object", required: ["more"] } };
    await join("stand", needsMore);
    const other = await join("other", { name: "by-hand" });
    const reply = ask({ fallback: ["slow", "nobody-at-all", "other"] });
    other.link.next().complete("by hand");
    expect(reply.results[0]).toMatchObject({ agentId: "other", degraded: true });
  });

  test("by the card's own word, where the caller says nothing", async () => {
    const first = await join("first", { ...FAST, fallback: ["slow"], fallbackOn: ["OUT_OF_STOCK"] });
    const stand = await join("stand", SLOW);
    const reply = rooms.call({ capability: "fast" });
    first.link.next().fail({ code: "OUT_OF_STOCK", message: "none left" });
    stand.link.next().complete("ok");
    expect(reply.results[0]?.["degraded"]).toBe(true);
    const wanted = rooms.call({ capability: "fast", fallback: [] });
    first.link.next().fail({ code: "OUT_OF_STOCK", message: "none left" });
    expect(wanted.failure.code).toBe("AGENT_ERROR");
  });

  test("and the record tells why and who, and nothing is left over", async () => {
    const stand = await join("stand", SLOW);
    const messageId = rooms.system.newId();
    const reply = ask({ messageId });
    stand.link.next().complete("ok");
    expect(reply.answers).toBe(1);
    expect(events(messageId)).toEqual(["received", "fallback", "decision", "delivered", "completed"]);
    expect(rooms.calls.counts.inFlight).toBe(0);
    const again = ask({ messageId });
    expect(again.results[0]?.["degraded"]).toBe(true);
  });

  test("never in a ring: whoever works on it already in the same chain is passed over", async () => {
    const stand = await join("stand", SLOW);
    rooms.call({ capability: "slow" });
    const reply = ask({ parentId: stand.link.deliveries[0]!.message.messageId });
    expect(reply.failure.code).toBe("NO_ROUTE");
  });
});
