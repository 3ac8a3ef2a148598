import { beforeAll, describe, expect, test } from "vitest";
import { accepted, cardOf, failed, type Handler, PullAgent, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, Refusal, type Wire } from "../kit/wire.js";

/** DLV-5: every error that a client can bring about, seen on both edges with the same code, retryable and outcome. */
const node = useNode({
  settings: { delivery: { ackTimeoutMs: 200, lostGraceMs: 100 }, limits: { queuedCallsMax: 1 } },
});
const peers = usePeers(node, "file");
let wire: Wire;
const agents: Record<string, SocketAgent> = {};
beforeAll(async () => {
  wire = await peers.bare();
  const join = async (name: string, card: Json, handler?: Handler) => {
    agents[name] = await peers.join(card, handler);
  };
  await join("strict", cardOf({ capability: { inputSchema: { type: "object" } } }));
  await join("silent", cardOf(), () => undefined);
  await join("slow", cardOf(), () => accepted);
  await join("angry", cardOf(), () => failed("NO", "no", false));
  await join("full", cardOf({ maxConcurrentTasks: 1 }), () => accepted);
  await join("refusing", cardOf(), () => {
    throw new Refusal("OVERLOADED", -32013, 30_000);
  });
  await join("refusing again", cardOf(), () => {
    throw new Refusal("OVERLOADED", -32013, 30_000);
  });
  await join("gone", cardOf());
  await agents["gone"]!.deregister();
  await join("plain", cardOf());
  void wire.request("call", { capability: agents["full"]!.capability, input: "occupied" }, 40_000).catch(() => {});
  await agents["full"]!.next();
});
const to = (name: string, more: Json = {}) => ({ capability: agents[name]!.capability, input: 1, ...more });

interface Expected {
  code: string;
  rpc: number;
  http: number;
  retryable: boolean;
  outcome: string;
  /** What is asked: the params of `call`, made when the test runs; over HTTP another agent may be asked. */
  params: (edge: "ws" | "http") => Json;
}
const rows: Expected[] = [
  {
    code: "INVALID_REQUEST",
    rpc: -32600,
    http: 400,
    retryable: false,
    outcome: "not_executed",
    params: () => ({ input: 1 }),
  },
  {
    code: "INVALID_INPUT",
    rpc: -32602,
    http: 422,
    retryable: false,
    outcome: "not_executed",
    params: () => to("strict"),
  },
  {
    code: "PAYLOAD_TOO_LARGE",
    rpc: -32001,
    http: 413,
    retryable: false,
    outcome: "not_executed",
    params: () => to("plain", { input: "x".repeat(1_048_600) }),
  },
  {
    code: "NO_ROUTE",
    rpc: -32010,
    http: 404,
    retryable: false,
    outcome: "not_executed",
    params: () => ({ capability: "nobody_offers_this", input: 1 }),
  },
  {
    code: "UNAVAILABLE",
    rpc: -32011,
    http: 503,
    retryable: true,
    outcome: "not_executed",
    params: () => to("gone", { timeoutMs: 50 }),
  },
  {
    code: "BUSY",
    rpc: -32012,
    http: 503,
    retryable: true,
    outcome: "not_executed",
    params: () => to("full", { timeoutMs: 100 }),
  },
  {
    code: "OVERLOADED",
    rpc: -32013,
    http: 429,
    retryable: true,
    outcome: "not_executed",
    params: (edge) => to(edge === "ws" ? "refusing" : "refusing again", { timeoutMs: 150 }),
  },
  {
    code: "DELIVERY_TIMEOUT",
    rpc: -32015,
    http: 504,
    retryable: false,
    outcome: "unknown",
    params: () => to("silent", { timeoutMs: 3_000 }),
  },
  {
    code: "TIMEOUT",
    rpc: -32016,
    http: 504,
    retryable: false,
    outcome: "unknown",
    params: () => to("slow", { timeoutMs: 400 }),
  },
];

