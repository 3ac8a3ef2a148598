import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { LISTENS_MS } from "../time/stand-still.js";
import { MassExpiry, type Silence } from "./mass-expiry.js";

const silence = (from: number): Silence => ({ from, to: from + 15_000 });
const fleet = (silent: number, heard: number, since = 1_000): (Silence | undefined)[] => [
  ...Array.from({ length: silent }, (_, i) => silence(since + i)),
  ...Array.from({ length: heard }, () => undefined),
];

describe("LIVE-7: most of the fleet silent at once", () => {
  test.each([
    ["six of ten", 6, 4, true],
    ["half of ten", 5, 5, false],
    ["three of five", 3, 2, true],
    ["all of four, too few to say anything", 4, 0, false],
    ["one of a thousand", 1, 999, false],
  ])("%s", (_, silent, heard, doubts) => {
    const guard = new MassExpiry(300_000);
    expect(guard.holds(silence(1_000), fleet(silent, heard), 50_000)).toBe(doubts);
    expect(guard.doubt).toEqual(doubts ? { since: 50_000, silent, fleet: silent + heard } : undefined);
  });

  test("one after the other is no mass: it is their own business", () => {
    const guard = new MassExpiry(300_000);
    const oneByOne = Array.from({ length: 10 }, (_, i) => silence(i * 16_000));
    for (const each of oneByOne) expect(guard.holds(each, oneByOne, 500_000)).toBe(false);
  });

  test("M1: while in doubt nobody is given up, whenever he fell silent", () => {
    const guard = new MassExpiry(300_000);
    guard.holds(silence(1_000), fleet(9, 1), 50_000);
    expect(guard.holds(silence(40_000), fleet(9, 1), 60_000)).toBe(true);
    expect(guard.review(fleet(9, 1), 60_000)).toBeUndefined();
  });

  test("ends when enough of them are heard again", () => {
    const guard = new MassExpiry(300_000);
    guard.holds(silence(1_000), fleet(9, 1), 50_000);
    expect(guard.review(fleet(6, 4), 60_000)).toBeUndefined();
    expect(guard.doubt).toMatchObject({ silent: 6, since: 50_000 });
    expect(guard.review(fleet(5, 5), 61_000)).toBe("heard");
    expect(guard.doubt).toBeUndefined();
  });

  test("M2: ends with the patience, and the same silence is not doubted again, but a new one is", () => {
    const guard = new MassExpiry(300_000);
    guard.holds(silence(1_000), fleet(9, 1), 50_000);
    expect(guard.review(fleet(9, 1), 349_999)).toBeUndefined();
    expect(guard.review(fleet(9, 1), 350_000)).toBe("patience over");
    expect(guard.holds(silence(1_000), fleet(9, 1), 350_001)).toBe(false);
    expect(guard.holds(silence(400_000), fleet(9, 1, 400_000), 480_000)).toBe(true);
  });

  test("a patience of 0 is none", () => {
    expect(new MassExpiry(0).holds(silence(1_000), fleet(9, 1), 50_000)).toBe(false);
  });
});

describe("LIVE-7: a node that hears nobody", () => {
  let rooms: FakeRooms;
  let agents: FakeAgent[];
  let said: string[];
  const states = (some = agents): string[] => some.map(({ instance }) => instance.record.state);
  const beat = (some: FakeAgent[]) => {
    for (const { instance } of some) rooms.registry.heartbeat(instance, {});
  };
  beforeEach(async () => {
    rooms = await FakeRooms.open();
    said = [];
    rooms.reaper.onDoubt = (text) => said.push(text);
    agents = [];
    for (let i = 0; i < 10; i++) {
      agents.push(await rooms.join(card(`a${i}`)));
      await rooms.pass(1_500);
    }
  });

  test("gives nobody up and says so; whoever comes back is online, and the others get one more lease", async () => {
    await rooms.pass(120_000);
    expect(states()).toEqual(agents.map(() => "suspect"));
    expect(rooms.reaper.doubt).toMatchObject({ silent: 10, fleet: 10 });
    expect(said).toEqual([expect.stringMatching(/^10 of 10 instances fell silent at once/)]);
    const back = agents.slice(0, 6);
    beat(back);
    await rooms.pass(1_000);
    expect(rooms.reaper.doubt).toBeUndefined();
    expect(said[1]).toMatch(/heard again/);
    expect(states(back)).toEqual(back.map(() => "online"));
    for (let i = 0; i < 5; i++) {
      await rooms.pass(14_000);
      beat(back);
    }
    expect(states(agents.slice(6))).toEqual(Array(4).fill("suspect"));
    await rooms.pass(20_000);
    expect(states(agents.slice(6))).toEqual(Array(4).fill("offline"));
    expect(rooms.registry.heartbeat(agents[9]!.instance, {})).toBe("unknown");
  });

  test("believes it when its patience is over", async () => {
    await rooms.pass(359_000);
    expect(states()).toEqual(agents.map(() => "suspect"));
    await rooms.pass(45_000);
    expect(states()).toEqual(agents.map(() => "offline"));
    expect(said.map((text) => text.slice(0, 11))).toEqual(["10 of 10 in", "nothing was"]);
    expect(said[1]).toContain("lease.massExpiryHoldSec");
  });

  test("the same when all connections are lost at once; who drains is kept too", async () => {
    await rooms.registry.drain(agents[9]!.instance, "deploy");
    for (const agent of agents.slice(0, 9)) await rooms.cut(agent);
    await rooms.pass(200_000);
    expect(states()).toEqual([...Array(9).fill("suspect"), "draining"]);
  });

  test("a minority that dies is given up as ever", async () => {
    const dead = agents.slice(0, 5);
    for (let i = 0; i < 7; i++) {
      beat(agents.slice(5));
      await rooms.pass(14_000);
    }
    expect(states(dead)).toEqual(dead.map(() => "offline"));
    expect(said).toEqual([]);
  });

  test("nobody is purged meanwhile, and afterwards as ever", async () => {
    const gone = await rooms.join(card("gone"));
    await rooms.registry.deregister(gone.instance, "done");
    await rooms.pass(120_000);
    expect(rooms.reaper.doubt).toBeDefined();
    rooms.system.jumpWall(2 * 86_400_000);
    await rooms.pass(100_000);
    expect(rooms.registry.view.instances.has(gone.registered.instanceId)).toBe(true);
    beat(agents);
    await rooms.pass(62_000);
    expect(rooms.registry.view.instances.has(gone.registered.instanceId)).toBe(false);
  });

  test("after a restart those who never come back are given up in time: they were never heard by this node", async () => {
    rooms = await rooms.restart();
    await rooms.pass(75_200);
    const { instances } = rooms.registry.view;
    expect(agents.map(({ registered }) => instances.get(registered.instanceId)!.record.state)).toEqual(
      agents.map(() => "offline"),
    );
  });
});

describe("LIVE-7: a pause of the node that is longer than a heartbeat", () => {
  test("costs nobody the lease whose heartbeat may lie unread, be the heartbeat ever so short", async () => {
    const rooms = await FakeRooms.open();
    const { instance } = await rooms.join(card("a1", [], { heartbeatIntervalSec: 0.2 }));
    await rooms.pass(550);
    rooms.system.stall(2_000);
    await rooms.pass(0);
    expect(instance.record.state).toBe("online");
    await rooms.pass(590);
    expect(instance.record.state).toBe("online");
    await rooms.pass(30 + LISTENS_MS);
    expect(instance.record.state).toBe("suspect");
  });
});
