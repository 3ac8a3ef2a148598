import { describe, expect, test } from "vitest";
import type { FakeDelivery } from "../../../../test/kit/fake-link.js";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import {
  anyone,
  callerOf,
  card,
  type FakeAgent,
  FakeRooms,
  type RoomsOptions,
} from "../../../../test/kit/fake-rooms.js";

const open = (limits: RoomsOptions["limits"] = {}, more: RoomsOptions = {}) => FakeRooms.open({ limits, ...more });
const large = (rooms: FakeRooms, id = "a1", capabilities = ["query"]): Promise<FakeAgent> =>
  rooms.join(card(id, capabilities, { maxConcurrentTasks: 10_000 }));
const send = (rooms: FakeRooms, count: number, who = "shop", capability = "query"): FakeReply[] =>
  Array.from({ length: count }, () => rooms.call({ capability }, callerOf(who)));
const refused = (replies: readonly FakeReply[]) => replies.filter(({ errors }) => errors.length > 0);

describe("RES-3: the bulkhead", () => {
  test("the 257th call of one caller in flight is BUSY at once, with limit, number and when to come back", async () => {
    const rooms = await open();
    await large(rooms);
    const replies = send(rooms, 257);
    expect(refused(replies)).toEqual([replies[256]]);
    expect(replies[256]!.failure).toMatchObject({
      code: "BUSY",
      outcome: "not_executed",
      retryable: true,
      retryAfterMs: expect.any(Number),
      details: { capability: "query", limit: 256, inFlight: 256 },
    });
    expect(rooms.admission.refused.share).toBe(1);
  });

  test("others, and other capabilities, go on", async () => {
    const rooms = await open({ inFlightCallsMax: 5 });
    await large(rooms, "a1", ["query", "refund"]);
    expect(refused(send(rooms, 10))).toHaveLength(5);
    expect(refused(send(rooms, 5, "desk"))).toEqual([]);
    expect(refused(send(rooms, 5, "shop", "refund"))).toEqual([]);
  });

  test("callers without a name are told apart by their sessions", async () => {
    const rooms = await open({ inFlightCallsMax: 5 });
    await large(rooms);
    const [one, two] = [
      { ...anyone, sessionId: "s1" },
      { ...anyone, sessionId: "s2" },
    ];
    const replies = [one, two].map((caller) =>
      Array.from({ length: 6 }, () => rooms.call({ capability: "query" }, caller)),
    );
    expect(replies.map((r) => refused(r).length)).toEqual([1, 1]);
  });

  test("those who wait in line count, so nobody fills the line alone", async () => {
    const rooms = await open({ inFlightCallsMax: 5 });
    await rooms.join(card("a1", ["query"], { maxConcurrentTasks: 1 }));
    expect(refused(send(rooms, 8))).toHaveLength(3);
    expect(rooms.admission.waiting("query")).toBe(4);
  });

  test("a hanging capability holds a caller to twenty after a few seconds, and is back within five when it answers", async () => {
    const rooms = await open();
    const agent = await large(rooms);
    const turns: unknown[] = [];
    rooms.journal.listen((event) => void (event.type.startsWith("bulkhead.") && turns.push(event)));
    const answerAll = () => {
      for (; agent.link.waiting > 0; ) agent.link.next().complete();
    };
    for (let i = 0; i < 200; i++) {
      send(rooms, 5);
      await rooms.pass(10);
      answerAll();
    }
    const hanging: FakeReply[] = [];
    for (let i = 0; i < 300; i++) {
      hanging.push(...send(rooms, 5));
      await rooms.pass(10);
    }
    expect(rooms.admission.heldBack()).toBe(1);
    expect(refused(hanging).length).toBe(hanging.length - 256);
    answerAll();
    expect(refused(send(rooms, 30))).toHaveLength(10);
    answerAll();
    await rooms.pass(5_000);
    expect(rooms.admission.heldBack()).toBe(0);
    expect(turns).toMatchObject([
      { type: "bulkhead.narrowed", capability: "query", limit: 128, normalMs: expect.closeTo(10, 0) },
      { type: "bulkhead.restored", capability: "query", limit: 256 },
    ]);
    expect(refused(send(rooms, 256))).toEqual([]);
  });

  test("R12: whatever a call ends by, its place is free again, once", async () => {
    const rooms = await open(
      { inFlightCallsMax: 4, queuedCallsMax: 2 },
      { delivery: { ackTimeoutMs: 300, lostGraceMs: 100 } },
    );
    const endings: ((delivery: FakeDelivery, reply: FakeReply, agent: FakeAgent) => unknown)[] = [
      (d) => d.complete(),
      (d) => d.fail(),
      (d) => d.refuse("NOT_NOW"),
      (d) => d.refuse("OVERLOADED", 60_000),
      () => undefined,
      (d) => d.accept(),
      (d) => {
        rooms.calls.cancel(callerOf("shop"), d.message.messageId, "no longer needed");
        return d.complete();
      },
      (_d, _r, agent) => rooms.cut(agent),
      (d) => {
        d.complete();
        return rooms.calls.cancel(callerOf("shop"), d.message.messageId, "too late");
      },
      (d, _r, agent) => rooms.calls.handBack(d.message.messageId, agent.registered.instanceId, d.attempt),
    ];
    for (let round = 0; round < 50; round++) {
      const ending = endings[round % endings.length]!;
      const agent = await rooms.join(card(`agent-${round}`, ["query"], { maxConcurrentTasks: 2 }));
      const replies = Array.from({ length: 10 }, () =>
        rooms.call({ capability: "query", timeoutMs: 900 }, callerOf("shop")),
      );
      expect(agent.instance.running).toBe(2);
      // Two at work, two in line, and the caller may have no more than four.
      expect(refused(replies)).toHaveLength(6);
      for (const reply of replies.slice(0, 2)) await ending(agent.link.next(), reply, agent);
      await rooms.pass(1_000);
      await rooms.registry.deregister(agent.instance, "done");
      await rooms.pass(1_000);
      expect(replies.filter(({ answers }) => answers !== 1)).toEqual([]);
      expect([agent.instance.running, rooms.calls.counts.inFlight, rooms.admission.waiting("query")]).toEqual([
        0, 0, 0,
      ]);
    }
    await rooms.join(card("last", ["query"], { maxConcurrentTasks: 10 }));
    expect(refused(send(rooms, 5))).toHaveLength(1);
  });

  test("R13: a place is taken until the last word of a call, whatever it streams before", async () => {
    const rooms = await open({ inFlightCallsMax: 1 });
    const agent = await large(rooms);
    const [first] = send(rooms, 1);
    const delivery = agent.link.next();
    delivery.accept();
    for (let percent = 0; percent < 100; percent += 10)
      rooms.calls.progress(delivery.message.messageId, undefined, JSON.stringify({ percent }));
    expect([first!.progresses.length, refused(send(rooms, 1)).length]).toEqual([10, 1]);
    await rooms.complete(agent, delivery);
    expect(refused(send(rooms, 1))).toEqual([]);
  });

  test("R15: a burst within one turn is spread by what was given out, and nobody gets more than they can take", async () => {
    const rooms = await open();
    const agents = await Promise.all(
      [1, 2, 3, 4].map((n) => rooms.join(card(`a${n}`, ["query"], { maxConcurrentTasks: 5 }))),
    );
    send(rooms, 20);
    expect(agents.map(({ instance }) => instance.running)).toEqual([5, 5, 5, 5]);
  });
});

