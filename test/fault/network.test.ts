import { afterEach, describe, expect, test } from "vitest";
import { cardOf, echo, SocketAgent } from "../kit/agents.js";
import { HalfOpenProxy } from "../kit/faults.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId } from "../kit/wire.js";
import { within } from "../kit/within.js";

const node = useNode({ settings: { session: { slowReaderBytes: 4_194_304 }, delivery: { lostGraceMs: 200 } } });
const { bare, join, keep } = usePeers(node);
const proxies: HalfOpenProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
});
const proxied = async (): Promise<HalfOpenProxy> => {
  const proxy = await HalfOpenProxy.to(node().port);
  proxies.push(proxy);
  return proxy;
};

describe("LIVE-1, L04: a half-open connection", () => {
  test("expires by its lease, whatever the socket says, and a goodbye from elsewhere works at once", async () => {
    const watcher = await bare();
    const proxy = await proxied();
    const agent = keep(await SocketAgent.join(proxy.url, cardOf({ heartbeatIntervalSec: 0.5 })));
    await watcher.request("watch", { agentId: agent.agentId });
    expect((await agent.heartbeat()).state).toBe("online");
    proxy.blackHole();
    await watcher.waitFor("instance.suspect");
    const { instanceId, instanceKey, epoch } = agent.registered;
    expect((await node().http.delete(`/v1/instances/${instanceId}`, { instanceKey, epoch })).status).toBe(200);
    await watcher.waitFor("instance.offline");
  });

  test("does not lose a task that went into it: the agent's next run gets it", async () => {
    const caller = await bare();
    const proxy = await proxied();
    const agent = keep(await SocketAgent.join(proxy.url, cardOf({ heartbeatIntervalSec: 0.3 })));
    proxy.blackHole();
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: "into the dark" });
    await join(agent.card, echo, agent.identity);
    expect(await caller.request("task.result", { messageId, waitMs: 15_000 }, 20_000)).toMatchObject({
      state: "completed",
      data: "into the dark",
    });
  });

  test("that is reset makes suspect at once", async () => {
    const watcher = await bare();
    const proxy = await proxied();
    const agent = await SocketAgent.join(proxy.url, cardOf({ heartbeatIntervalSec: 60 }));
    await watcher.request("watch", { agentId: agent.agentId });
    proxy.cut();
    await watcher.waitFor("instance.suspect");
  });
});

describe("LIVE-3: a thin pipe", () => {
  test("full of large frames does not cost an agent its lease", async () => {
    const [watcher, caller] = [await bare(), await bare()];
    const proxy = await proxied();
    const agent = keep(await SocketAgent.join(proxy.url, cardOf({ heartbeatIntervalSec: 1, maxConcurrentTasks: 2 })));
    await watcher.request("watch", { agentId: agent.agentId });
    proxy.throttle(131_072);
    const heart = setInterval(() => void agent.heartbeat().catch(() => {}), 1_000);
    try {
      const input = "x".repeat(1_000_000);
      const calls = Array.from({ length: 12 }, () =>
        caller.request("call", { capability: agent.capability, input, timeoutMs: 25_000 }, 30_000),
      );
      for (const { data } of await Promise.all(calls)) expect(data.length).toBe(input.length);
    } finally {
      clearInterval(heart);
    }
    await watcher.request("ping");
    expect(watcher.notifications.untaken.filter((n) => n.params.type === "instance.suspect")).toEqual([]);
  }, 40_000);
});

describe("M01, RES-5: a slow reader", () => {
  test("is closed with 4009, the node's memory stays bounded, and others do not wait", async () => {
    const [watcher, caller, other] = [await bare(), await bare(), await bare()];
    const slow = await join(cardOf({ maxConcurrentTasks: 1_000 }), () => undefined);
    const quick = await join();
    await watcher.request("watch", { agentId: slow.agentId });
    const before = node().residentBytes;
    slow.wire.tcp.pause();
    const input = "x".repeat(900_000);
    let most = 0;
    // 360 MB for somebody who does not read, never more than 18 MB of it asked for at a time.
    for (let wave = 0; wave < 20; wave++) {
      const calls = Array.from({ length: 20 }, () =>
        caller.refused("call", { capability: slow.capability, input, timeoutMs: 250 }, 30_000),
      );
      expect((await other.request("call", { capability: quick.capability, input: wave })).data).toBe(wave);
      for (const { code } of await Promise.all(calls))
        expect(["TIMEOUT", "DELIVERY_TIMEOUT", "UNAVAILABLE", "BUSY"]).toContain(code);
      most = Math.max(most, node().residentBytes);
    }
    await watcher.waitFor("instance.suspect", () => true, 20_000);
    expect(most - before).toBeLessThan(300 * 1024 * 1024);
    slow.wire.tcp.resume();
    expect((await within(slow.wire.closed, "the slow reader to be closed", 30_000)).code).toBe(4009);
    expect((await other.request("call", { capability: quick.capability, input: "after" })).data).toBe("after");
  }, 120_000);
});

describe("L20, LIVE-7: a node that was frozen", () => {
  test("expires nobody who kept sending, and still expires who is really gone", async () => {
    const watcher = await bare();
    const agents = await Promise.all(Array.from({ length: 10 }, () => join(cardOf({ heartbeatIntervalSec: 0.4 }))));
    const silent = await join(cardOf({ heartbeatIntervalSec: 0.4 }));
    await watcher.request("watch", {});
    const beats = new Map<SocketAgent, Json[]>(agents.map((agent) => [agent, []]));
    const beating = setInterval(() => {
      for (const agent of agents) {
        const sent = { jsonrpc: "2.0", id: newId(), method: "heartbeat", params: { instanceId: agent.instanceId } };
        beats.get(agent)!.push(sent.id);
        agent.wire.sendText(JSON.stringify(sent));
        tick?.();
      }
    }, 400);
    let tick: (() => void) | undefined;
    try {
      node().signal("SIGSTOP");
      // Frozen for eight heartbeats: long past ttl (three) and grace (two).
      await within(
        new Promise<void>((resolve) => {
          tick = () => {
            if (beats.get(agents[0]!)!.length >= 8) resolve();
          };
        }),
        "eight heartbeats to be sent",
        20_000,
      );
      node().signal("SIGCONT");
      for (const agent of agents) {
        for (const id of beats.get(agent)!.slice(0, 8)) {
          const { json } = await agent.wire.answers.next(
            "the answer to a heartbeat sent while the node was frozen",
            (f) => f.json.id === id,
          );
          expect(json.result).toEqual({ state: "online" });
        }
      }
      await watcher.waitFor("instance.suspect", (e) => e.instanceId === silent.instanceId);
      const mine = new Set(agents.map((a) => a.instanceId));
      const lost = watcher.notifications.untaken.filter(
        (n) => mine.has(n.params.instanceId) && /suspect|offline/.test(n.params.type),
      );
      expect(lost).toEqual([]);
    } finally {
      clearInterval(beating);
      node().signal("SIGCONT");
    }
  }, 40_000);
});
