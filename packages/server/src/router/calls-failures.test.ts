import { beforeEach, describe, expect, test } from "vitest";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const safe = { name: "safe", idempotent: true };
const join = (id: string, more = {}): Promise<FakeAgent> => rooms.join(card(id, ["query", safe], more));
const fleet = async (n: number): Promise<FakeAgent[]> => {
  const agents: FakeAgent[] = [];
  for (let i = 0; i < n; i++) agents.push(await join(`a${i}`));
  return agents;
};
/** Whoever has got a delivery that no test has looked at. */
const holder = (agents: FakeAgent[]): FakeAgent => {
  const found = agents.find((a) => a.link.waiting > 0);
  if (found === undefined) throw new Error("nobody got anything");
  return found;
};
const noSlots = (agents: FakeAgent[]): void =>
  expect(agents.map((a) => a.instance.running)).toEqual(agents.map(() => 0));
const verdict = ({ failure }: FakeReply) => [failure.code, failure.outcome, failure.retryable];

describe("C2: a refusal, which executed nothing", () => {
  test("sends the call to somebody else", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "query" });
    const first = holder(agents);
    first.link.next().refuse("DRAINING");
    const second = holder(agents);
    expect(second).not.toBe(first);
    const delivery = second.link.next();
    expect(delivery.attempt).toBe(2);
    delivery.complete("from the second");
    expect(reply.data).toBe("from the second");
    noSlots(agents);
  });

  test("three of them are enough", async () => {
    const agents = await fleet(5);
    const reply = rooms.call({ capability: "query" });
    for (let i = 0; i < 3; i++) holder(agents).link.next().refuse("NOT_NOW");
    expect(verdict(reply)).toEqual(["UNAVAILABLE", "not_executed", true]);
    expect(agents.reduce((n, a) => n + a.link.deliveries.length, 0)).toBe(3);
    noSlots(agents);
  });

  test("of everybody there is ends it at once, with what they said", async () => {
    const agents = await fleet(1);
    const reply = rooms.call({ capability: "query" });
    agents[0]!.link.next().refuse("OVERLOADED", 700);
    expect(verdict(reply)).toEqual(["OVERLOADED", "not_executed", true]);
    expect(reply.failure.retryAfterMs).toBe(700);
  });

  test("of an overloaded agent leaves it alone for as long as it asked", async () => {
    const agents = await fleet(1);
    rooms.call({ capability: "query" });
    agents[0]!.link.next().refuse("OVERLOADED", 700);
    const patient = rooms.call({ capability: "query" });
    const hasty = rooms.call({ capability: "query", timeoutMs: 300 });
    expect(verdict(hasty)).toEqual(["OVERLOADED", "not_executed", true]);
    expect(agents[0]!.link.waiting).toBe(0);
    await rooms.pass(750);
    agents[0]!.link.next().complete("rested");
    expect(patient.data).toBe("rested");
  });

  test("while another is full makes it wait for that one", async () => {
    const small = await join("small", { maxConcurrentTasks: 1 });
    const one = rooms.call({ capability: "query" });
    const big = await join("big");
    const two = rooms.call({ capability: "query" });
    big.link.next().refuse("DRAINING");
    expect(two.answers).toBe(0);
    small.link.next().complete("first");
    expect(one.data).toBe("first");
    await rooms.pass(0);
    small.link.next().complete("second");
    expect(two.data).toBe("second");
  });

  test("a draining agent that hands back what it has not begun is one that refuses", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "query" });
    const first = holder(agents);
    const delivery = first.link.next();
    delivery.accept();
    rooms.calls.handBack(delivery.message.messageId, first.registered.instanceId, 1);
    holder(agents).link.next().complete("elsewhere");
    expect(reply.data).toBe("elsewhere");
    noSlots(agents);
  });
});

