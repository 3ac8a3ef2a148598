import { beforeEach, describe, expect, test } from "vitest";
import { accepted, cardOf, completed, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";
import { within } from "../kit/within.js";

/** Leases are short here: a heartbeat of 0.3 s makes suspect at 0.9 s and offline at 1.5 s. */
const node = useNode();
const { bare, join } = usePeers(node);
let watcher: Wire;
beforeEach(async () => {
  watcher = await bare();
  await watcher.request("watch", {});
});
const quick = (more: Json = {}) => cardOf({ heartbeatIntervalSec: 0.3, ...more });
const about = (agent: SocketAgent) => (e: Json) => e.instanceId === agent.instanceId;

describe("LIVE-1: the lease", () => {
  test("goes online, suspect when three heartbeats are missed, offline after two more", async () => {
    const agent = await join(quick());
    expect(agent.registered.lease.ttlSec).toBeCloseTo(0.9);
    const online = await watcher.waitFor("instance.online", about(agent));
    const suspect = await watcher.waitFor("instance.suspect", about(agent));
    const offline = await watcher.waitFor("instance.offline", about(agent));
    const [a, b, c] = [online, suspect, offline].map((e) => Date.parse(e.at)) as [number, number, number];
    expect(b - a).toBeGreaterThanOrEqual(850);
    expect(c - b).toBeGreaterThanOrEqual(550);
    expect((await watcher.request("agents.get", { agentId: agent.agentId })).state).toBe("offline");
  });

  test("of a suspect that is back in time is online again, and nothing was lost", async () => {
    const agent = await join(quick());
    await watcher.waitFor("instance.suspect", about(agent));
    expect((await agent.heartbeat()).state).toBe("online");
    await watcher.waitFor("instance.online", (e) => about(agent)(e) && e.revision > agent.registered.revision);
    expect((await watcher.request("call", { capability: agent.capability, input: 5 })).data).toBe(5);
  });

  test("is renewed by any message of the instance, not only by heartbeats", async () => {
    const busy = await join(quick());
    const silent = await join(quick());
    // The busy one answers deliveries until the silent one is gone: it never sends a heartbeat.
    let gone = false;
    const end = watcher.waitFor("instance.offline", about(silent)).then(() => {
      gone = true;
    });
    while (!gone) await watcher.request("call", { capability: busy.capability, input: 1 });
    await end;
    expect((await watcher.request("agents.get", { agentId: busy.agentId })).state).toBe("online");
  });

  test("of a suspect gives it no new calls", async () => {
    const agent = await join(quick({ heartbeatIntervalSec: 0.5 }));
    await watcher.waitFor("instance.suspect", about(agent));
    const error = await watcher.refused("call", { capability: agent.capability, input: 1, timeoutMs: 100 });
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      rpc: -32011,
      data: { outcome: "not_executed", retryable: true },
    });
  });
});

describe("REG-2: a heartbeat never resurrects", () => {
  test("an instance that the node does not know", async () => {
    const wire = await bare();
    expect(await wire.request("heartbeat", { instanceId: newId() })).toEqual({ state: "unknown" });
  });

  test("an instance that said goodbye", async () => {
    const agent = await join();
    await agent.deregister();
    expect((await agent.heartbeat()).state).toBe("unknown");
    expect((await watcher.request("agents.list", { capability: agent.capability, state: "online" })).agents).toEqual(
      [],
    );
  });
});

describe("LIVE-2: connections", () => {
  test("that are lost make suspect at once, long before the lease ends", async () => {
    const agent = await join(cardOf({ heartbeatIntervalSec: 60 }));
    agent.cut();
    await watcher.waitFor("instance.suspect", about(agent));
  });

  test("that are closed without deregister are no goodbye either", async () => {
    const agent = await join();
    await agent.wire.close();
    await watcher.waitFor("instance.suspect", about(agent));
  });

  test("a clean goodbye makes offline at once", async () => {
    const agent = await join();
    expect(await agent.deregister()).toEqual({});
    await watcher.waitFor("instance.offline", about(agent));
  });
});

describe("LIVE-3: a heartbeat", () => {
  test("carries load and health, which others see; several samples are one heartbeat", async () => {
    const agent = await join();
    const samples = [
      { at: "2026-01-01T00:00:00Z", running: 1 },
      { at: "2026-01-01T00:00:05Z", running: 3 },
    ];
    expect(await agent.heartbeat({ load: { running: 3, queued: 2 }, health: 0.9, samples, later: true })).toEqual({
      state: "online",
    });
    const { instances } = await watcher.request("agents.get", { agentId: agent.agentId });
    expect(instances[0]).toMatchObject({
      health: 0.9,
      load: { running: 3, queued: 2 },
      lastHeartbeatAt: expect.any(String),
    });
  });

  test("L18: with changing load wakes no watcher", async () => {
    const agent = await join();
    await watcher.waitFor("instance.online", about(agent));
    for (let running = 0; running < 20; running++) await agent.heartbeat({ load: { running, queued: 0 } });
    const fence = await join();
    await watcher.waitFor("instance.online", about(fence));
    expect(watcher.notifications.untaken.filter((n) => n.params.instanceId === agent.instanceId)).toEqual([]);
  });

  test("is answered in time while large messages pass on the same socket", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 100, heartbeatIntervalSec: 2 }));
    const input = "x".repeat(1_000_000);
    const calls = Array.from({ length: 20 }, () =>
      watcher.request("call", { capability: agent.capability, input }, 20_000),
    );
    expect((await within(agent.heartbeat(), "the heartbeat beside 20 MB, before the ttl", 6_000)).state).toBe("online");
    await Promise.all(calls);
  });

  test("of another agent's instance is refused or answered unknown", async () => {
    const [mine, theirs] = [await join(), await join()];
    const answer = await mine.wire
      .request("heartbeat", { instanceId: theirs.instanceId, health: 0 })
      .catch((e: Json) => ({ state: e.code }));
    expect(["unknown", "FORBIDDEN"]).toContain(answer.state);
    const { instances } = await watcher.request("agents.get", { agentId: theirs.agentId });
    expect(instances[0].health).toBe(1);
  });
});

describe("LIVE-8: drain", () => {
  test("stops new work, lets running work finish, and is seen by all", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 5 }), () => undefined);
    const running = watcher.request("call", { capability: agent.capability, input: "running" });
    const delivery = await agent.next();
    expect(await agent.wire.request("drain", { instanceId: agent.instanceId, reason: "rolling restart" })).toEqual({
      running: 1,
    });
    await watcher.waitFor("instance.draining", about(agent));
    expect((await agent.heartbeat()).state).toBe("draining");
    expect(await watcher.refused("call", { capability: agent.capability, input: 2, timeoutMs: 100 })).toMatchObject({
      code: "UNAVAILABLE",
    });
    agent.wire.respond(delivery.id, completed("finished"));
    expect((await running).data).toBe("finished");
    await agent.deregister();
    await watcher.waitFor("instance.offline", about(agent));
  });

  test("R10: hands unstarted tasks back without spending an attempt, and another instance does them", async () => {
    const card = cardOf({ maxConcurrentTasks: 5 });
    const first = await join(card, () => accepted);
    const { messageId } = await watcher.request("submit", { capability: first.capability, input: "handed back" });
    const delivery = await first.next();
    const second = await join(card);
    await first.wire.request("drain", {
      instanceId: first.instanceId,
      handback: [{ messageId, attempt: delivery.attempt }],
    });
    const task = await watcher.request("task.result", { messageId, waitMs: 6_000 });
    expect(task).toMatchObject({ state: "completed", data: "handed back", instanceId: second.instanceId });
  });
});
