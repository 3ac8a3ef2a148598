import { beforeAll, describe, expect, test } from "vitest";
import { cardOf, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { newId, type Wire } from "../kit/wire.js";

/** DLV-20: spellings of an envelope. */
const node = useNode();
const { bare, join } = usePeers(node, "file");
let caller: Wire;
let agent: SocketAgent;
beforeAll(async () => {
  caller = await bare();
  agent = await join(cardOf());
});

describe("DLV-20: an envelope", () => {
  test("in snake_case reads as in camelCase, and the input's own keys stay", async () => {
    const message_id = newId();
    await caller.request("call", {
      message_id,
      capability: agent.capability,
      input: { order_id: 1 },
      session_ref: "s",
      timeout_ms: 4_000,
      idempotency_key: "k-1",
    });
    const { envelope } = await agent.next();
    expect(envelope).toMatchObject({
      messageId: message_id,
      sessionRef: "s",
      idempotencyKey: "k-1",
      input: { order_id: 1 },
    });
    expect(envelope.timeoutMs).toBeLessThanOrEqual(4_000);
  });

  test("in the nested form: task and source.session_ref", async () => {
    await caller.request("call", {
      task: { capability: agent.capability, input: { a: 1 } },
      source: { session_ref: "nested" },
    });
    expect((await agent.next()).envelope).toMatchObject({ sessionRef: "nested", input: { a: 1 } });
  });

  test("in the flat form: to_agent, subject, payload, seq, and trace_id:seq is its key", async () => {
    const flat = {
      from_agent: "legacy",
      to_agent: agent.agentId,
      to_instance: "",
      subject: agent.capability,
      payload: { n: 9 },
      seq: 3,
      trace_id: "legacy-trace-1",
      timestamp: 1_735_689_600_000,
    };
    const { traceId } = await caller.request("call", flat);
    const { envelope } = await agent.next();
    expect(envelope).toMatchObject({
      input: { n: 9 },
      sequence: 3,
      target: { agentId: agent.agentId },
      idempotencyKey: "legacy-trace-1:3",
    });
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    const again = await caller.request("call", flat);
    expect(again.data).toEqual({ n: 9 });
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("with a foreign trace id is found by either", async () => {
    const external = "4bf92f3577b34da6";
    const { traceId, messageId } = await caller.request("call", {
      capability: agent.capability,
      input: "foreign",
      traceId: external,
    });
    expect(traceId).toBe(`0000000000000000${external}`);
    await agent.next();
    for (const id of [traceId, external]) {
      const { status, text } = await node().http.get(`/v1/traces/${id}`);
      expect(status).toBe(200);
      expect(text).toContain(messageId);
    }
  });

  test("keeps numbers of a payload to the digit in the flat form, too", async () => {
    const { json } = await caller.exchange(
      "call",
      `{"to_agent":"${agent.agentId}","subject":"${agent.capability}","payload":{"n":9007199254740993}}`,
    );
    expect(json.error).toBeUndefined();
    expect((await agent.next()).text).toContain('"input":{"n":9007199254740993}');
  });

  test("with fields that nobody knows is as good as without", async () => {
    expect(
      (await caller.request("call", { capability: agent.capability, input: 1, mood: "good", hop: { x: 1 } })).data,
    ).toBe(1);
    await agent.next();
  });

  test.each([
    ["timeoutMs", 0],
    ["timeoutMs", -1],
    ["timeoutMs", "soon"],
    ["timeoutMs", 1e300],
    ["capability", 7],
    ["capability", ""],
    ["target", "agent"],
    ["sequence", 1.5],
    ["labels", []],
    ["weights", "fastest"],
    ["idempotencyKey", "x".repeat(10_000)],
  ])("with %s %j is refused by its path", async (path, value) => {
    const error = await caller.refused("call", { capability: agent.capability, input: 1, [path]: value });
    expect(error).toMatchObject({ code: "INVALID_REQUEST", rpc: -32600, data: { outcome: "not_executed" } });
    expect(error.data.path).toContain(path);
  });

  test("with null where a field may be absent is as if it were absent", async () => {
    expect(
      (await caller.request("call", { capability: agent.capability, input: null, sessionRef: null, timeoutMs: null }))
        .data,
    ).toBeNull();
    await agent.next();
  });
});
