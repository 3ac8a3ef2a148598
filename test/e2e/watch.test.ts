import { describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

/** REG-6: every change is an event with a rising revision, and a watcher that comes back misses none. */
const node = useNode();
const { bare, join } = usePeers(node);
const eventsOf = (wire: Wire, agentId: string): Json[] =>
  wire.notifications.untaken.filter((n) => n.method === "event" && n.params.agentId === agentId).map((n) => n.params);

describe("REG-6: watch", () => {
  test("answers its id and the revision it begins at", async () => {
    const wire = await bare();
    const { watchId, revision } = await wire.request("watch", {});
    expect(typeof watchId).toBe("string");
    expect(Number.isInteger(revision)).toBe(true);
    const agent = await join();
    const event = await wire.waitFor("agent.registered", (e) => e.agentId === agent.agentId);
    expect(event).toMatchObject({ watchId, type: "agent.registered", at: expect.stringMatching(/T/) });
    expect(event.revision).toBeGreaterThan(revision);
  });

  test("tells the whole life of an agent in order, with strictly rising revisions", async () => {
    const wire = await bare();
    await wire.request("watch", {});
    const agent = await join(cardOf({ description: "one" }));
    await agent.wire.request("register", { card: { ...agent.card, description: "two" }, instanceId: agent.instanceId });
    await agent.wire.request("drain", { instanceId: agent.instanceId });
    await agent.deregister();
    await wire.notifications
      .next("the end", (n) => n.params?.type === "instance.offline" && n.params.agentId === agent.agentId)
      .then((n) => wire.notifications.put(n));
    const events = eventsOf(wire, agent.agentId);
    const types = events.map((e) => e.type);
    for (const type of [
      "agent.registered",
      "instance.online",
      "agent.updated",
      "instance.draining",
      "instance.offline",
    ])
      expect(types).toContain(type);
    const at = (type: string) => types.indexOf(type);
    expect(at("instance.online")).toBeLessThan(at("agent.updated"));
    expect(at("agent.updated")).toBeLessThan(at("instance.draining"));
    expect(at("instance.draining")).toBeLessThan(at("instance.offline"));
    const revisions = events.map((e) => e.revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
  });

  test("filters by agent and by capability", async () => {
    const [mine, other] = [cardOf(), cardOf()];
    const wire = await bare();
    const byAgent = await wire.request("watch", { agentId: mine.agentId });
    const byCapability = await wire.request("watch", { capability: other.capabilities[0].name });
    await join(mine);
    await join(other);
    await wire.waitFor("instance.online", (e) => e.watchId === byAgent.watchId && e.agentId === mine.agentId);
    await wire.waitFor("instance.online", (e) => e.watchId === byCapability.watchId && e.agentId === other.agentId);
    for (const { params } of wire.notifications.untaken) {
      expect(params.agentId).toBe(params.watchId === byAgent.watchId ? mine.agentId : other.agentId);
    }
  });

  test("ends with unwatch", async () => {
    const wire = await bare();
    const stopped = await wire.request("watch", {});
    const kept = await wire.request("watch", {});
    expect(await wire.request("unwatch", { watchId: stopped.watchId })).toEqual({});
    const agent = await join();
    await wire.waitFor("instance.online", (e) => e.watchId === kept.watchId && e.agentId === agent.agentId);
    // Only this agent's: of those before it, which have just left, the watch may still have told something while it stood.
    expect(eventsOf(wire, agent.agentId).filter((e) => e.watchId === stopped.watchId)).toEqual([]);
  });

  test("from the last revision gives everything that happened in between, once, then goes on", async () => {
    const first = await bare();
    await first.request("watch", {});
    const before = await join();
    const { revision } = await first.waitFor("instance.online", (e) => e.agentId === before.agentId);
    first.cut();
    const missed = [await join(), await join()];
    await missed[0]!.deregister();
    const second = await bare();
    await second.request("watch", { revision });
    for (const agent of missed) await second.waitFor("instance.online", (e) => e.agentId === agent.agentId);
    await second.waitFor("instance.offline", (e) => e.instanceId === missed[0]!.instanceId);
    const after = await join();
    await second.waitFor("instance.online", (e) => e.agentId === after.agentId);
    expect(second.notifications.untaken.filter((n) => n.params.revision <= revision)).toEqual([]);
  });

  test("from a revision that the node cannot know is REVISION_GONE: list again", async () => {
    const wire = await bare();
    expect(await wire.refused("watch", { revision: 9_000_000_000 })).toMatchObject({
      code: "REVISION_GONE",
      rpc: -32004,
      data: { retryable: false, outcome: "not_executed" },
    });
  });

  test("survives a restart of the node: revisions never go back", async () => {
    const wire = await bare();
    const { revision } = await wire.request("watch", {});
    await node().restart("SIGTERM");
    const again = await bare();
    const answer = await again.request("watch", {});
    expect(answer.revision).toBeGreaterThanOrEqual(revision);
    const agent = await join();
    expect((await again.waitFor("agent.registered", (e) => e.agentId === agent.agentId)).revision).toBeGreaterThan(
      revision,
    );
  });

  test("RES-5: one connection has so many watches and no more; the refusal says what to do, and that helps", async () => {
    const wire = await bare();
    const ids: string[] = [];
    for (let n = 0; n < 100; n++) ids.push((await wire.request("watch", { agentId: `nobody-${n}` })).watchId);
    const refused = await wire.refused("watch", {});
    expect(refused).toMatchObject({
      code: "FORBIDDEN",
      data: { retryable: false, outcome: "not_executed", details: { policy: "watches", limit: 100 } },
    });
    expect(refused.message).toMatch(/100 are the most; unwatch some/);
    expect((await (await bare()).request("watch", {})).watchId).toBeDefined();
    wire.cut();
    await wire.closed;
    const again = await bare({ hello: { resume: { sessionId: wire.session.sessionId } } });
    expect((await again.refused("watch", {})).code).toBe("FORBIDDEN");
    await again.request("unwatch", { watchId: ids[0] });
    const { watchId } = await again.request("watch", {});
    const agent = await join();
    expect(await again.waitFor("agent.registered", (e) => e.agentId === agent.agentId)).toMatchObject({ watchId });
  });
});
