import { AgentReachClient, type Handler } from "@agent-reach/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { cardOf, echo } from "../kit/agents.js";
import { HalfOpenProxy } from "../kit/faults.js";
import { type ReachNode, useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { eventually, gate, within } from "../kit/within.js";
import { quiet } from "./load.js";

/**
 * A route that dies without a word: both ends keep a connection that carries nothing, until it carries everything again.
 * The agents and callers behind it are the SDK's, since it is theirs to come back.
 */
/** The acknowledgement may be in the hole as well; here it is the lease that decides. */
const patient = { delivery: { ackTimeoutMs: 60_000 } };
const clients: AgentReachClient[] = [];
const proxies: HalfOpenProxy[] = [];
afterEach(async () => {
  // Without their route first: a goodbye would wait for it.
  for (const proxy of proxies.splice(0)) await proxy.close();
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function behind(node: ReachNode): Promise<{ route: HalfOpenProxy; client: AgentReachClient }> {
  const route = await HalfOpenProxy.to(node.port);
  proxies.push(route);
  const client = new AgentReachClient({
    registryUrl: route.url,
    logger: quiet,
    reconnect: { minMs: 20, maxMs: 200 },
  });
  clients.push(client);
  return { route, client };
}

/** An agent behind a route of its own; it begins work and ends it when it is let. */
async function agentBehind(node: ReachNode, card = cardOf()) {
  const { route, client } = await behind(node);
  const begun = gate();
  const allowed = gate<string>();
  let runs = 0;
  const handler: Handler = () => {
    runs++;
    begun.open();
    return allowed.opened;
  };
  client.register(card);
  client.onCapability(card.capabilities[0].name, handler);
  const { instanceId, instanceKey, epoch } = await client.start();
  return {
    route,
    client,
    card,
    capability: card.capabilities[0].name as string,
    identity: { instanceId, instanceKey, epoch },
    begun: () => within(begun.opened, "the agent behind the route to begin"),
    finish: allowed.open,
    runs: () => runs,
  };
}

/** Its lease is its own, so that a busy machine costs it nothing while the other one is meant to lose its lease. */
const steady = (capability: string) => cardOf({ heartbeatIntervalSec: 60, capability: { name: capability } });

describe("LIVE-5, DLV-11: a half-open connection to an agent that stays away for less than its grace", () => {
  const node = useNode({ settings: { ...patient, lease: { heartbeatIntervalSec: 0.5, graceSec: 60 } } });
  const { bare, join } = usePeers(node);

  test("makes it suspect by its lease; it gets nothing new, keeps its work, and hands it in when the route is back", async () => {
    const [watcher, caller] = [await bare(), await bare()];
    const agent = await agentBehind(node());
    const { instanceId, epoch } = agent.identity;
    await watcher.request("watch", { agentId: agent.card.agentId });
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: "before" });
    await agent.begun();

    agent.route.stall();
    await watcher.waitFor("instance.suspect", (event) => event.instanceId === instanceId);
    const other = await join(steady(agent.capability), echo);
    for (let n = 0; n < 5; n++) {
      const { data, agentId } = await caller.request("call", { capability: agent.capability, input: n });
      expect({ data, agentId }).toEqual({ data: n, agentId: other.agentId });
    }
    agent.finish("done in the dark");
    expect((await caller.request("task.get", { messageId })).state).not.toBe("completed");

    agent.route.heal();
    await watcher.waitFor("instance.online", (event) => event.instanceId === instanceId);
    const task = await caller.request("task.result", { messageId, waitMs: 8_000 }, 10_000);
    expect(task).toMatchObject({ state: "completed", data: "done in the dark", attempt: 1, instanceId });
    expect(agent.runs()).toBe(1);
    expect(agent.client.registered?.epoch).toBe(epoch);
    const back = await caller.request("call", { capability: agent.capability, input: 1, target: { instanceId } });
    expect(back).toMatchObject({ instanceId, data: "done in the dark" });
  }, 40_000);

  test("does not keep an operator from ending it: DELETE counts at once, and its work goes to another", async () => {
    const [watcher, caller] = [await bare(), await bare()];
    const agent = await agentBehind(node());
    const { instanceId, instanceKey, epoch } = agent.identity;
    await watcher.request("watch", { agentId: agent.card.agentId });
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: "to another" });
    await agent.begun();
    agent.route.stall();
    const other = await join(steady(agent.capability), echo);
    expect((await node().http.delete(`/v1/instances/${instanceId}`, { instanceKey, epoch })).status).toBe(200);
    await watcher.waitFor("instance.offline", (event) => event.instanceId === instanceId);
    const task = await caller.request("task.result", { messageId, waitMs: 8_000 }, 10_000);
    expect(task).toMatchObject({ state: "completed", data: "to another", attempt: 2, agentId: other.agentId });
    // It was ended, not forbidden: with its route back it finds that nobody knows it, and registers again by itself.
    agent.route.heal();
    agent.finish("too late");
    await watcher.waitFor("instance.online", (event) => event.instanceId === instanceId);
    expect((await caller.request("agents.get", { agentId: agent.card.agentId })).instances).toMatchObject([
      { instanceId, epoch: epoch + 1, state: "online" },
    ]);
    expect(await caller.request("task.get", { messageId })).toMatchObject({ state: "completed", data: "to another" });
  }, 40_000);
});

