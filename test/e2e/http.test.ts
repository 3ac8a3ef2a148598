import { beforeAll, describe, expect, test } from "vitest";
import { cardOf, completed, failed } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId } from "../kit/wire.js";

const node = useNode();
const { join } = usePeers(node);

describe("EDGE-5: call and tasks over HTTP", () => {
  test("POST /v1/call and /v1/invoke answer as the socket does", async () => {
    const agent = await join();
    for (const path of ["/v1/call", "/v1/invoke"]) {
      const { status, body } = await node().http.post(path, { capability: agent.capability, input: [1, { a: null }] });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        messageId: expect.any(String),
        traceId: expect.any(String),
        data: [1, { a: null }],
        agentId: agent.agentId,
        instanceId: agent.instanceId,
      });
    }
  });

  test("a business error is 200 with the error in the body", async () => {
    const agent = await join(cardOf(), () => failed("NO_STOCK", "sold out"));
    const { status, body } = await node().http.post("/v1/call", { capability: agent.capability, input: 1 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      messageId: expect.any(String),
      traceId: expect.any(String),
      error: { code: "AGENT_ERROR", outcome: "executed", retryable: false, details: { code: "NO_STOCK" } },
    });
  });

  test("a task is submitted, listed, followed and read", async () => {
    const agent = await join(cardOf(), () => undefined);
    const groupId = `group-${newId()}`;
    const submitted = await node().http.post("/v1/tasks", { capability: agent.capability, input: 1, groupId });
    expect([200, 201, 202]).toContain(submitted.status);
    const { messageId } = submitted.body;
    const delivery = await agent.next();
    const list = async (query: string): Promise<string[]> =>
      (await node().http.get(`/v1/tasks?${query}`)).body.tasks.map((t: Json) => t.messageId);
    expect(await list(`group=${groupId}`)).toEqual([messageId]);
    expect(await list(`capability=${agent.capability}&state=delivered`)).toEqual([messageId]);
    expect(await list(`capability=${agent.capability}&state=completed`)).toEqual([]);
    expect(await list(`agent=${agent.agentId}`)).toEqual([messageId]);
    expect(
      await list(`group=${groupId}&since=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`),
    ).toEqual([]);
    const waiting = node().http.get(`/v1/tasks/${messageId}?waitMs=6000`);
    agent.wire.respond(delivery.id, completed("done"));
    expect(await waiting).toMatchObject({
      status: 200,
      body: { messageId, state: "completed", data: "done", groupId },
    });
    const { body } = await node().http.get(`/v1/tasks/${messageId}/events`);
    expect(body.events.length).toBeGreaterThanOrEqual(3);
    const after = body.events[0].id;
    expect(
      (await node().http.get(`/v1/tasks/${messageId}/events?after=${after}`)).body.events.map((e: Json) => e.id),
    ).toEqual(body.events.slice(1).map((e: Json) => e.id));
    expect((await node().http.get(`/v1/messages/${messageId}`)).body).toMatchObject({
      task: { messageId, state: "completed" },
    });
  });

  test("a task is cancelled", async () => {
    const agent = await join(cardOf(), () => undefined);
    const { messageId } = (await node().http.post("/v1/tasks", { capability: agent.capability, input: 1 })).body;
    await agent.next();
    expect(await node().http.post(`/v1/tasks/${messageId}/cancel`, { reason: "no" })).toMatchObject({
      status: 200,
      body: { state: "canceled" },
    });
  });

  test("tasks are listed page by page", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 50 }));
    const groupId = `group-${newId()}`;
    const ids = [];
    for (let n = 0; n < 7; n++)
      ids.push(
        (await node().http.post("/v1/tasks", { capability: agent.capability, input: n, groupId })).body.messageId,
      );
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await node().http.get(`/v1/tasks?group=${groupId}&limit=3${cursor}`);
      expect(body.tasks.length).toBeLessThanOrEqual(3);
      seen.push(...body.tasks.map((t: Json) => t.messageId));
      cursor = body.cursor === undefined ? "" : `&cursor=${encodeURIComponent(body.cursor)}`;
    } while (cursor !== "" && seen.length < 20);
    expect([...seen].sort()).toEqual(ids.sort());
  });

  test("OBS-2: what is queued is one query", async () => {
    const agent = await join();
    await agent.deregister();
    await node().http.post("/v1/tasks", { capability: agent.capability, input: 1 });
    const { status, text } = await node().http.get("/v1/queues");
    expect(status).toBe(200);
    expect(text).toContain(agent.capability);
  });

  test.each([
    ["/v1/tasks/00000000-0000-7000-8000-000000000000"],
    ["/v1/tasks/00000000-0000-7000-8000-000000000000/events"],
    ["/v1/messages/00000000-0000-7000-8000-000000000000"],
    ["/v1/traces/0000000000000000000000000000dead"],
    ["/v1/no-such-route"],
  ])("GET %s is NOT_FOUND as JSON", async (path) => {
    const { status, body } = await node().http.get(path);
    expect(status).toBe(404);
    expect(body).toMatchObject({
      code: "NOT_FOUND",
      retryable: false,
      outcome: "not_executed",
      message: expect.stringContaining("NOT_FOUND"),
    });
  });
});

