import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cardOf, completed, failed } from "../kit/agents.js";
import { BlackHole } from "../kit/black-hole.js";
import { useNode } from "../kit/node.js";
import { type Hook, WebhookAgent } from "../kit/webhook.js";
import { type Json, Wire } from "../kit/wire.js";

/** ROUTE-8: an agent behind an HTTP endpoint of its own. */
const node = useNode({
  settings: {
    delivery: { slowAckTimeoutMs: 5_000, backoffMs: [50, 100, 150], lostGraceMs: 200 },
    webhook: { probeIntervalSec: 1 },
  },
});
let caller: Wire;
const agents: WebhookAgent[] = [];
beforeEach(async () => {
  caller = await Wire.open(node().url);
});
afterEach(async () => {
  caller.cut();
  for (const agent of agents.splice(0)) await agent.close();
});
const join = async (hook: Hook, card: Json = cardOf()): Promise<WebhookAgent> => {
  const agent = await WebhookAgent.join(node(), hook, card);
  agents.push(agent);
  return agent;
};
const echo: Hook = ({ body }) => ({ status: 200, body: completed(body.envelope.input) });
const submit = async (agent: WebhookAgent): Promise<string> =>
  (await caller.request("submit", { capability: agent.capability, input: 1 })).messageId;
const result = (messageId: string) => caller.request("task.result", { messageId, waitMs: 7_000 }, 9_000);

