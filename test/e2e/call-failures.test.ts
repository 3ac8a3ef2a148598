import { beforeEach, describe, expect, test } from "vitest";
import { accepted, cardOf, completed, type Handler, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, Refusal, type Wire } from "../kit/wire.js";

/** Acknowledgements are due within 300 ms here. */
const node = useNode({
  settings: { delivery: { ackTimeoutMs: 300, lostGraceMs: 200 }, limits: { queuedCallsMax: 3 } },
});
const { bare, join } = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await bare();
});
const idempotent = (more: Json = {}) => cardOf({ capability: { idempotent: true }, ...more });
const never = () => undefined;
const call = (agent: SocketAgent, more: Json = {}) =>
  caller.request("call", { capability: agent.capability, input: 1, ...more });
const refused = (agent: SocketAgent, more: Json = {}) =>
  caller.refused("call", { capability: agent.capability, input: 1, ...more });

describe("DLV-5: NO_ROUTE", () => {
  test("for a capability that nobody offers, with the nearest", async () => {
    await join({ agentId: `near-${newId()}`, capabilities: [{ name: "translate_text" }] });
    const missed = () => caller.request("discover", { capability: "translate_texts" });
    // What is near is learnt beside everything else, a moment after the agent has come.
    while ((await missed()).misses[0]?.capability !== "translate_text");
    const error = await caller.refused("call", { capability: "translate_texts", input: 1 });
    expect(error).toMatchObject({
      code: "NO_ROUTE",
      rpc: -32010,
      data: { retryable: false, outcome: "not_executed", details: { reason: "unknown_capability" } },
    });
    expect(JSON.stringify(error.data.details)).toContain('translate_text"');
  });

  test("for an agent that nobody knows", async () => {
    expect(await caller.refused("call", { target: { agentId: "nobody" }, input: 1 })).toMatchObject({
      code: "NO_ROUTE",
      data: { details: { reason: "unknown_agent" } },
    });
  });

  test("for a capability that its agent does not have", async () => {
    const agent = await join();
    const error = await caller.refused("call", {
      target: { agentId: agent.agentId },
      capability: "other_work",
      input: 1,
    });
    expect(error).toMatchObject({ code: "NO_ROUTE", data: { details: { reason: "unknown_capability" } } });
  });
});

describe("DLV-5: UNAVAILABLE", () => {
  test("when all who offer it are gone, says which and why at the deadline", async () => {
    const agent = await join();
    await agent.deregister();
    const error = await refused(agent, { timeoutMs: 200 });
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      rpc: -32011,
      data: { retryable: true, outcome: "not_executed" },
    });
    expect(JSON.stringify(error.data.details)).toContain(agent.agentId);
    expect(JSON.stringify(error.data.details)).toContain("offline");
  });

  test("waits for the return of an instance until the deadline", async () => {
    const agent = await join();
    await caller.request("watch", { agentId: agent.agentId });
    agent.cut();
    await caller.waitFor("instance.suspect");
    const called = call(agent, { timeoutMs: 5_000 });
    await join(agent.card, undefined, agent.identity);
    expect(await called).toMatchObject({ data: 1, instanceId: agent.instanceId });
  });
});

describe("ROUTE-1: busy agents", () => {
  test("let callers wait in order, and get no more than they take", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 1 }), never);
    const calls = [1, 2, 3].map((input) => call(agent, { input, timeoutMs: 8_000 }));
    for (const n of [1, 2, 3]) {
      const delivery = await agent.next();
      expect(delivery.envelope.input).toBe(n);
      await agent.heartbeat();
      expect(agent.deliveries.untaken).toEqual([]);
      agent.wire.respond(delivery.id, completed(n));
    }
    expect((await Promise.all(calls)).map((r) => r.data)).toEqual([1, 2, 3]);
  });

  test("that stay full to the deadline end in BUSY with retryAfterMs, not executed", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 1 }), () => accepted);
    const first = call(agent);
    const delivery = await agent.next();
    expect(await refused(agent, { timeoutMs: 150 })).toMatchObject({
      code: "BUSY",
      rpc: -32012,
      data: { retryable: true, outcome: "not_executed", retryAfterMs: expect.any(Number) },
    });
    await agent.complete(delivery, completed(1));
    await first;
  });

  test("RES-5: the queue is bounded: one too many is refused at once", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 1 }), () => accepted);
    const running = call(agent);
    const delivery = await agent.next();
    const waiting = [1, 2, 3].map(() => call(agent));
    const started = performance.now();
    expect(await refused(agent)).toMatchObject({
      code: "BUSY",
      data: { outcome: "not_executed", retryAfterMs: expect.any(Number) },
    });
    expect(performance.now() - started).toBeLessThan(3_000);
    await agent.complete(delivery, completed(1));
    for (let n = 0; n < 3; n++) await agent.complete(await agent.next(), completed(1));
    await Promise.all([running, ...waiting]);
  });
});

