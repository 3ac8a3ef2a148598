import { describe, expect, test } from "vitest";
import { Feed } from "../../packages/server/src/gateway/feed.js";
import { card, FakeRooms } from "../kit/fake-rooms.js";

/** Case F11: what is forgotten in time, while everything else goes on. Fake time, so that days of it pass in a second. */
const HOUR_MS = 3_600_000;
interface Heard {
  revision: number;
  type: string;
  agentId: string;
}

describe("F11: retention under load", () => {
  test("F11: counts stay bounded over days, watchers miss nothing also when they come back, and nobody who is there is forgotten", async () => {
    const rooms = await FakeRooms.open({ lease: { purgeAfterSec: 7_200 } });
    const feed = new Feed(rooms.registry, rooms.system);
    feed.start();
    const [steady, resuming]: [Heard[], Heard[]] = [[], []];
    feed.watch(undefined, {}, (event) => steady.push(event as unknown as Heard));
    const stays = await rooms.join(card("stays", ["work"], { maxConcurrentTasks: 1_000 }));
    const begun = steady.length;
    let revision = feed.revision;
    let [mostTasks, mostInstances] = [0, 0];
    for (let round = 0; round < 60; round++) {
      const stop = feed.watch(revision, {}, (event) => resuming.push(event as unknown as Heard));
      const guest = await rooms.join(card(`guest-${round}`, [`guest_${round}`]));
      for (let n = 0; n < 20; n++) {
        await rooms.submit({ capability: "work", input: { round, n } });
        stays.link.next().complete({ n });
      }
      await rooms.pass(1_000);
      await rooms.cut(guest);
      stop();
      revision = feed.revision;
      // What happens between two watches must come with the next one: the guest goes by its lease, older ones are forgotten.
      for (let passed = 0; passed < 80_000; passed += 20_000) {
        await rooms.pass(20_000);
        rooms.registry.renewAll([stays.instance]);
      }
      await rooms.leap(HOUR_MS);
      rooms.registry.renewAll([stays.instance]);
      await rooms.pass(1_000);
      const { byState } = await rooms.engine.tasks.counts();
      mostTasks = Math.max(
        mostTasks,
        Object.values(byState).reduce((sum, n) => sum + n, 0),
      );
      mostInstances = Math.max(mostInstances, rooms.registry.view.instances.size);
    }
    feed.watch(revision, {}, (event) => resuming.push(event as unknown as Heard))();
    // Tasks are kept for 24 rounds, guests for 2 after they are offline.
    expect(mostTasks).toBeGreaterThan(20 * 20);
    expect(mostTasks).toBeLessThanOrEqual(20 * 26);
    expect(mostInstances).toBeLessThanOrEqual(6);
    const revisions = steady.map((event) => event.revision);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect(resuming).toEqual(steady.slice(begun));
    for (const { agentId, type } of steady.slice(begun)) {
      if (agentId === "stays") expect(["instance.suspect", "instance.online"]).toContain(type);
    }
    const removed = steady.filter(({ type }) => type === "agent.removed").map(({ agentId }) => agentId);
    expect(removed).toEqual([...new Set(removed)]);
    expect(removed.length).toBeGreaterThan(50);
    expect(rooms.registry.view.agent("default", "stays")).toBeDefined();
    expect(rooms.trouble).toEqual([]);
    rooms.stop();
  });
});