describe("ROUTE-8: a webhook agent", () => {
  test("is posted envelope and attempt, signed with its instanceKey", async () => {
    const agent = await join(echo);
    expect(await caller.request("call", { capability: agent.capability, input: { a: 1 } })).toMatchObject({
      data: { a: 1 },
    });
    const posted = await agent.next();
    expect(posted.path).toBe("/hook");
    expect(posted.headers["content-type"]).toMatch(/^application\/json/);
    expect(posted.body).toMatchObject({
      attempt: 1,
      envelope: { kind: "call", input: { a: 1 }, capability: agent.capability },
    });
    expect(agent.signed(posted)).toBe(true);
    expect(agent.signed(posted, "another key")).toBe(false);
    const time = Number(/t=(\d+)/.exec(String(posted.headers["agent-reach-signature"]))?.[1]);
    expect(Math.abs(time - Date.now() / 1_000)).toBeLessThan(60);
  });

  test("answers a business error as deliver's answer", async () => {
    const agent = await join(() => ({ status: 200, body: failed("NO_STOCK", "sold out") }));
    expect(await caller.refused("call", { capability: agent.capability, input: 1 })).toMatchObject({
      code: "AGENT_ERROR",
      data: { details: { code: "NO_STOCK" } },
    });
  });

  test("accepts with 202 and completes later over HTTP", async () => {
    const agent = await join(() => ({ status: 202 }));
    const messageId = await submit(agent);
    const posted = await agent.next();
    const { instanceId, instanceKey, epoch } = agent.registered;
    const body = { instanceId, instanceKey, epoch, attempt: posted.body.attempt, ...completed("later") };
    expect(await node().http.post(`/v1/deliveries/${messageId}/complete`, body)).toMatchObject({
      status: 200,
      body: { recorded: true },
    });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "later" });
  });

  test.each([429, 503])(
    "with %i and Retry-After is cooled down and asked again later, or another is asked",
    async (status) => {
      let n = 0;
      const agent = await join(({ body }) =>
        n++ === 0 ? { status, headers: { "retry-after": "1" } } : { status: 200, body: completed(body.attempt) },
      );
      const messageId = await submit(agent);
      await agent.next();
      const refusedAt = performance.now();
      await agent.next();
      expect(performance.now() - refusedAt).toBeGreaterThanOrEqual(800);
      expect(await result(messageId)).toMatchObject({ state: "completed" });
    },
  );

  test("that is overloaded refuses a call as not executed, with its retryAfterMs", async () => {
    const agent = await join(() => ({ status: 429, headers: { "retry-after": "60" } }));
    const error = await caller.refused("call", { capability: agent.capability, input: 1, timeoutMs: 500 });
    expect(["OVERLOADED", "BUSY"]).toContain(error.code);
    expect(error.data).toMatchObject({ outcome: "not_executed", retryable: true });
  });

  test("that crashes with 500 gets its task again", async () => {
    let n = 0;
    const agent = await join(() => (n++ === 0 ? { status: 500 } : { status: 200, body: completed("recovered") }));
    expect(await result(await submit(agent))).toMatchObject({ state: "completed", data: "recovered", attempt: 2 });
  });

  test("that answers what is no answer does not harm the node", async () => {
    const agent = await join(() => ({ status: 200, body: "hello" }));
    const error = await caller.refused("call", { capability: agent.capability, input: 1, timeoutMs: 2_000 });
    expect(error.data.outcome).not.toBe("not_executed");
    expect(await caller.request("ping")).toEqual({});
  });

  test("RES-10: that takes a message and says nothing: the call ends after a second or so, unknown, with the phase", async () => {
    const agent = await join(() => new Promise(() => {}));
    const startedAt = performance.now();
    const error = await caller.refused("call", { capability: agent.capability, input: 1, timeoutMs: 6_000 });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(error).toMatchObject({
      code: "DELIVERY_TIMEOUT",
      data: { outcome: "unknown", retryable: false, details: { phase: "first byte", limitMs: 1_000 } },
    });
  });

  test("RES-10: that works for longer before it answers, as its card says, is waited for until the caller's time is up", async () => {
    const agent = await join(() => new Promise(() => {}), cardOf({ capability: { timeoutHintMs: 60_000 } }));
    const error = await caller.refused("call", { capability: agent.capability, input: 1, timeoutMs: 2_500 });
    expect(error).toMatchObject({
      code: "DELIVERY_TIMEOUT",
      data: { outcome: "unknown", retryable: false, details: { phase: "total" } },
    });
    agent.answerWith(({ body }) => ({ status: 200, body: completed(body.envelope.input) }));
    expect((await caller.request("call", { capability: agent.capability, input: 2 })).data).toBe(2);
  });

  test("RES-10: that cannot be connected to got nothing, and the error names the phase", async () => {
    const hole = await BlackHole.open();
    try {
      const endpoint = `http://127.0.0.1:${hole.port}/hook`;
      const card = cardOf({ transport: { type: "http", endpoint } });
      expect((await node().http.post("/v1/agents", { card })).status).toBeLessThan(300);
      const capability = card.capabilities[0].name;
      const error = await caller.refused("call", { capability, input: 1, timeoutMs: 6_000 });
      expect(error).toMatchObject({
        code: "UNAVAILABLE",
        data: { outcome: "not_executed", retryable: true, details: { phase: "connect", limitMs: 500 } },
      });
    } finally {
      await hole.close();
    }
  });

  test("is probed at its origin's /ping and is suspect when that fails, online when it answers again", async () => {
    const agent = await join(echo, cardOf({ heartbeatIntervalSec: 0.5 }));
    await caller.request("watch", { agentId: agent.card.agentId });
    expect(await agent.probes.next("the probe")).toBe("/ping");
    agent.pingStatus = 500;
    await caller.waitFor("instance.suspect");
    agent.pingStatus = 404;
    await caller.waitFor("instance.online");
    expect((await caller.request("call", { capability: agent.capability, input: 3 })).data).toBe(3);
  });

  test("whose server is gone: the call says what is known about side effects", async () => {
    const agent = await join(echo);
    agents.splice(0);
    await agent.close();
    const error = await caller.refused("call", { capability: agent.capability, input: 1, timeoutMs: 1_000 });
    expect(["UNAVAILABLE", "DELIVERY_TIMEOUT"]).toContain(error.code);
    expect(error.data.outcome).toBe("not_executed");
  });

  test("SEC-7: an endpoint that is no http address is refused", async () => {
    for (const endpoint of ["file:///etc/passwd", "ftp://x/y", "not a url", ""]) {
      const { status, body } = await node().http.post("/v1/agents", {
        card: { ...cardOf(), transport: { type: "http", endpoint } },
      });
      expect(status).toBe(422);
      expect(body).toMatchObject({ code: "INVALID_CARD", path: expect.stringContaining("transport.endpoint") });
    }
  });
});