describe("DLV-3: no acknowledgement", () => {
  test("leaves the outcome unknown, and is not tried again where that could do harm", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "query" });
    const delivery = holder(agents).link.next();
    await rooms.pass(4_990);
    expect(reply.answers).toBe(0);
    await rooms.pass(20);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", false]);
    expect(agents.reduce((n, a) => n + a.link.deliveries.length, 0)).toBe(1);
    noSlots(agents);
    delivery.complete("late");
    expect(reply.answers).toBe(1);
    noSlots(agents);
  });

  test("DLV-6: of an idempotent capability is tried once more with somebody else, and never a third time", async () => {
    const agents = await fleet(3);
    const reply = rooms.call({ capability: "safe" });
    const first = holder(agents);
    first.link.next();
    await rooms.pass(5_010);
    const second = holder(agents);
    expect(second).not.toBe(first);
    expect(second.link.next().attempt).toBe(2);
    await rooms.pass(5_010);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", true]);
    expect(agents.reduce((n, a) => n + a.link.deliveries.length, 0)).toBe(2);
    noSlots(agents);
  });

  test("DLV-14: a business error of the second try ends the call, and the first is told to stop", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "safe" });
    const first = holder(agents);
    const { messageId } = first.link.next().message;
    await rooms.pass(5_010);
    const second = holder(agents);
    second.link.next().fail();
    expect(verdict(reply)).toEqual(["AGENT_ERROR", "executed", false]);
    expect([first.link.cancels, second.link.cancels]).toMatchObject([[{ messageId, attempt: 1 }], []]);
    noSlots(agents);
  });

  test("a refusal of the second try does not say that the first did nothing", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "safe" });
    holder(agents).link.next();
    await rooms.pass(5_010);
    const second = holder(agents);
    second.link.next().refuse("OVERLOADED", 60_000);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", true]);
    noSlots(agents);
  });

  test("an acceptance that comes when the call is over leaves nothing behind", async () => {
    const [agent] = await fleet(1);
    rooms.call({ capability: "query", timeoutMs: 100 });
    const delivery = agent!.link.next();
    await rooms.pass(120);
    delivery.accept();
    expect(agent!.instance.held.size).toBe(0);
  });

  test("the second try ends with the deadline too, when that comes before its acknowledgement is due", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "safe", timeoutMs: 8_000 });
    await rooms.pass(5_010);
    expect(agents.map((a) => a.link.deliveries.length)).toEqual([1, 1]);
    await rooms.pass(3_010);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", true]);
    noSlots(agents);
  });

  test("a try after a refusal has its whole time to be acknowledged", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "query", timeoutMs: 8_000 });
    await rooms.pass(4_000);
    holder(agents).link.next().refuse("NOT_NOW");
    await rooms.pass(3_900);
    expect(reply.answers).toBe(0);
    holder(agents).link.next().complete("in time");
    expect(reply.data).toBe("in time");
  });

  test("C3: the success of the first try settles the call while the second runs, and that is cancelled", async () => {
    const agents = await fleet(2);
    const reply = rooms.call({ capability: "safe" });
    const first = holder(agents);
    const slow = first.link.next();
    await rooms.pass(5_010);
    const second = holder(agents);
    const quick = second.link.next();
    quick.accept();
    slow.complete("from the first");
    expect(reply.data).toBe("from the first");
    expect(second.link.cancels).toMatchObject([{ attempt: 2 }]);
    expect(await rooms.complete(second, quick, "late")).toBe("SETTLED");
    expect(reply.answers).toBe(1);
    noSlots(agents);
  });

  test("DLV-17: failure, refusal and acceptance of the first try count no more while the second runs", async () => {
    for (const word of ["fail", "refuse", "accept"] as const) {
      rooms = await FakeRooms.open();
      const agents = await fleet(2);
      const reply = rooms.call({ capability: "safe" });
      const slow = holder(agents).link.next();
      await rooms.pass(5_010);
      if (word === "refuse") slow.refuse("NOT_NOW");
      else slow[word]();
      expect(reply.answers).toBe(0);
      holder(agents).link.next().complete("from the second");
      expect(reply.data).toBe("from the second");
      noSlots(agents);
    }
  });

  test("where nobody else is there, the first may still answer until the deadline", async () => {
    const [only] = await fleet(1);
    const early = rooms.call({ capability: "safe", timeoutMs: 10_000 });
    const never = rooms.call({ capability: "safe", timeoutMs: 10_000 });
    const delivery = only!.link.next();
    await rooms.pass(7_000);
    delivery.complete("slow");
    expect(early.data).toBe("slow");
    await rooms.pass(3_100);
    expect(verdict(never)).toEqual(["DELIVERY_TIMEOUT", "unknown", true]);
    expect(rooms.admission.waiting("safe")).toBe(0);
    noSlots([only!]);
  });
});

