import { beforeEach, describe, expect, test } from "vitest";
import { accepted, cardOf, completed, failed } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";

const node = useNode();
const { bare, join } = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await bare();
});
const withCapability = (capability: Json) => cardOf({ capability });

describe("DLV-1: the envelope that the agent gets", () => {
  test("has every field, the caller's own and the node's", async () => {
    const agent = await join();
    const messageId = newId();
    const traceId = "8f3a1c2e9b7d4f1a8f3a1c2e9b7d4f1a";
    const result = await caller.request("call", {
      messageId,
      traceId,
      capability: agent.capability,
      input: { order_id: "1" },
      sessionRef: "chat-7788",
      sequence: 12,
      timeoutMs: 9_000,
    });
    expect(result).toMatchObject({
      messageId,
      traceId,
      data: { order_id: "1" },
      agentId: agent.agentId,
      instanceId: agent.instanceId,
    });
    const { envelope, attempt } = await agent.next();
    expect(attempt).toBe(1);
    expect(envelope).toMatchObject({
      messageId,
      traceId,
      kind: "call",
      capability: agent.capability,
      input: { order_id: "1" },
      source: {},
      target: { agentId: agent.agentId, instanceId: agent.instanceId },
      idempotencyKey: messageId,
      sessionRef: "chat-7788",
      sequence: 12,
    });
    expect(envelope.timestamp).toMatch(/T.*(Z|[+-]\d\d:\d\d)$/);
    expect(envelope.timeoutMs).toBeGreaterThan(8_000);
    expect(envelope.timeoutMs).toBeLessThanOrEqual(9_000);
  });

  test("gets a messageId (version 7) and a traceId when the caller gives none", async () => {
    const agent = await join();
    const { messageId, traceId } = await caller.request("call", { capability: agent.capability, input: null });
    expect(messageId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  test("names the source when the caller is an agent", async () => {
    const [agent, other] = [await join(), await join()];
    await other.wire.request("call", { capability: agent.capability, input: 1 });
    expect((await agent.next()).envelope.source).toEqual({ agentId: other.agentId, instanceId: other.instanceId });
  });
});

describe("DLV-2, DLV-3: a call", () => {
  test("is answered by the agent's answer at once, receipt included", async () => {
    const receipt = {
      startedAt: "2026-01-01T00:00:00Z",
      finishedAt: "2026-01-01T00:00:01Z",
      steps: ["looked"],
      bytes: 4,
    };
    const agent = await join(cardOf(), () => ({ ...completed({ ok: 1 }), receipt }));
    expect(await caller.request("call", { capability: agent.capability, input: {} })).toMatchObject({
      data: { ok: 1 },
      receipt,
    });
  });

  test("is answered by `complete` after `accepted`, over the same connection or another of the same agent", async () => {
    const agent = await join(cardOf(), () => accepted);
    const sibling = await join(agent.card);
    for (const over of [agent.wire, sibling.wire]) {
      const called = caller.request("call", { target: { instanceId: agent.instanceId }, input: 1 });
      expect(await agent.complete(await agent.next(), completed("later"), over)).toEqual({ recorded: true });
      expect((await called).data).toBe("later");
    }
  });

  test("is not answered by a stranger who names the agent's instance", async () => {
    const agent = await join(cardOf(), () => accepted);
    const stranger = await bare();
    const called = caller.request("call", { capability: agent.capability, input: 1 });
    const delivery = await agent.next();
    const forged = await agent
      .complete(delivery, completed("forged"), stranger)
      .catch((e: Json) => ({ recorded: false, reason: e.code }));
    expect(forged.recorded).toBe(false);
    expect(await agent.complete(delivery, completed("genuine"))).toEqual({ recorded: true });
    expect((await called).data).toBe("genuine");
  });

  test("carries null, text, numbers and lists as data, and an answer without data as null", async () => {
    const agent = await join();
    for (const input of [null, "", "text", 0, 1.5, false, [], [1, [2]], {}]) {
      expect((await caller.request("call", { capability: agent.capability, input })).data).toEqual(input);
    }
    const silent = await join(cardOf(), () => ({ status: "completed" }));
    expect((await caller.request("call", { capability: silent.capability, input: 1 })).data ?? null).toBeNull();
  });

  test("many at once on one socket find their own answers", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 500 }));
    const answers = await Promise.all(
      Array.from({ length: 256 }, (_, n) => caller.request("call", { capability: agent.capability, input: n })),
    );
    expect(answers.map((a) => a.data)).toEqual(Array.from({ length: 256 }, (_, n) => n));
  });
});

describe("DLV-5: a business error", () => {
  test("is AGENT_ERROR with the agent's words, executed, retryable as the agent says", async () => {
    const agent = await join(cardOf(), () => failed("NO_STOCK", "sold out", false));
    expect(await caller.refused("call", { capability: agent.capability, input: 1 })).toMatchObject({
      code: "AGENT_ERROR",
      rpc: -32020,
      data: { outcome: "executed", retryable: false, details: { code: "NO_STOCK", message: "sold out" } },
    });
    const patient = await join(cardOf(), () => ({
      status: "failed",
      error: { code: "LATER", message: "later", data: { n: 1 }, retryable: true },
    }));
    expect(await caller.refused("call", { capability: patient.capability, input: 1 })).toMatchObject({
      code: "AGENT_ERROR",
      data: { retryable: true, outcome: "executed", details: { code: "LATER", data: { n: 1 } } },
    });
  });

  test("is not tried again, idempotent or not", async () => {
    const agent = await join(withCapability({ idempotent: true }), () => failed("NO"));
    await caller.refused("call", { capability: agent.capability, input: 1 });
    await agent.next();
    await caller.refused("call", { capability: agent.capability, input: "fence" });
    expect((await agent.next()).envelope.input).toBe("fence");
  });
});

