import type { Card } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { switchable } from "../../../../test/kit/full-store.js";
import { openMemory } from "../engines/memory/index.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const stateOf = (agent: FakeAgent): string =>
  rooms.registry.view.instances.get(agent.registered.instanceId)?.record.state ?? "purged";

/** When, in ms of silence, the instance became what it is told to become. */
async function silenceUntil(agent: FakeAgent, state: string): Promise<number> {
  for (let ms = 0; ms <= 400_000; ms += 50) {
    if (stateOf(agent) === state) return ms;
    await rooms.pass(50);
  }
  throw new Error(`never ${state}`);
}

describe("LIVE-1: a lease without words", () => {
  const tables: [string, Partial<Card>, Parameters<typeof FakeRooms.open>[0], number, number][] = [
    ["by default", {}, {}, 45_000, 75_000],
    ["by the card's own interval", { heartbeatIntervalSec: 5 }, {}, 15_000, 25_000],
    ["by the node's settings", {}, { lease: { heartbeatIntervalSec: 5, ttlSec: 30, graceSec: 60 } }, 30_000, 90_000],
    ["in fractions of a second", { heartbeatIntervalSec: 0.1 }, {}, 300, 500],
  ];
  test.each(tables)("%s is suspect after its ttl and offline after its grace", async (_, more, options, ttl, end) => {
    rooms = await FakeRooms.open(options);
    const agent = await rooms.join(card("a1", [], more));
    const suspect = await silenceUntil(agent, "suspect");
    const offline = suspect + (await silenceUntil(agent, "offline"));
    expect(suspect).toBeGreaterThanOrEqual(ttl);
    expect(suspect).toBeLessThanOrEqual(ttl + 100);
    expect(offline).toBeGreaterThanOrEqual(end);
    expect(offline).toBeLessThanOrEqual(end + 150);
  });

  test("any word renews it, however long that goes on", async () => {
    const agent = await rooms.join(card("a1"));
    for (let i = 0; i < 20; i++) {
      await rooms.pass(44_000);
      expect(stateOf(agent)).toBe("online");
      rooms.registry.renew(agent.instance);
    }
  });

  test("a word in time brings a suspect back, and the lease begins anew", async () => {
    const agent = await rooms.join(card("a1"));
    await rooms.pass(60_000);
    expect(stateOf(agent)).toBe("suspect");
    expect(rooms.registry.heartbeat(agent.instance, {})).toBe("online");
    await settle();
    await rooms.pass(44_000);
    expect(stateOf(agent)).toBe("online");
    await rooms.pass(2_000);
    expect(stateOf(agent)).toBe("suspect");
  });

  test("LIVE-2: a lost link makes suspect at once; grace still counts from the end of the ttl", async () => {
    const agent = await rooms.join(card("a1"));
    await rooms.pass(10_000);
    rooms.registry.renew(agent.instance);
    await rooms.cut(agent);
    expect(stateOf(agent)).toBe("suspect");
    await rooms.pass(74_900);
    expect(stateOf(agent)).toBe("suspect");
    await rooms.pass(200);
    expect(stateOf(agent)).toBe("offline");
  });

  test("LIVE-8: a draining instance that falls silent ends with its grace, and is never suspect", async () => {
    const agent = await rooms.join(card("a1"));
    await rooms.registry.drain(agent.instance, "deploy");
    expect(rooms.registry.heartbeat(agent.instance, {})).toBe("draining");
    await rooms.pass(74_900);
    expect(stateOf(agent)).toBe("draining");
    await rooms.pass(200);
    expect(stateOf(agent)).toBe("offline");
  });
});

describe("time that is not what it seems", () => {
  test("L09: a jump of the wall clock, either way, changes nobody's state", async () => {
    const agent = await rooms.join(card("a1"));
    rooms.system.jumpWall(600_000);
    await rooms.pass(10_000);
    rooms.system.jumpWall(-3_600_000);
    await rooms.pass(34_900);
    expect(stateOf(agent)).toBe("online");
    await rooms.pass(200);
    expect(stateOf(agent)).toBe("suspect");
  });

  test("L20: after the node itself stood still every lease gets one fresh ttl", async () => {
    const agents = [];
    for (let i = 0; i < 20; i++) agents.push(await rooms.join(card(`a${i}`)));
    rooms.system.stall(120_000);
    await rooms.pass(44_900);
    expect(agents.map(stateOf)).toEqual(agents.map(() => "online"));
    await rooms.pass(200);
    expect(agents.map(stateOf)).toEqual(agents.map(() => "suspect"));
  });

  test("L20: pauses too short to be a stall do not keep the dead alive", async () => {
    const agent = await rooms.join(card("a1"));
    for (let i = 0; i < 25; i++) {
      rooms.system.stall(2_000);
      await rooms.pass(0);
    }
    expect(stateOf(agent)).toBe("suspect");
  });

  test("L23: after a restart everybody is suspect, and has a whole lease to be heard of again", async () => {
    const agent = await rooms.join(card("a1"));
    await rooms.pass(44_000);
    rooms.stop();
    await rooms.pass(3_600_000);
    rooms = await rooms.restart();
    expect(stateOf(agent)).toBe("suspect");
    await rooms.pass(74_900);
    expect(stateOf(agent)).toBe("suspect");
    await rooms.pass(200);
    expect(stateOf(agent)).toBe("offline");
  });

  test("L12: whoever comes back under its id in time stays, also when the old lease would have ended", async () => {
    const agent = await rooms.join(card("a1"));
    rooms = await rooms.restart();
    await rooms.pass(30_000);
    const again = await rooms.join(card("a1"), agent.registered);
    expect(again.registered.epoch).toBe(2);
    await rooms.pass(44_900);
    expect(stateOf(again)).toBe("online");
  });
});

describe("REG-11: a store that cannot write", () => {
  test("does not decide who is alive: leases end and begin in memory, and the store follows later", async () => {
    const engine = await openMemory();
    const { store, disk } = switchable(engine.registry, ["put", "remove"]);
    rooms = await FakeRooms.open({ engine: { ...engine, registry: store } });
    const agent = await rooms.join(card("a1"));
    disk.full = true;
    await rooms.pass(46_000);
    expect(stateOf(agent)).toBe("suspect");
    rooms.registry.renew(agent.instance);
    await settle();
    expect(stateOf(agent)).toBe("online");
    await expect(rooms.join(card("a2"))).rejects.toMatchObject({ code: "NOT_READY" });
    expect(rooms.registry.view.agent("default", "a2")).toBeUndefined();
    disk.full = false;
    await rooms.pass(46_000);
    expect(await engine.registry.get("instance", agent.registered.instanceId)).toMatchObject({ state: "suspect" });
    expect((await rooms.join(card("a2"))).registered.epoch).toBe(1);
  });
});