describe("no result by the deadline", () => {
  test("of what was received is TIMEOUT, and whether it may be repeated depends on the capability", async () => {
    const [agent] = await fleet(1);
    const replies = ["query", "safe"].map((capability) => rooms.call({ capability, timeoutMs: 9_000 }));
    for (const delivery of agent!.link.deliveries) delivery.accept();
    await rooms.pass(9_010);
    expect(replies.map(verdict)).toEqual([
      ["TIMEOUT", "unknown", false],
      ["TIMEOUT", "unknown", true],
    ]);
    expect(agent!.link.cancels).toHaveLength(2);
    noSlots([agent!]);
  });
});

describe("an instance that is lost with the call in its hands", () => {
  test("has a moment to come back with the result (DLV-11)", async () => {
    const agent = await join("a1");
    const reply = rooms.call({ capability: "query" });
    const delivery = agent.link.next();
    delivery.accept();
    await rooms.cut(agent);
    await rooms.pass(1_500);
    expect(reply.answers).toBe(0);
    const back = await rooms.join(card("a1", ["query", safe]), agent.registered);
    expect(await rooms.complete(back, delivery, "kept")).toBe("recorded");
    expect(reply.data).toBe("kept");
    noSlots([back]);
  });

  test("and does not: the caller hears what is known, acknowledged or not", async () => {
    const agent = await join("a1");
    const received = rooms.call({ capability: "query" });
    agent.link.next().accept();
    const unheard = rooms.call({ capability: "query" });
    await rooms.cut(agent);
    await rooms.pass(2_020);
    expect(verdict(received)).toEqual(["TIMEOUT", "unknown", false]);
    expect(verdict(unheard)).toEqual(["DELIVERY_TIMEOUT", "unknown", false]);
    noSlots([agent]);
  });

  test("DLV-6: an idempotent call goes to somebody else at once, once", async () => {
    const agents = await fleet(3);
    const reply = rooms.call({ capability: "safe" });
    const first = holder(agents);
    first.link.next().accept();
    await rooms.cut(first);
    const second = holder(agents);
    second.link.next();
    await rooms.cut(second);
    await rooms.pass(2_020);
    expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", true]);
    expect(agents.reduce((n, a) => n + a.link.deliveries.length, 0)).toBe(2);
    noSlots(agents);
  });
});

test("`complete` knows its attempt and its instance, and nobody else's", async () => {
  const [one, two] = (await fleet(2)) as [FakeAgent, FakeAgent];
  rooms.call({ capability: "query", target: { agentId: "a0" } });
  const delivery = one.link.next();
  delivery.accept();
  expect(await rooms.complete(two, delivery)).toBe("STALE_ATTEMPT");
  const { messageId } = delivery.message;
  const finish = () => {
    throw new Error("nothing to finish");
  };
  expect(rooms.calls.complete(messageId, one.registered.instanceId, 2, finish)).toBe("STALE_ATTEMPT");
  expect(
    rooms.calls.complete("0199a5c2-6f0e-7c11-9b1e-999999999999", one.registered.instanceId, 1, finish),
  ).toBeUndefined();
  expect(await rooms.complete(one, delivery)).toBe("recorded");
});
