import { AgentReachClient } from "@agent-reach/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { cardOf, completed, PullAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { gate, within } from "../kit/within.js";

const node = useNode();
const { bare, join } = usePeers(node);
const clients: AgentReachClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
function client(): AgentReachClient {
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const reconnect = { minMs: 20, maxMs: 200 };
  const made = new AgentReachClient({ registryUrl: node().url, logger: quiet, reconnect });
  clients.push(made);
  return made;
}
let topics = 0;
const newTopic = () => `topic-${++topics}`;

describe("DLV-16: over a socket", () => {
  test("each subscriber gets what is published, and the publisher sees each delivery and hears of the end of all", async () => {
    const topic = newTopic();
    const publisher = await bare();
    const [one, two, other] = [await join(), await join(cardOf(), () => undefined), await join()];
    for (const agent of [one, two]) await agent.wire.request("subscribe", { topic });
    const { groupId, deliveries } = await publisher.request("publish", { topic, input: { n: 1 } });
    expect(deliveries).toBe(2);
    const first = await one.next();
    expect(first.envelope).toMatchObject({ kind: "task", capability: topic, topic, input: { n: 1 } });
    const second = await two.next();
    expect(await publisher.request("group.get", { groupId })).toMatchObject({ total: 2, settled: false });
    two.wire.respond(second.id, completed("seen"));
    const update = await publisher.nextNotification("group.update");
    expect(update).toMatchObject({ groupId, total: 2, settled: true, counts: { completed: 2, queued: 0 } });
    expect(await publisher.request("task.get", { messageId: second.envelope.messageId })).toMatchObject({
      state: "completed",
      capability: topic,
      topic,
      groupId,
      agentId: two.agentId,
      data: "seen",
    });
    expect(other.deliveries.untaken).toEqual([]);
  });

  test("an agent without the SDK unsubscribes, and gets nothing more", async () => {
    const topic = newTopic();
    const agent = await join();
    await agent.wire.request("subscribe", { topic });
    expect((await agent.wire.request("agents.get", { agentId: agent.agentId })).topics).toEqual([topic]);
    await agent.wire.request("unsubscribe", { topic });
    expect(await agent.wire.request("agents.get", { agentId: agent.agentId })).not.toHaveProperty("topics");
    expect(await agent.wire.request("publish", { topic })).toMatchObject({ deliveries: 0 });
  });

  test("whoever is no agent cannot subscribe, and is told why", async () => {
    const wire = await bare();
    expect(await wire.refused("subscribe", { topic: newTopic() })).toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining("register first"),
      data: { details: { policy: "registered-agent" } },
    });
  });

  test("all who offer a capability get it, those who are away when they come back", async () => {
    const { capabilities } = cardOf();
    const [here, away] = [await join(cardOf({ capabilities })), await join(cardOf({ capabilities }))];
    await away.deregister();
    const publisher = await bare();
    const published = await publisher.request("publish", { capability: capabilities[0].name, input: "all" });
    expect(published.deliveries).toBe(2);
    expect((await here.next()).envelope.input).toBe("all");
    const back = await join(away.card);
    expect((await back.next()).envelope).toMatchObject({ input: "all", target: { agentId: away.agentId } });
    expect(await publisher.refused("publish", { capability: "never_offered" })).toMatchObject({ code: "NO_ROUTE" });
  });
});

describe("DLV-16: over HTTP", () => {
  test("an agent that pulls subscribes, is published to, and the group can be looked at", async () => {
    const topic = newTopic();
    const agent = await PullAgent.join(node());
    expect(await agent.post("subscribe", { topic })).toMatchObject({ status: 200, body: {} });
    expect((await node().http.post("/v1/instances/not-an-id/subscribe", { topic })).status).toBe(400);
    const { body } = await node().http.post("/v1/publish", { topic, input: 7 });
    expect(body).toEqual({ groupId: expect.any(String), deliveries: 1 });
    const [delivery] = await agent.pull();
    expect(delivery.envelope).toMatchObject({ topic, input: 7 });
    await agent.complete(delivery, completed());
    const group = await node().http.get(`/v1/groups/${body.groupId}`);
    expect(group.body).toMatchObject({ groupId: body.groupId, total: 1, settled: true, counts: { completed: 1 } });
    await agent.post("unsubscribe", { topic });
    expect((await node().http.post("/v1/publish", { topic })).body).toMatchObject({ deliveries: 0 });
    expect(await node().http.post("/v1/publish", { input: 1 })).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST", path: "topic" },
    });
  });
});

describe("DLV-16: with the SDK", () => {
  test("what is published while a subscriber is away, and over a kill -9 of the node, reaches it when it comes back", async () => {
    const topic = newTopic();
    const agentId = `sdk-subscriber-${topics}`;
    const subscriber = async (handler: (input: { n: number }) => unknown) => {
      const agent = client();
      await agent.register({ agentId });
      await agent.subscribe(topic, handler);
      await agent.start();
      return agent;
    };
    const first = await subscriber(({ n }) => n);
    const publisher = client();
    const earlier = publisher.publish({ topic, input: { n: 1 } });
    expect(await within(earlier.done(), "the first to be handled")).toMatchObject({ counts: { completed: 1 } });
    await first.close();
    const group = publisher.publish({ topic, input: { n: 2 } });
    expect((await group.accepted).orThrow()).toEqual({ groupId: group.groupId, deliveries: 1 });
    await node().restart("SIGKILL");
    const got = gate<number>();
    await subscriber(({ n }) => got.open(n));
    expect(await within(got.opened, "what was missed")).toBe(2);
    expect(await within(group.done(), "the group to settle")).toMatchObject({
      settled: true,
      counts: { completed: 1 },
    });
  });
});