describe("LIVE-1, DLV-17: a half-open connection to an agent that stays away for longer than its grace", () => {
  const node = useNode({ settings: { ...patient, lease: { heartbeatIntervalSec: 0.5 } } });
  const { bare, join } = usePeers(node);

  test("gives its work to another, whose result is the only one, and the agent is back by itself under a new epoch", async () => {
    const [watcher, caller] = [await bare(), await bare()];
    const agent = await agentBehind(node());
    const { instanceId, epoch } = agent.identity;
    await watcher.request("watch", { agentId: agent.card.agentId });
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: "once" });
    await agent.begun();

    agent.route.stall();
    const other = await join(steady(agent.capability), echo);
    await watcher.waitFor("instance.offline", (event) => event.instanceId === instanceId);
    const task = await caller.request("task.result", { messageId, waitMs: 8_000 }, 10_000);
    expect(task).toMatchObject({ state: "completed", data: "once", attempt: 2, agentId: other.agentId });

    agent.finish("a second result");
    agent.route.heal();
    await watcher.waitFor("instance.online", (event) => event.instanceId === instanceId);
    expect((await caller.request("agents.get", { agentId: agent.card.agentId })).instances).toMatchObject([
      { instanceId, epoch: epoch + 1, state: "online" },
    ]);
    const back = await caller.request("call", { capability: agent.capability, input: 1, target: { instanceId } });
    expect(back.data).toBe("a second result");
    expect(await caller.request("task.get", { messageId })).toMatchObject({ state: "completed", data: "once" });
    const updates = caller.notifications.untaken.filter(({ method }) => method === "task.update");
    expect(updates.map(({ params }) => params.data)).toEqual(["once"]);
  }, 40_000);
});

describe("LIVE-5, DLV-11: a half-open connection to a caller", () => {
  const node = useNode({ settings: { session: { pingIntervalMs: 300 } } });
  const { join } = usePeers(node);

  test("is closed after three pongs are missing; a call and a task that ended meanwhile are told when the route is back", async () => {
    const { route, client } = await behind(node());
    const agent = await join(cardOf(), () => undefined);
    const { capability } = agent;
    const call = client.callAsync({ capability, input: "call" });
    const task = client.submit({ capability, input: "task" });
    expect((await task.accepted).ok).toBe(true);
    const deliveries = [await agent.next(), await agent.next()];

    route.stall();
    await eventually(
      async () => /^agent_reach_sessions (\d+)$/m.exec((await node().http.get("/metrics")).text)?.[1],
      (open) => open === "1",
      "the node to give up the connection to the caller",
    );
    for (const { id, envelope } of deliveries)
      agent.wire.respond(id, { status: "completed", data: `${envelope.input} is done` });
    // An answer on the same connection: both results are in.
    await agent.heartbeat();

    route.heal();
    expect(await within(call.result, "the call")).toMatchObject({ ok: true, data: "call is done" });
    expect(await within(task.result(), "the task")).toMatchObject({ state: "completed", data: "task is done" });
    expect(agent.deliveries.untaken).toEqual([]);
  }, 40_000);
});