describe("RES-4: rate limits", () => {
  test("calls and tasks count alike, and are told truly when to come back", async () => {
    const rooms = await open({ messagesPerSecPerCaller: 4 });
    await large(rooms);
    send(rooms, 2);
    for (let n = 0; n < 2; n++)
      expect((await rooms.submit({ capability: "query" }, callerOf("shop"))).errors).toEqual([]);
    const expected = { code: "RATE_LIMITED", outcome: "not_executed", retryable: true, retryAfterMs: 250 };
    const [call] = send(rooms, 1);
    expect(call!.failure).toMatchObject({ ...expected, details: { scope: "caller", perSec: 4 } });
    expect((await rooms.submit({ capability: "query" }, callerOf("shop"))).failure).toMatchObject(expected);
    expect(refused(send(rooms, 1, "desk"))).toEqual([]);
    await rooms.pass(249);
    expect(refused(send(rooms, 1))).toHaveLength(1);
    await rooms.pass(1);
    expect(refused(send(rooms, 1))).toEqual([]);
    expect(rooms.admission.refused.rate).toBe(3);
  });

  test("a call that is refused for its input or its loop spends nothing", async () => {
    const rooms = await open({ messagesPerSecPerCapability: 1 });
    await rooms.join(
      card("a1", [{ name: "query", inputSchema: { type: "object", required: ["order_id"] } }], {
        maxConcurrentTasks: 10,
      }),
    );
    expect(rooms.call({ capability: "query", input: {} }).failure.code).toBe("INVALID_INPUT");
    expect(refused([rooms.call({ capability: "query", input: { order_id: "1" } })])).toEqual([]);
    expect(rooms.call({ capability: "query", input: { order_id: "1" } }).failure.code).toBe("RATE_LIMITED");
  });

  test("a message that is repeated joins the one in flight and spends nothing", async () => {
    const rooms = await open({ messagesPerSecPerTenant: 1, inFlightCallsMax: 1 });
    await large(rooms);
    const messageId = rooms.system.newId();
    const replies = [1, 2, 3].map(() => rooms.call({ capability: "query", messageId }));
    expect(refused(replies)).toEqual([]);
  });
});

