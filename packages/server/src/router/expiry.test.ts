import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import type { Expiry } from "../ports/delivery.js";

const connect: Expiry = { phase: "connect", limitMs: 500 };
const firstByte: Expiry = { phase: "first byte", limitMs: 1000 };
const total: Expiry = { phase: "total", limitMs: 4000 };

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
/** An agent behind an endpoint. */
const join = (id = "a1"): Promise<FakeAgent> =>
  rooms.join(card(id, ["query", { name: "safe", idempotent: true }, { name: "slow", timeoutHintMs: 60_000 }]), {
    link: new FakeLink("http"),
  });
const verdict = ({ failure }: FakeReply) => [failure.code, failure.outcome, failure.retryable];
const holder = (agents: FakeAgent[]): FakeAgent => agents.find((a) => a.link.waiting > 0)!;
const submit = async (capability = "query", more = {}): Promise<string> =>
  String((await rooms.submit({ capability, ...more })).results[0]?.["messageId"]);

describe("RES-10: a call to an endpoint whose time is up", () => {
  test("while it was connected to was not executed, and the error names the phase", async () => {
    const agent = await join();
    const reply = rooms.call({ capability: "query" });
    agent.link.next().refuse("UNAVAILABLE", undefined, connect);
    expect(verdict(reply)).toEqual(["UNAVAILABLE", "not_executed", true]);
    expect(reply.failure.message).toMatch(/a1 could not be connected to within 500 ms \(phase: connect\)/);
    expect(reply.failure.details).toMatchObject(connect);
  });

  test("while it was connected to goes to somebody else, idempotent or not", async () => {
    const agents = [await join("a1"), await join("a2")];
    const reply = rooms.call({ capability: "query" });
    holder(agents).link.next().refuse("UNAVAILABLE", undefined, connect);
    holder(agents).link.next().complete("from the second");
    expect(reply.data).toBe("from the second");
  });

  test("before the first byte ends at once, unknown, with the phase and the remedy", async () => {
    const agent = await join();
    const reply = rooms.call({ capability: "query" });
    agent.link.next().lose(firstByte);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", false]);
    expect(reply.failure.message).toMatch(/within 1000 ms \(phase: first byte\).*202.*timeoutHintMs/);
    expect(reply.failure.details).toMatchObject(firstByte);
    expect(agent.instance.running).toBe(0);
  });

  test("before the first byte goes to somebody else where that does no harm", async () => {
    const agents = [await join("a1"), await join("a2")];
    const reply = rooms.call({ capability: "safe" });
    holder(agents).link.next().lose(firstByte);
    holder(agents).link.next().complete("from the second");
    expect(reply.data).toBe("from the second");
  });

  test("in all ends, unknown, and goes to nobody else: there is no time left", async () => {
    const agents = [await join("a1"), await join("a2")];
    const reply = rooms.call({ capability: "safe", timeoutMs: 4_000 });
    holder(agents).link.next().lose(total);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", true]);
    expect(reply.failure.details).toMatchObject(total);
    expect(reply.failure.message).toMatch(/\(phase: total\)/);
    expect(holder(agents)).toBeUndefined();
  });

  test("in all names the same phase when the node's own clock is quicker than the request's", async () => {
    await join();
    const reply = rooms.call({ capability: "query", timeoutMs: 4_000 });
    await rooms.pass(4_010);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", false]);
    expect(reply.failure.details).toMatchObject({ phase: "total" });
  });

  test("counts for the breaker, but for the total of a caller in a greater hurry than the work usually takes", async () => {
    const agent = await join();
    const { breaker, measured } = agent.instance.offers[0]!;
    for (let i = 0; i < 5; i++) measured.success(8_000, rooms.system.monotonic());
    const expire = (expiry: Expiry) => {
      rooms.call({ capability: "query" });
      agent.link.next().lose(expiry);
      return breaker.lastFailure;
    };
    expect(expire(total)).toBeUndefined();
    expect(expire(firstByte)).toBe("LOST");
  });

  test("is sent with what remains, which is the caller's time, else the card's, else the node's", async () => {
    const agent = await join();
    rooms.call({ capability: "slow", timeoutMs: 700 });
    rooms.call({ capability: "slow" });
    rooms.call({ capability: "query" });
    expect(agent.link.deliveries.map((d) => [d.message.timeoutMs, d.message.hintMs])).toEqual([
      [700, 60_000],
      [60_000, 60_000],
      [30_000, undefined],
    ]);
  });

  test("DLV-3: is not given up as unacknowledged while its card says that the work takes longer", async () => {
    const agent = await join();
    const slow = rooms.call({ capability: "slow" });
    const quick = rooms.call({ capability: "query", timeoutMs: 60_000 });
    const [delivery] = agent.link.deliveries;
    await rooms.pass(31_000);
    expect(verdict(quick)).toEqual(["DELIVERY_TIMEOUT", "unknown", false]);
    delivery!.complete("worth waiting for");
    expect(slow.data).toBe("worth waiting for");
  });
});

describe("RES-10: a task for an endpoint whose time is up", () => {
  test.each([
    ["refuse", connect, "UNAVAILABLE", /phase: connect/],
    ["lose", firstByte, "DELIVERY_TIMEOUT", /phase: first byte.*requeue it with/],
    ["lose", total, "DELIVERY_TIMEOUT", /phase: total.*requeue it with/],
  ] as const)(
    "goes out again with the usual waits (%s, %j), and the dead letter names the phase",
    async (way, expiry, code, words) => {
      const agent = await join();
      const id = await submit();
      for (let tries = 1; tries <= 4; tries++) {
        const delivery = agent.link.next();
        expect(delivery.attempt).toBe(tries);
        if (way === "lose") delivery.lose(expiry);
        else delivery.refuse("UNAVAILABLE", undefined, expiry);
        rooms.registry.renew(agent.instance);
        await rooms.pass(20_000);
      }
      const { state, error } = await rooms.task(id);
      expect([state, error?.code]).toEqual(["dead", code]);
      expect(error?.message).toMatch(words);
      expect(error?.details).toMatchObject(expiry);
      expect(rooms.trouble).toEqual([]);
    },
  );

  test("DLV-19: is not sent again once its outcome is unknown, if it was to be delivered at most once", async () => {
    const agent = await join();
    const id = await submit("query", { delivery: "atMostOnce" });
    agent.link.next().lose(firstByte);
    await rooms.pass(20_000);
    expect(await rooms.state(id)).toBe("stalled");
    expect(agent.link.waiting).toBe(0);
  });

  test("is waited for as long as its acknowledgement may take, its own time and its deadline", async () => {
    const agent = await join();
    await submit();
    await submit("slow");
    await submit("query", { timeoutMs: 700 });
    await submit("query", { deadlineMs: 900 });
    expect(agent.link.deliveries.map((d) => d.message.timeoutMs)).toEqual([30_000, 60_000, 700, 900]);
  });
});
