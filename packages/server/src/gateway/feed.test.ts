import type { RegistryEvent } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { Feed, type WatchFilter } from "./feed.js";

let rooms: FakeRooms;
let feed: Feed;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  feed = new Feed(rooms.registry, rooms.system);
  feed.start();
});
const watch = (filter: WatchFilter = {}, revision?: number): RegistryEvent[] => {
  const heard: RegistryEvent[] = [];
  feed.watch(revision, filter, (event) => heard.push(event));
  return heard;
};
const types = (events: RegistryEvent[]): string[] => events.map((e) => e.type);

describe("REG-6: what watchers hear", () => {
  test("every change, by its name, in order of revision", async () => {
    const heard = watch();
    const agent = await rooms.join(card("a1", ["query"]));
    await rooms.join(card("a1", ["query", "refund"]), { instanceId: agent.registered.instanceId, link: agent.link });
    await rooms.cut(agent);
    rooms.registry.renew(agent.instance);
    await rooms.pass(0);
    await rooms.registry.drain(agent.instance, "deploy");
    await rooms.registry.deregister(agent.instance, "done");
    expect(types(heard)).toEqual([
      "agent.registered",
      "instance.online",
      "agent.updated",
      "instance.updated",
      "instance.suspect",
      "instance.online",
      "instance.draining",
      "instance.offline",
    ]);
    const revisions = heard.map((e) => e.revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect(heard[1]).toMatchObject({ agentId: "a1", instanceId: agent.registered.instanceId });
  });

  test("L18: heartbeats and their numbers are no change", async () => {
    const agent = await rooms.join(card("a1"));
    const heard = watch();
    for (let i = 0; i < 10; i++)
      rooms.registry.heartbeat(agent.instance, { load: { running: i, queued: i }, facts: { i } });
    await rooms.pass(0);
    expect(heard).toEqual([]);
  });

  test("only what they asked for", async () => {
    const [byAgent, byCapability] = [watch({ agentId: "a2" }), watch({ capability: "refund" })];
    await rooms.join(card("a1", ["query"]));
    await rooms.join(card("a2", ["refund"]));
    await rooms.join(card("a3", ["refund"]));
    expect(byAgent.map((e) => e.agentId)).toEqual(["a2", "a2"]);
    expect(byCapability.map((e) => e.agentId)).toEqual(["a2", "a2", "a3", "a3"]);
  });

  test("whoever comes back with the last revision misses nothing", async () => {
    const live = watch();
    const first = await rooms.join(card("a1"));
    const { revision } = feed;
    await rooms.join(card("a2"));
    await rooms.registry.deregister(first.instance, "done");
    const back = watch({}, revision);
    await rooms.join(card("a3"));
    expect(back).toEqual(live.filter((e) => e.revision > revision));
    expect(types(watch({}, feed.revision))).toEqual([]);
  });

  test("or is told to list again, when it was away for too long or comes from another store", async () => {
    await rooms.join(card("a1"));
    expect(() => watch({}, feed.revision + 1)).toThrow(/REVISION_GONE/);
    const before = feed.revision;
    await rooms.join(card("a2"));
    feed.start();
    expect(() => watch({}, before)).toThrow(/REVISION_GONE/);
    expect(watch({}, feed.revision)).toEqual([]);
  });

  test("whoever stopped watching hears nothing more", async () => {
    const heard: RegistryEvent[] = [];
    const stop = feed.watch(undefined, {}, (event) => heard.push(event));
    stop();
    await rooms.join(card("a1"));
    expect(heard).toEqual([]);
  });

  test("one registration of a purged agent ends with its removal", async () => {
    const { instance } = await rooms.join(card("a1"));
    await rooms.registry.deregister(instance, "done");
    const heard = watch();
    await rooms.leap(86_400_000 + 61_000);
    expect(types(heard)).toEqual(["agent.removed"]);
  });
});
