import { beforeEach, describe, expect, test } from "vitest";
import { cardOf, completed, failed, PullAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";

/** EDGE-5, ROUTE-8: agents that have no socket ask for their work. A pull is *sent*, the ack is *received*. */
const node = useNode({
  settings: { delivery: { slowAckTimeoutMs: 400, backoffMs: [50, 100, 150], lostGraceMs: 200 } },
});
const peers = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await peers.bare();
});
const join = (card: Json = cardOf()): Promise<PullAgent> => PullAgent.join(node(), card);
const submit = async (agent: PullAgent, more: Json = {}): Promise<string> =>
  (await caller.request("submit", { capability: agent.capability, input: 1, ...more })).messageId;
const result = (messageId: string, waitMs = 6_000) => caller.request("task.result", { messageId, waitMs });

describe("EDGE-5: an agent over plain HTTP", () => {
  test("registers with transport pull by default, and is online", async () => {
    const agent = await join();
    expect(agent.registered).toMatchObject({
      epoch: 1,
      version: 1,
      instanceKey: expect.any(String),
      lease: { ttlSec: 45 },
    });
    const { body } = await node().http.get(`/v1/agents/${agent.card.agentId}`);
    expect(body).toMatchObject({ state: "online", card: { transport: { type: "pull" } } });
  });

  test("gets a task by pull, acknowledges and completes it", async () => {
    const agent = await join();
    const messageId = await submit(agent, { input: { a: 1 } });
    const [delivery, ...more] = await agent.pull();
    expect(more).toEqual([]);
    expect(delivery).toMatchObject({
      attempt: 1,
      envelope: { messageId, kind: "task", capability: agent.capability, input: { a: 1 } },
    });
    expect((await agent.ack(delivery)).status).toBe(200);
    expect((await result(messageId, 0)).state).toBe("working");
    expect(await agent.complete(delivery, completed({ done: true }))).toMatchObject({
      status: 200,
      body: { recorded: true },
    });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: { done: true } });
  });

  test("gets a call by pull; the caller never sees the difference", async () => {
    const agent = await join();
    const called = caller.request("call", { capability: agent.capability, input: 2 });
    const [delivery] = await agent.pull();
    expect(delivery.envelope.kind).toBe("call");
    await agent.complete(delivery, completed("pulled"));
    expect(await called).toMatchObject({ data: "pulled", agentId: agent.card.agentId });
  });

  test("a pull with nothing to do waits, and answers an empty list at waitMs", async () => {
    const agent = await join();
    const started = performance.now();
    expect(await agent.pull({ waitMs: 200 })).toEqual([]);
    expect(performance.now() - started).toBeGreaterThanOrEqual(180);
    expect(await agent.pull({ waitMs: 0 })).toEqual([]);
  });

  test("a waiting pull gets work the moment it comes", async () => {
    const agent = await join();
    const pulling = agent.pull({ waitMs: 8_000 });
    const messageId = await submit(agent);
    expect((await pulling).map((d) => d.envelope.messageId)).toEqual([messageId]);
  });

  test("gets no more than max at once", async () => {
    const agent = await join();
    for (let input = 0; input < 5; input++) await submit(agent, { input });
    const first = await agent.pull({ max: 2 });
    expect(first).toHaveLength(2);
    const got = first.map((d) => d.envelope.input);
    while (got.length < 5) got.push(...(await agent.pull({ max: 2 })).map((d) => d.envelope.input));
    expect(got.sort()).toEqual([0, 1, 2, 3, 4]);
  });

  test("a business error by complete fails the task", async () => {
    const agent = await join();
    const messageId = await submit(agent);
    const [delivery] = await agent.pull();
    await agent.complete(delivery, failed("NO_STOCK"));
    expect(await result(messageId)).toMatchObject({ state: "failed", error: { details: { code: "NO_STOCK" } } });
  });

  test("a nack is a refusal: not executed, and another instance gets it", async () => {
    const card = cardOf();
    const refusing = await join(card);
    const messageId = await submit(refusing);
    const [delivery] = await refusing.pull();
    const willing = await peers.join(card);
    expect((await refusing.nack(delivery, "too much to do", 30_000)).status).toBe(200);
    expect(await result(messageId)).toMatchObject({ state: "completed", instanceId: willing.instanceId });
    willing.cut();
  });

  test("a pulled task that is not acknowledged comes again as the next attempt", async () => {
    const agent = await join();
    const messageId = await submit(agent);
    expect((await agent.pull())[0].attempt).toBe(1);
    const [again] = await agent.pull();
    expect(again).toMatchObject({ attempt: 2, envelope: { messageId } });
    expect((await agent.complete(again, completed("second"))).body).toEqual({ recorded: true });
  });

  test("a task that is not pulled spends no attempt", async () => {
    const agent = await join();
    const messageId = await submit(agent);
    // As long as it takes for an unacknowledged delivery to be late.
    expect(await result(messageId, 1_000)).toMatchObject({ state: "queued", attempt: 0 });
    expect((await agent.pull())[0].attempt).toBe(1);
  });
});

describe("REG-2: the routes of an instance", () => {
  test("need its instanceKey and epoch", async () => {
    const agent = await join();
    const path = `/v1/instances/${agent.registered.instanceId}`;
    const { instanceKey } = agent.registered;
    for (const route of ["heartbeat", "pull", "drain"]) {
      for (const body of [{}, { instanceKey }, { epoch: 1 }, { instanceKey: "wrong", epoch: 1 }]) {
        const { status, body: error } = await node().http.post(`${path}/${route}`, { waitMs: 0, max: 1, ...body });
        expect([400, 403]).toContain(status);
        expect(["INVALID_REQUEST", "FORBIDDEN"]).toContain(error.code);
      }
    }
    expect((await node().http.delete(path, { instanceKey: "wrong", epoch: 1 })).status).toBe(403);
    expect((await node().http.get(`/v1/agents/${agent.card.agentId}`)).body.state).toBe("online");
  });

  test("heartbeat, drain and goodbye", async () => {
    const agent = await join();
    expect(await agent.post("heartbeat", { load: { running: 1, queued: 0 }, health: 0.95 })).toMatchObject({
      status: 200,
      body: { state: "online" },
    });
    expect(await agent.post("drain", { reason: "restart" })).toMatchObject({ status: 200, body: { running: 0 } });
    expect((await agent.post("heartbeat")).body).toEqual({ state: "draining" });
    const { instanceKey, epoch, instanceId } = agent.registered;
    expect(await node().http.delete(`/v1/instances/${instanceId}`, { instanceKey, epoch })).toMatchObject({
      status: 200,
      body: {},
    });
    expect((await agent.post("heartbeat")).body).toEqual({ state: "unknown" });
    expect((await node().http.get(`/v1/agents/${agent.card.agentId}`)).body.state).toBe("offline");
  });

  test("heartbeat of an instance that nobody knows is answered unknown", async () => {
    const body = { instanceKey: "x", epoch: 1 };
    expect(await node().http.post(`/v1/instances/${newId()}/heartbeat`, body)).toMatchObject({
      status: 200,
      body: { state: "unknown" },
    });
  });

  test("a pull renews the lease (LIVE-1)", async () => {
    const agent = await join(cardOf({ heartbeatIntervalSec: 0.3 }));
    await caller.request("watch", { agentId: agent.card.agentId });
    for (let n = 0; n < 8; n++) await agent.pull({ waitMs: 250 });
    await caller.request("ping");
    expect(caller.notifications.untaken.filter((n) => n.params.type === "instance.suspect")).toEqual([]);
    await caller.waitFor("instance.suspect");
  });
});
