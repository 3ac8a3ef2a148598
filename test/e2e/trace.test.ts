import { beforeAll, describe, expect, test } from "vitest";
import { cardOf, completed, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";
import { eventually } from "../kit/within.js";

const node = useNode();
const { bare, join } = usePeers(node, "file");
let caller: Wire;
beforeAll(async () => {
  caller = await bare();
});
/** Two agents: the first asks the second within its own work. */
async function chain(): Promise<{ front: SocketAgent; back: SocketAgent }> {
  const back = await join(cardOf(), ({ envelope }) => completed({ answer: envelope.input }));
  const front: SocketAgent = await join(cardOf(), async ({ envelope }) => {
    const { data } = await front.wire.request("call", {
      capability: back.capability,
      input: "nested",
      parentId: envelope.messageId,
      traceId: envelope.traceId,
    });
    return completed({ from: data });
  });
  return { front, back };
}

describe("OBS-1: one trace over every hop", () => {
  test("a nested call keeps the trace, and its chain names who asked", async () => {
    const { front, back } = await chain();
    const desk = await join();
    const { data, traceId, messageId } = await desk.wire.request("call", { capability: front.capability, input: 1 });
    expect(data).toEqual({ from: { answer: "nested" } });
    const { envelope } = await back.next();
    expect(envelope).toMatchObject({ traceId, source: { agentId: front.agentId } });
    expect(envelope.chain).toEqual([{ agentId: desk.agentId, messageId }]);
  });

  test("a nested call never outlives its parent", async () => {
    const { front, back } = await chain();
    await caller.request("call", { capability: front.capability, input: 1, timeoutMs: 3_000 });
    expect((await back.next()).envelope.timeoutMs).toBeLessThanOrEqual(3_000);
  });

  test("a nested call whose parentId is written in capitals, or in snake_case, is as nested as any", async () => {
    const back = await join(cardOf(), ({ envelope }) => completed({ answer: envelope.input }));
    for (const key of ["parentId", "parent_id"]) {
      const front: SocketAgent = await join(cardOf(), async ({ envelope }) => {
        const target = { agentId: back.agentId, instanceId: back.instanceId.toUpperCase() };
        const nested = { capability: back.capability, target, input: 1, [key]: envelope.messageId.toUpperCase() };
        await front.wire.request("call", nested);
        const again = { capability: front.capability, input: envelope.input, [key]: envelope.messageId.toUpperCase() };
        return completed(await front.wire.refused("call", again));
      });
      const { traceId, messageId, data } = await caller.request("call", {
        capability: front.capability,
        input: 1,
        timeoutMs: 3_000,
        messageId: newId().toUpperCase(),
      });
      expect(data.code, key).toBe("LOOP_DETECTED");
      const { envelope } = await back.next();
      expect(envelope).toMatchObject({ traceId, parentId: messageId, chain: [{ messageId }] });
      expect(envelope.timeoutMs).toBeLessThanOrEqual(3_000);
      for (const asked of [messageId, messageId.toUpperCase()])
        expect((await node().http.get(`/v1/messages/${asked}`)).body).toMatchObject({ call: { messageId } });
    }
  });

  test("the whole trace is one query, with both messages and every event in order", async () => {
    const { front } = await chain();
    const { traceId, messageId } = await caller.request("call", { capability: front.capability, input: 1 });
    const { body } = await eventually(
      () => node().http.get(`/v1/traces/${traceId}`),
      (a) => a.status === 200 && a.body.messages.length === 2,
      "both messages in the trace",
    );
    expect(body).toMatchObject({ traceId, startedAt: expect.stringMatching(/T/), durationMs: expect.any(Number) });
    const ids = body.events.map((e: Json) => e.id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    const own = body.events.filter((e: Json) => e.messageId === messageId);
    expect(own.length).toBeGreaterThanOrEqual(3);
    for (const event of own)
      expect(event).toMatchObject({
        at: expect.stringMatching(/T/),
        type: expect.any(String),
        node: expect.any(String),
      });
  });

  test("W3C: a traceparent over HTTP is honoured", async () => {
    const agent = await join();
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const { body } = await node().http.post(
      "/v1/call",
      { capability: agent.capability, input: 1 },
      { headers: { traceparent } },
    );
    expect(body.traceId).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
    expect((await agent.next()).envelope.traceId).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
  });
});

describe("ROUTE-7: every decision leaves a record", () => {
  test("of who was chosen, who was left out and why", async () => {
    const card = cardOf();
    const [chosen, draining, sick] = [await join(card), await join(card), await join(card)];
    await draining.wire.request("drain", { instanceId: draining.instanceId });
    await sick.heartbeat({ health: 0.1 });
    const { messageId, traceId } = await caller.request("call", { capability: chosen.capability, input: 1 });
    const { status, body } = await node().http.get(`/v1/messages/${messageId}`);
    expect(status).toBe(200);
    expect(body.decisions).toHaveLength(1);
    const [decision] = body.decisions;
    expect(decision).toMatchObject({
      decisionId: expect.any(String),
      messageId,
      traceId,
      attempt: 1,
      tookMs: expect.any(Number),
      request: { capability: chosen.capability },
      chosen: { agentId: chosen.agentId, instanceId: chosen.instanceId },
    });
    const verdicts = Object.fromEntries(decision.candidates.map((c: Json) => [c.instanceId, c.verdict]));
    expect(verdicts).toEqual({
      [chosen.instanceId]: "chosen",
      [draining.instanceId]: "draining",
      [sick.instanceId]: "health",
    });
    expect(body.events.length).toBeGreaterThan(0);
  });

  test("of a call that found nobody, too", async () => {
    const messageId = newId();
    await caller.refused("call", { messageId, capability: "nobody_has_this", input: 1 });
    const { status, body } = await node().http.get(`/v1/messages/${messageId}`);
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain("NO_ROUTE");
  });

  test("ROUTE-2: of two equals both get work; a better one gets more", async () => {
    const card = cardOf({ maxConcurrentTasks: 50 });
    const [one, two] = [await join(card), await join(card)];
    const counts = new Map<string, number>();
    for (let n = 0; n < 60; n++) {
      const { instanceId } = await caller.request("call", { capability: one.capability, input: n });
      counts.set(instanceId, (counts.get(instanceId) ?? 0) + 1);
    }
    expect(counts.get(one.instanceId)).toBeGreaterThan(5);
    expect(counts.get(two.instanceId)).toBeGreaterThan(5);
  });

  test("ROUTE-3: R15: a burst is spread over the instances by load, none over its limit", async () => {
    const card = cardOf({ maxConcurrentTasks: 5 });
    const group = await Promise.all([1, 2, 3, 4].map(() => join(card, () => undefined as unknown as Json)));
    const calls = Array.from({ length: 20 }, (_, n) =>
      caller.request("call", { capability: group[0]!.capability, input: n }),
    );
    for (const agent of group) {
      const got = [];
      for (let n = 0; n < 5; n++) got.push(await agent.next());
      await agent.heartbeat();
      expect(agent.deliveries.untaken).toEqual([]);
      for (const delivery of got) agent.wire.respond(delivery.id, completed(delivery.envelope.input));
    }
    expect((await Promise.all(calls)).map((a) => a.data).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
  });
});