describe("OBS-3: liveness, readiness, metrics", () => {
  test("GET /ping and /readyz answer 200", async () => {
    expect((await node().http.get("/ping")).status).toBe(200);
    expect((await node().http.get("/readyz")).status).toBe(200);
  });

  test("GET /metrics is Prometheus text that counts calls and tasks", async () => {
    const agent = await join();
    const read = async () => (await node().http.get("/metrics")).text;
    const sum = (text: string, part: RegExp) =>
      text
        .split("\n")
        .filter((line) => !line.startsWith("#") && part.test(line))
        .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
    const before = await read();
    expect(before).toMatch(/^# TYPE agent_reach\w+ (counter|gauge|histogram)$/m);
    for (let n = 0; n < 3; n++) await node().http.post("/v1/call", { capability: agent.capability, input: n });
    const after = await read();
    expect(sum(after, /call\w*_total/) - sum(before, /call\w*_total/)).toBeGreaterThanOrEqual(3);
    for (const line of after.split("\n")) expect(line).toMatch(/^$|^#|^[a-zA-Z_:][\w:]*(\{.*\})? [-+.\deEInfNa]+$/);
    // A label must not have one value per message.
    expect(after).not.toMatch(/messageId|[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });
});

describe("EDGE-5: the OpenAPI description", () => {
  let description: Json;
  beforeAll(async () => {
    description = (await node().http.get("/openapi.json")).body;
  });

  test("is OpenAPI 3.1 and names every route of the contract", () => {
    expect(description.openapi).toMatch(/^3\.1/);
    const routes = Object.entries<Json>(description.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((m) => /^(get|post|delete|put|patch)$/.test(m))
        .map((m) => `${m.toUpperCase()} ${path.replace(/\{\w+\}/g, "{}")}`),
    );
    for (const route of [
      "GET /ping",
      "GET /readyz",
      "GET /metrics",
      "GET /openapi.json",
      "POST /v1/agents",
      "GET /v1/agents",
      "GET /v1/agents/{}",
      "GET /v1/agents/{}/versions/{}",
      "POST /v1/instances/{}/heartbeat",
      "POST /v1/instances/{}/drain",
      "POST /v1/instances/{}/pull",
      "DELETE /v1/instances/{}",
      "POST /v1/discover",
      "POST /v1/call",
      "POST /v1/invoke",
      "POST /v1/tasks",
      "GET /v1/tasks",
      "GET /v1/tasks/{}",
      "GET /v1/tasks/{}/events",
      "POST /v1/tasks/{}/cancel",
      "POST /v1/deliveries/{}/ack",
      "POST /v1/deliveries/{}/nack",
      "POST /v1/deliveries/{}/complete",
      "GET /v1/messages/{}",
      "GET /v1/traces/{}",
      "GET /v1/queues",
      "GET /v1/events",
      "GET /v1/dead-letters",
      "POST /v1/dead-letters/requeue",
      "POST /v1/dead-letters/discard",
    ])
      expect(routes).toContain(route);
  });

  test("describes what is there: each path and method answers as itself, none as a missing route", async () => {
    const missing = (await node().http.get("/v1/no-such-route")).body.message;
    for (const [path, item] of Object.entries<Json>(description.paths)) {
      const filled = path.replace(/\{(\w+)\}/g, (_all, name) =>
        name === "n" || /version/i.test(name)
          ? "1"
          : /trace/i.test(name)
            ? "f".repeat(32)
            : /agent/i.test(name)
              ? "nobody"
              : newId(),
      );
      for (const method of Object.keys(item).filter((m) => /^(get|post|delete)$/.test(m))) {
        if (path === "/v1/events") continue;
        const { status, body } = await node().http.send(
          method.toUpperCase(),
          filled,
          method === "get" ? undefined : "{}",
        );
        expect(status, `${method} ${path}`).not.toBe(405);
        if (status === 404)
          expect(body?.message.replace(filled, ""), `${method} ${path}`).not.toBe(
            missing.replace("/v1/no-such-route", ""),
          );
        expect(status, `${method} ${path}`).toBeLessThan(500);
      }
    }
    const stream = await node().http.events("/v1/events");
    expect(stream.status).toBe(200);
    stream.close();
  });
});
