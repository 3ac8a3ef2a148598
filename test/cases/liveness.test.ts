/** Area L of the failures that users of comparable systems reported: ghosts, flapping, clocks. docs/reference/cases.md lists them. */
import { AgentReachClient } from "@agent-reach/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Feed } from "../../packages/server/src/gateway/feed.js";
import { cardOf, SocketAgent } from "../kit/agents.js";
import { FakePeer } from "../kit/fake-peer.js";
import { card, type FakeAgent, FakeRooms } from "../kit/fake-rooms.js";
import { settle } from "../kit/fake-system.js";
import { HalfOpenProxy } from "../kit/faults.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json } from "../kit/wire.js";
import { within } from "../kit/within.js";

const DAY_MS = 86_400_000;

describe("on fake time", () => {
  let rooms: FakeRooms;
  beforeEach(async () => {
    rooms = await FakeRooms.open();
  });
  const recordOf = (agent: FakeAgent) => rooms.registry.view.instances.get(agent.registered.instanceId)?.record;
  const states = (agents: FakeAgent[]) => agents.map((agent) => recordOf(agent)?.state ?? "purged");
  /** Types of the events that watchers get from now on. */
  const watch = (): string[] => {
    const seen: string[] = [];
    const feed = new Feed(rooms.registry, rooms.system);
    feed.start();
    feed.watch(undefined, {}, ({ type }) => seen.push(type));
    return seen;
  };

  test("L01: an identity that said goodbye stays away, whatever its old run still says, until it is registered anew", async () => {
    const orders = await rooms.join(card("orders", ["query"]));
    const { instanceId, instanceKey, epoch } = orders.registered;
    // A new name needs an instance of its own; the old one's id is not to be had under it.
    await expect(rooms.join(card("orders-v2", ["query"]), { instanceId, instanceKey })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    await rooms.join(card("orders-v2", ["query_v2"]));
    await rooms.registry.deregister(orders.instance, "renamed");
    const seen = watch();
    for (let i = 0; i < 3; i++) {
      await rooms.pass(15_000);
      expect(rooms.registry.heartbeat(orders.instance, {})).toBe("unknown");
      rooms.registry.renewAll([rooms.registry.authorize(instanceId, instanceKey, epoch)]);
      await settle();
    }
    expect(seen.filter((type) => type !== "instance.suspect")).toEqual([]);
    expect(recordOf(orders)).toMatchObject({ state: "offline", reason: "renamed" });
    expect(rooms.call({ capability: "query", timeoutMs: 10 }).answers).toBe(0);
    expect(orders.link.deliveries).toEqual([]);
    await rooms.leap(DAY_MS + 60_000);
    await rooms.registry.purge();
    expect(rooms.registry.view.agent("default", "orders")).toBeUndefined();
    expect(() => rooms.registry.authorize(instanceId, instanceKey, epoch)).toThrow("register again");
    const anew = await rooms.join(card("orders", ["query"]), { instanceId });
    expect(anew.registered.epoch).toBeGreaterThan(epoch);
  });

  test("L09: leases do not follow the wall clock, forwards or backwards, nor do those that a restart brings back", async () => {
    const agents: FakeAgent[] = [];
    for (let i = 0; i < 10; i++) agents.push(await rooms.join(card(`a${i}`)));
    const seen = watch();
    for (const jump of [600_000, -3_600_000, 10 * DAY_MS, -10 * DAY_MS]) {
      rooms.system.jumpWall(jump);
      await rooms.pass(10_000);
      for (const { instance } of agents) rooms.registry.renew(instance);
    }
    expect(seen).toEqual([]);
    rooms.system.jumpWall(-DAY_MS);
    rooms = await rooms.restart();
    rooms.system.jumpWall(2 * 3_600_000);
    await rooms.pass(74_000);
    expect(states(agents)).toEqual(agents.map(() => "suspect"));
  });

  test("L11: a lease ends at its end, not never; and one that is over when the node restarts gets no more than one lease", async () => {
    const agent = await rooms.join(card("a1"));
    await rooms.pass(45_000);
    const atTheEnd = recordOf(agent)!.state;
    await rooms.pass(20);
    expect(["online", "suspect"]).toContain(atTheEnd);
    expect(recordOf(agent)!.state).toBe("suspect");
    await rooms.pass(29_980);
    rooms = await rooms.restart();
    await rooms.pass(75_100);
    expect(recordOf(agent)!.state).toBe("offline");
  });

  test("L12: the end of an old run's lease cannot touch the run that came after it", async () => {
    const crashed = await rooms.join(card("a1"));
    await rooms.pass(40_000);
    await rooms.cut(crashed);
    await rooms.pass(2_000);
    const again = await rooms.join(card("a1"), crashed.registered);
    expect(again.registered.epoch).toBe(2);
    // Past the ends of ttl and of grace of the first run.
    for (const ms of [4_000, 30_000]) {
      await rooms.pass(ms);
      expect(recordOf(again)!.state).toBe("online");
    }
    rooms.registry.lost(again.instance, crashed.link, "the old socket is noticed at last");
    await settle();
    expect(recordOf(again)).toMatchObject({ state: "online", epoch: 2 });
    expect(() => rooms.registry.authorize(crashed.registered.instanceId, crashed.registered.instanceKey, 1)).toThrow(
      "epoch",
    );
  });

  test("L14: a busy agent that misses its heartbeats is suspect first; its calls wait for their own deadline, and its late word counts", async () => {
    const agent = await rooms.join(card("a1", ["query_order"], { heartbeatIntervalSec: 5 }));
    const [one, two] = [1, 2].map(() => rooms.call({ capability: "query_order", timeoutMs: 60_000 }));
    const [first, second] = [agent.link.next(), agent.link.next()];
    first.accept();
    second.accept();
    await rooms.pass(20_000);
    expect(recordOf(agent)).toMatchObject({ state: "suspect", epoch: 1 });
    expect([one!.answers, two!.answers]).toEqual([0, 0]);
    rooms.registry.renew(agent.instance);
    await rooms.complete(agent, first, { late: true });
    expect(one!.data).toEqual({ late: true });
    expect(recordOf(agent)).toMatchObject({ state: "online", epoch: 1 });
    await rooms.pass(15_000);
    await rooms.complete(agent, second, { later: true });
    expect(two!.data).toEqual({ later: true });
  });

  test("L15: fifty old heartbeats in one burst revive nobody, and bring a suspect back once", async () => {
    const samples = (i: number) => [{ at: new Date(rooms.system.now() - ((i * 7) % 50) * 6_000).toISOString() }];
    const suspect = await rooms.join(card("suspect"));
    const gone = await rooms.join(card("gone", [], { heartbeatIntervalSec: 5 }));
    await rooms.pass(50_000);
    expect(states([suspect, gone])).toEqual(["suspect", "offline"]);
    const seen = watch();
    const answers = Array.from({ length: 50 }, (_, i) => [
      rooms.registry.heartbeat(gone.instance, { samples: samples(i) }),
      rooms.registry.heartbeat(suspect.instance, { samples: samples(i) }),
    ]);
    await rooms.pass(1_000);
    expect(new Set(answers.map(([dead]) => dead))).toEqual(new Set(["unknown"]));
    expect(states([suspect, gone])).toEqual(["online", "offline"]);
    expect(seen).toEqual(["instance.online"]);
  });

  test("L17: heartbeats that come up to two intervals late cost nothing, and one that still flaps rests in between", async () => {
    const starved = await rooms.join(card("starved", ["query"], { heartbeatIntervalSec: 15 }));
    const seen = watch();
    for (let at = 0, next = 0; at < 300_000; at = next) {
      next = Math.max(at, (Math.floor(at / 15_000) + 1) * 15_000 + rooms.system.random() * 29_000);
      await rooms.pass(Math.min(next - at, 44_000));
      rooms.registry.heartbeat(starved.instance, {});
    }
    expect(seen).toEqual([]);
    const flapping = await rooms.join(card("flapping", ["query"], { heartbeatIntervalSec: 5 }));
    let given = 0;
    for (let i = 0; i < 20; i++) {
      await rooms.pass(16_000);
      rooms.registry.heartbeat(flapping.instance, {});
      rooms.registry.renew(starved.instance);
      await settle();
      if (flapping.instance.coolDownUntil <= rooms.system.monotonic()) given++;
    }
    expect(flapping.instance.flapping).toMatchObject({ losses: expect.any(Number) });
    // Only until it was noticed.
    expect(given).toBe(3);
  });

  test("L18: load, health and words that change wake none of a hundred watchers", async () => {
    const agents: FakeAgent[] = [];
    for (let i = 0; i < 50; i++) agents.push(await rooms.join(card(`a${i}`)));
    const watchers = Array.from({ length: 100 }, watch);
    const { revision } = rooms.registry.view;
    for (let second = 0; second < 10; second++) {
      for (const [i, { instance }] of agents.entries())
        rooms.registry.heartbeat(instance, {
          load: { running: second, queued: i },
          health: 1 - second / 100,
          facts: { message: `${second}` },
        });
      await rooms.pass(1_000);
    }
    expect(watchers.flat()).toEqual([]);
    expect(rooms.registry.view.revision).toBe(revision);
  });

  test("L20: a node that slept through two minutes expires nobody whose heartbeats lie unread", async () => {
    const agents: FakeAgent[] = [];
    for (let i = 0; i < 20; i++) agents.push(await rooms.join(card(`a${i}`)));
    const seen = watch();
    rooms.system.stall(120_000);
    // Timers run before what arrived is read, as in a real event loop.
    await rooms.pass(0);
    for (const { instance } of agents) rooms.registry.heartbeat(instance, {});
    await rooms.pass(40_000);
    expect(seen).toEqual([]);
    expect(states(agents)).toEqual(agents.map(() => "online"));
  });

  test("L23: a node with a thousand agents that restarts gives each of them a whole lease from when it is ready", async () => {
    const agents: FakeAgent[] = [];
    for (let i = 0; i < 1_000; i++) agents.push(await rooms.join(card(`a${i}`, [])));
    rooms.stop();
    await rooms.pass(200_000);
    rooms = await rooms.restart();
    await rooms.pass(70_000);
    expect(new Set(states(agents))).toEqual(new Set(["suspect"]));
    const again = await rooms.join(card("a0", []), agents[0]!.registered);
    expect(again.registered.epoch).toBe(2);
    expect(recordOf(again)).toMatchObject({ state: "online" });
  });
});

describe("on the SDK's fake time", () => {
  test.each([
    ["with a monotonic clock that went on", (peer: FakePeer) => peer.system.stall(600_000)],
    ["with one that stood still meanwhile", (peer: FakePeer) => peer.system.jumpWall(600_000)],
  ])(
    "L21: a process that slept ten minutes %s finds out at once whether its socket is dead, and registers anew",
    async (_, sleep) => {
      const peer = new FakePeer();
      const { client, session } = await peer.agent({ query_order: () => 1 });
      await peer.advance(19_000);
      peer.answers["ping"] = () => new Promise(() => {});
      peer.answers["heartbeat"] = () => new Promise(() => {});
      sleep(peer);
      await peer.advance(20_000);
      expect(session.of("ping")).toHaveLength(1);
      await peer.advance(11_000);
      expect(session.closedWith).toBeDefined();
      await peer.advance(1_000);
      expect(peer.sessions).toHaveLength(2);
      expect(peer.session.of("register")).toHaveLength(1);
      expect(client.state).toBe("online");
    },
  );

  test("L21: one whose socket is alive stays on it", async () => {
    const peer = new FakePeer();
    const { client, session } = await peer.agent({ query_order: () => 1 });
    peer.system.jumpWall(600_000);
    await peer.advance(120_000);
    expect(peer.sessions).toEqual([session]);
    expect(client.state).toBe("online");
  });

  test("L23: a node that is not ready yet is asked again soon, under the same identity", async () => {
    const peer = new FakePeer();
    const { registered } = await peer.agent({ query_order: () => 1 });
    const { hello } = peer.answers;
    const { ReachError } = await import("@agent-reach/protocol");
    peer.answers["hello"] = () => {
      throw new ReachError("NOT_READY", "loading");
    };
    peer.session.close(1006);
    await peer.advance(20_000);
    peer.answers["hello"] = hello!;
    await peer.advance(30_000);
    expect(peer.session.of("register").map(({ params }) => params.instanceId)).toEqual([registered.instanceId]);
  });
});

describe("on a real node", () => {
  const node = useNode({ settings: { session: { pingIntervalMs: 200 }, webhook: { probeIntervalSec: 0.2 } } });
  const { bare, keep } = usePeers(node);
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  test("L04: with the cable pulled the lease ends, a goodbye from elsewhere works at once, and the dead socket is closed", async () => {
    const watcher = await bare();
    const proxy = await HalfOpenProxy.to(node().port);
    ends.push(() => proxy.close());
    const agent = keep(await SocketAgent.join(proxy.url, cardOf({ heartbeatIntervalSec: 0.3 })));
    await watcher.request("watch", { agentId: agent.agentId });
    const before = (await node().http.get("/metrics")).text;
    proxy.blackHole();
    await watcher.waitFor("instance.suspect");
    const { instanceId, instanceKey, epoch } = agent.registered;
    expect((await node().http.delete(`/v1/instances/${instanceId}`, { instanceKey, epoch })).status).toBe(200);
    await watcher.waitFor("instance.offline");
    const sessions = (text: string) => Number(/^agent_reach_sessions (\d+)/m.exec(text)![1]);
    await within(
      (async () => {
        while (sessions((await node().http.get("/metrics")).text) >= sessions(before)) await watcher.request("ping");
      })(),
      "the node to close the socket that answers no ping",
    );
  });

  test("L08: while the node restarts a caller gets no empty list, and its call waits", async () => {
    const agents = await Promise.all(
      [1, 2, 3].map(async (n) => {
        const agent = new AgentReachClient({ registryUrl: node().url, reconnect: { minMs: 20, maxMs: 200 } });
        ends.push(() => agent.close());
        await agent.register({ agentId: `l08-${n}`, capabilities: [{ name: "l08", idempotent: true }] });
        agent.onCapability("l08", () => n);
        await agent.start();
        return agent;
      }),
    );
    const caller = new AgentReachClient({ registryUrl: node().url, reconnect: { minMs: 20, maxMs: 200 } });
    ends.push(() => caller.close());
    const idsOf = (list: { agentId: string }[]) => list.map(({ agentId }) => agentId).sort();
    expect(idsOf(await caller.agents({ capability: "l08" }))).toEqual(["l08-1", "l08-2", "l08-3"]);
    await node().kill();
    const lists: Promise<Json[]>[] = [];
    const call = caller.callSync({ capability: "l08", timeoutMs: 60_000 });
    lists.push(caller.agents({ capability: "l08" }));
    await node().start();
    lists.push(caller.agents({ capability: "l08" }));
    for (const list of await within(Promise.all(lists), "the lists", 60_000))
      expect(idsOf(list)).toEqual(["l08-1", "l08-2", "l08-3"]);
    expect(await within(call, "the call", 60_000)).toMatchObject({ ok: true });
    expect(agents.map((agent) => agent.registered?.epoch)).toContain(2);
  }, 90_000);

  test("L06: what was registered stays registered when the node is killed at once, and must show itself again", async () => {
    const registered = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const { status, body } = await node().http.post("/v1/agents", { card: cardOf({ agentId: `l06-${n}` }) });
        expect(status).toBe(200);
        return body;
      }),
    );
    await node().restart("SIGKILL");
    const { agents } = await (await bare()).request("agents.list", { limit: 500 });
    const found = new Map<string, Json>(agents.map((agent: Json) => [agent.agentId, agent]));
    for (const { agentId, instanceId } of registered)
      expect(found.get(agentId)).toMatchObject({ state: "suspect", instances: [{ instanceId }] });
  });

  test("L03: a new address replaces the old one, and what answers at the old one vouches for nobody", async () => {
    const { WebhookAgent } = await import("../kit/webhook.js");
    const [here, there] = [
      await WebhookAgent.listen(() => ({ status: 200 })),
      await WebhookAgent.listen(() => ({ status: 200 })),
    ];
    ends.push(() => here.close());
    const at = (endpoint: string) =>
      cardOf({ agentId: "l03", heartbeatIntervalSec: 0.3, transport: { type: "http", endpoint } });
    const first = (await node().http.post("/v1/agents", { card: at(here.endpoint) })).body;
    await here.probes.next("a probe of the first address");
    const { instanceId, instanceKey } = first;
    const moved = await node().http.post("/v1/agents", { card: at(there.endpoint), instanceId, instanceKey });
    expect(moved.body).toMatchObject({ instanceId, epoch: 2 });
    const wire = await bare();
    const { instances } = await wire.request("agents.get", { agentId: "l03" });
    expect(instances).toMatchObject([{ instanceId, epoch: 2, address: there.endpoint }]);
    // A probe that was on its way may still arrive; after that the old address is left alone.
    await there.probes.next("a probe of the new address");
    here.probes.drain();
    await wire.request("watch", { agentId: "l03" });
    await there.close();
    await wire.waitFor("instance.suspect");
    await wire.waitFor("instance.offline");
    expect(here.probes.untaken).toEqual([]);
  });
});