describe("DLV-5: an agent that refuses", () => {
  test("as OVERLOADED is passed over for another instance", async () => {
    const card = cardOf();
    const full: Handler = () => {
      throw new Refusal("OVERLOADED", -32013, 5_000);
    };
    const [refusing, willing] = [await join(card, full), await join(card)];
    for (let n = 0; n < 6; n++) expect((await call(willing, { input: n })).instanceId).toBe(willing.instanceId);
    // Cooled down for as long as it asked: it was asked at most once.
    expect(refusing.deliveries.untaken.length).toBeLessThanOrEqual(1);
  });

  test("and is the only one: OVERLOADED with its retryAfterMs, not executed", async () => {
    const agent = await join(cardOf(), () => {
      throw new Refusal("OVERLOADED", -32013, 60_000);
    });
    const error = await refused(agent, { timeoutMs: 300 });
    expect(["OVERLOADED", "BUSY"]).toContain(error.code);
    expect(error.data).toMatchObject({ retryable: true, outcome: "not_executed" });
    expect(error.data.retryAfterMs).toBeGreaterThan(1_000);
  });
});

describe("DLV-3: no acknowledgement", () => {
  test("is DELIVERY_TIMEOUT with unknown outcome, and not retryable where it is not idempotent", async () => {
    const agent = await join(cardOf(), never);
    expect(await refused(agent)).toMatchObject({
      code: "DELIVERY_TIMEOUT",
      rpc: -32015,
      data: { retryable: false, outcome: "unknown" },
    });
    expect((await agent.next()).attempt).toBe(1);
  });

  test("is tried once more, on another instance, where it is idempotent, with the next attempt number", async () => {
    const card = idempotent();
    const handler: Handler = ({ attempt }) => (attempt === 1 ? undefined : completed("second"));
    const [one, two] = [await join(card, handler), await join(card, handler)];
    const { data, instanceId } = await call(one);
    expect(data).toBe("second");
    const [first, second] = instanceId === two.instanceId ? [one, two] : [two, one];
    expect([(await first.next()).attempt, (await second.next()).attempt]).toEqual([1, 2]);
  });

  test("twice where it is idempotent is retryable for the caller, and there is no third", async () => {
    const card = idempotent();
    const group = [await join(card, never), await join(card, never), await join(card, never)];
    expect(await refused(group[0]!)).toMatchObject({
      code: "DELIVERY_TIMEOUT",
      data: { retryable: true, outcome: "unknown" },
    });
    for (const agent of group) await agent.heartbeat();
    expect(group.flatMap((agent) => agent.deliveries.drain().map((d) => d.attempt)).sort()).toEqual([1, 2]);
  });

  test("of the only instance is an answer by the deadline at the latest, retryable where it is idempotent", async () => {
    const agent = await join(idempotent(), never);
    expect(await refused(agent, { timeoutMs: 1_200 })).toMatchObject({
      code: "DELIVERY_TIMEOUT",
      data: { retryable: true, outcome: "unknown" },
    });
  });
});

describe("DLV-3: no result", () => {
  test("by the deadline is TIMEOUT with unknown outcome, retryable if idempotent, and the agent is told to stop", async () => {
    for (const [card, retryable] of [
      [cardOf(), false],
      [idempotent(), true],
    ] as const) {
      const agent = await join(card, () => accepted);
      expect(await refused(agent, { timeoutMs: 600 })).toMatchObject({
        code: "TIMEOUT",
        rpc: -32016,
        data: { retryable, outcome: "unknown" },
      });
      const { envelope } = await agent.next();
      expect(await agent.wire.nextNotification("cancel")).toMatchObject({ messageId: envelope.messageId, attempt: 1 });
    }
  });

  test("the capability's timeoutHintMs is the default deadline (DLV-2)", async () => {
    const agent = await join(cardOf({ capability: { timeoutHintMs: 400 } }), () => accepted);
    expect(await refused(agent)).toMatchObject({ code: "TIMEOUT" });
    expect((await agent.next()).envelope.timeoutMs).toBeLessThanOrEqual(400);
  });

  test("a late result of a call that timed out is answered and changes nothing", async () => {
    const agent = await join(cardOf(), () => accepted);
    await refused(agent, { timeoutMs: 500 });
    const late = await agent.complete(await agent.next(), completed("late"));
    expect(late).toMatchObject({ recorded: false, reason: expect.stringMatching(/^(SETTLED|UNKNOWN)$/) });
  });
});

describe("DLV-8: an instance that dies in the middle", () => {
  test("a call that was accepted ends with unknown outcome where it is not idempotent", async () => {
    const agent = await join(cardOf(), () => accepted);
    const called = refused(agent, { timeoutMs: 3_000 });
    await agent.next();
    agent.cut();
    const error = await called;
    expect(["DELIVERY_TIMEOUT", "TIMEOUT", "UNAVAILABLE"]).toContain(error.code);
    expect(error.data).toMatchObject({ outcome: "unknown", retryable: false });
  });

  test("an idempotent call moves on to another instance", async () => {
    const card = idempotent();
    const dying = await join(card, never);
    const called = call(dying, { timeoutMs: 6_000 });
    await dying.next();
    const heir = await join(card);
    dying.cut();
    expect(await called).toMatchObject({ data: 1, instanceId: heir.instanceId });
    expect((await heir.next()).attempt).toBe(2);
  });
});