describe("RES-5: the line", () => {
  test("a call which may not go to whoever has room does not hold up those behind it", async () => {
    const rooms = await open();
    const [one, two] = [
      await rooms.join(card("a1", ["query"], { maxConcurrentTasks: 1 })),
      await rooms.join(card("a2", ["query"], { maxConcurrentTasks: 1 })),
    ];
    const messageId = rooms.system.newId();
    rooms.call({ capability: "query", messageId });
    send(rooms, 1);
    const refusing = [one, two].find(({ link }) => link.deliveries[0]!.message.messageId === messageId)!;
    refusing.link.next().refuse("NOT_NOW");
    // It waits for the other one now, who is full; the next call takes the place, and the one after that waits behind it.
    const [, last] = send(rooms, 2);
    expect(rooms.admission.waiting("query")).toBe(2);
    refusing.link.next().complete();
    await rooms.pass(0);
    refusing.link.next().complete("last");
    expect(last!.data).toBe("last");
  });

  test("DLV-6: whatever ends a call that may have been executed by its first agent, it is not told that it was not", async () => {
    const toSecond = { capability: "query", target: { agentId: "a2" } };
    const ends: ((rooms: FakeRooms, messageId: string, second: FakeAgent) => unknown)[] = [
      (rooms) => rooms.call(toSecond, callerOf("modest")),
      (rooms, messageId) => rooms.calls.cancel(callerOf("greedy"), messageId, "no longer needed"),
      (rooms, _, { instance }) => rooms.registry.deregister(instance, "done").then(() => rooms.pass(30_000)),
      (rooms) => rooms.calls.stop(),
    ];
    const codes: string[] = [];
    for (const end of ends) {
      const rooms = await open({ queuedCallsMax: 2 });
      const offer = [{ name: "query", idempotent: true }];
      const first = await rooms.join(card("a1", offer, { maxConcurrentTasks: 1 }));
      const second = await rooms.join(card("a2", offer, { maxConcurrentTasks: 1 }));
      rooms.call(toSecond, callerOf("other"));
      second.link.next().accept();
      const messageId = rooms.system.newId();
      const reply = rooms.call({ capability: "query", messageId }, callerOf("greedy"));
      first.link.next();
      rooms.call(toSecond, callerOf("greedy"));
      // Not acknowledged: it waits for the other one, who is full, and is the newest of the greedy one's in a full line.
      await rooms.pass(5_020);
      expect(rooms.admission.waiting("query")).toBe(2);
      await end(rooms, messageId, second);
      codes.push(reply.failure.code);
      expect(reply.failure.outcome).toBe("unknown");
    }
    expect(codes).toEqual(["DELIVERY_TIMEOUT", "CANCELED", "DELIVERY_TIMEOUT", "DRAINING"]);
  });

  test("whoever has to give way is told BUSY, surely not executed, and when to come back", async () => {
    const rooms = await open({ queuedCallsMax: 3 });
    await rooms.join(card("a1", ["query"], { maxConcurrentTasks: 1 }));
    const greedy = send(rooms, 4, "greedy");
    const [modest] = send(rooms, 1, "modest");
    expect(refused(greedy)).toEqual([greedy[3]]);
    expect(greedy[3]!.failure).toMatchObject({
      code: "BUSY",
      outcome: "not_executed",
      retryable: true,
      retryAfterMs: expect.any(Number),
      details: { limit: 3 },
    });
    expect([modest!.answers, rooms.admission.waiting("query")]).toEqual([0, 3]);
  });
});