describe("DLV-13: contracts", () => {
  const schema = {
    type: "object",
    properties: { order: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
    required: ["order"],
  };

  test("an input that breaks the schema is refused with its path before anything is sent", async () => {
    const agent = await join(withCapability({ inputSchema: schema }));
    const error = await caller.refused("call", { capability: agent.capability, input: { order: { id: 7 } } });
    expect(error).toMatchObject({
      code: "INVALID_INPUT",
      rpc: -32602,
      data: { retryable: false, outcome: "not_executed" },
    });
    expect(error.data.path).toMatch(/order\.id$/);
    const missing = await caller.refused("call", { capability: agent.capability, input: { order: {} } });
    expect(missing.data.path).toMatch(/order\.id$/);
    await caller.request("call", { capability: agent.capability, input: { order: { id: "7", more: 1 } } });
    expect((await agent.next()).envelope.input.order.id).toBe("7");
  });

  test("no schema takes any input", async () => {
    const agent = await join();
    expect((await caller.request("call", { capability: agent.capability, input: "anything" })).data).toBe("anything");
  });

  test("a result that breaks the outputSchema still reaches the caller, and is recorded", async () => {
    const agent = await join(withCapability({ outputSchema: { type: "object" } }), () => completed("no object"));
    const { data, messageId } = await caller.request("call", { capability: agent.capability, input: 1 });
    expect(data).toBe("no object");
    const { body } = await node().http.get(`/v1/messages/${messageId}`);
    expect(JSON.stringify(body.events)).toMatch(/output/i);
  });
});

describe("ROUTE-1: who gets it", () => {
  test("an instanceId, then an agentId, then a capability", async () => {
    const card = cardOf();
    const [one, two] = [await join(card), await join(card)];
    for (const agent of [one, two]) {
      const to = await caller.request("call", {
        target: { instanceId: agent.instanceId },
        capability: agent.capability,
        input: 1,
      });
      expect(to.instanceId).toBe(agent.instanceId);
    }
    const other = await join({ agentId: `other-${newId()}`, capabilities: [{ name: one.capability }] });
    for (let n = 0; n < 5; n++) {
      const { agentId } = await caller.request("call", {
        target: { agentId: other.agentId },
        capability: one.capability,
        input: 1,
      });
      expect(agentId).toBe(other.agentId);
    }
  });

  test("with only a target, its single capability; with several, INVALID_REQUEST", async () => {
    const single = await join();
    expect((await caller.request("call", { target: { agentId: single.agentId }, input: 3 })).data).toBe(3);
    const several = await join({
      agentId: `several-${newId()}`,
      capabilities: [{ name: "one_of_two" }, { name: "two_of_two" }],
    });
    expect(await caller.refused("call", { target: { agentId: several.agentId }, input: 3 })).toMatchObject({
      code: "INVALID_REQUEST",
    });
  });

  test("with none of target, capability, intent it is INVALID_REQUEST", async () => {
    expect(await caller.refused("call", { input: 1 })).toMatchObject({ code: "INVALID_REQUEST", rpc: -32600 });
  });

  test("dryRun decides and sends nothing", async () => {
    const agent = await join();
    const { text, json } = await caller.exchange(
      "call",
      JSON.stringify({ capability: agent.capability, input: 1, dryRun: true }),
    );
    expect(json.error).toBeUndefined();
    expect(text).toContain(agent.instanceId);
    await caller.request("call", { capability: agent.capability, input: "fence" });
    expect((await agent.next()).envelope.input).toBe("fence");
  });
});

describe("cancel and progress (DLV-14)", () => {
  test("progress of the agent reaches the caller and nobody else", async () => {
    const agent = await join(cardOf(), () => undefined);
    const bystander = await bare();
    const messageId = newId();
    const called = caller.request("call", { messageId, capability: agent.capability, input: 1 });
    const delivery = await agent.next();
    const progress = {
      messageId,
      instanceId: agent.instanceId,
      attempt: 1,
      percent: 40,
      message: "halfway",
      data: { n: 1 },
    };
    agent.wire.notify("progress", progress);
    expect(await caller.nextNotification("progress")).toMatchObject({
      messageId,
      percent: 40,
      message: "halfway",
      data: { n: 1 },
    });
    agent.wire.respond(delivery.id, completed("done"));
    expect((await called).data).toBe("done");
    await bystander.request("ping");
    expect(bystander.notifications.untaken).toEqual([]);
  });

  test("a running call that is cancelled ends as CANCELED, and the agent is told", async () => {
    const agent = await join(cardOf(), () => accepted);
    const messageId = newId();
    const called = caller.refused("call", { messageId, capability: agent.capability, input: 1 });
    await agent.next();
    await caller.request("task.cancel", { messageId, reason: "changed my mind" });
    expect(await called).toMatchObject({ code: "CANCELED", rpc: -32022, data: { retryable: false } });
    expect(await agent.wire.nextNotification("cancel")).toMatchObject({
      messageId,
      attempt: 1,
      reason: expect.stringContaining("changed my mind"),
    });
  });
});