describe("DLV-5: the error table", () => {
  test.each(rows)(
    "$code is $rpc on the socket and $http over HTTP",
    async ({ code, rpc, http, retryable, outcome, params }) => {
      const socket = await wire.refused("call", params("ws"));
      expect({
        code: socket.code,
        rpc: socket.rpc,
        retryable: socket.data.retryable,
        outcome: socket.data.outcome,
      }).toEqual({ code, rpc, retryable, outcome });
      expect(socket.message).toMatch(new RegExp(`^\\[${code}\\] .{10,}`));
      const { status, body } = await node().http.post("/v1/call", params("http"));
      expect({ code: body.code, http: status, retryable: body.retryable, outcome: body.outcome }).toEqual({
        code,
        http,
        retryable,
        outcome,
      });
      expect(body.message).toMatch(new RegExp(`^\\[${code}\\] `));
    },
  );

  test("BUSY and OVERLOADED say when to come back, in the body and as Retry-After", async () => {
    for (const name of ["full", "refusing"]) {
      const { body, headers } = await node().http.post("/v1/call", to(name, { timeoutMs: 100 }));
      expect(body.retryAfterMs).toBeGreaterThan(0);
      expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    }
  });

  test("AGENT_ERROR is -32020, and 200 with `error` over HTTP", async () => {
    expect(await wire.refused("call", to("angry"))).toMatchObject({
      code: "AGENT_ERROR",
      rpc: -32020,
      data: { outcome: "executed", retryable: false },
    });
    const { status, body } = await node().http.post("/v1/call", to("angry"));
    expect([status, body.error.code, body.error.outcome]).toEqual([200, "AGENT_ERROR", "executed"]);
  });

  test("INVALID_CARD is -32602 and 422", async () => {
    const other = await peers.bare();
    expect(await other.refused("register", { card: {} })).toMatchObject({ code: "INVALID_CARD", rpc: -32602 });
    expect(await node().http.post("/v1/agents", { card: {} })).toMatchObject({
      status: 422,
      body: { code: "INVALID_CARD" },
    });
  });

  test("NOT_FOUND is -32024 and 404, REVISION_GONE -32004 and 410", async () => {
    expect(await wire.refused("task.get", { messageId: newId() })).toMatchObject({ code: "NOT_FOUND", rpc: -32024 });
    expect(await node().http.get(`/v1/tasks/${newId()}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(await wire.refused("watch", { revision: 9_000_000_000 })).toMatchObject({
      code: "REVISION_GONE",
      rpc: -32004,
    });
    expect(await node().http.get("/v1/events?revision=9000000000")).toMatchObject({
      status: 410,
      body: { code: "REVISION_GONE" },
    });
  });

  test("CONFLICT is -32023 and 409", async () => {
    const messageId = newId();
    await wire.request("call", to("plain", { messageId }));
    expect(await wire.refused("call", to("plain", { messageId, input: 2 }))).toMatchObject({
      code: "CONFLICT",
      rpc: -32023,
      data: { retryable: false },
    });
    expect(await node().http.post("/v1/call", to("plain", { messageId, input: 2 }))).toMatchObject({
      status: 409,
      body: { code: "CONFLICT", retryable: false },
    });
  });

  test("CANCELED is -32022 and 499", async () => {
    const messageId = newId();
    const [socket, http] = [newId(), newId()];
    const first = wire.refused("call", to("slow", { messageId: socket }));
    await agents["slow"]!.next((d) => d.envelope.messageId === socket);
    await wire.request("task.cancel", { messageId: socket });
    expect(await first).toMatchObject({ code: "CANCELED", rpc: -32022, data: { retryable: false } });
    const second = node().http.post("/v1/call", to("slow", { messageId: http }));
    await agents["slow"]!.next((d) => d.envelope.messageId === http);
    await node().http.post(`/v1/tasks/${http}/cancel`, {});
    expect(await second).toMatchObject({ status: 499, body: { code: "CANCELED", retryable: false } });
    expect(await wire.refused("task.cancel", { messageId })).toMatchObject({ code: "NOT_FOUND" });
  });

  test("FORBIDDEN is -32003 and 403", async () => {
    const plain = agents["plain"]!;
    const stranger = await peers.bare();
    const params = { card: plain.card, instanceId: plain.instanceId, instanceKey: "wrong" };
    expect(await stranger.refused("register", params)).toMatchObject({
      code: "FORBIDDEN",
      rpc: -32003,
      data: { retryable: false, outcome: "not_executed" },
    });
    const puller = await PullAgent.join(node());
    const answer = await node().http.post(`/v1/instances/${puller.registered.instanceId}/pull`, {
      instanceKey: "wrong",
      epoch: 1,
      max: 1,
      waitMs: 0,
    });
    expect(answer).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN", retryable: false, outcome: "not_executed" },
    });
  });

  test("a call within its own chain is LOOP_DETECTED where the node stops loops, and never runs for ever", async () => {
    let depth = 0;
    const agent: SocketAgent = await peers.join(cardOf({ maxConcurrentTasks: 100 }), async ({ envelope }) => {
      depth++;
      const inner = {
        capability: agent.capability,
        input: 1,
        parentId: envelope.messageId,
        traceId: envelope.traceId,
      };
      const error = await agent.wire.refused("call", inner).catch(() => undefined);
      return failed(error?.code ?? "NONE");
    });
    const error = await wire.refused("call", { capability: agent.capability, input: 1, timeoutMs: 4_000 });
    expect(["AGENT_ERROR", "LOOP_DETECTED"]).toContain(error.code);
    expect(depth).toBeLessThanOrEqual(17);
  });
});
