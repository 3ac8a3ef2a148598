import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { FakeSystem, settle } from "../../../../test/kit/fake-system.js";
import { WebhookAgent } from "../../../../test/kit/webhook.js";
import { Prober } from "./probe.js";

let rooms: FakeRooms;
let system: FakeSystem;
let agent: WebhookAgent;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  system = new FakeSystem();
  agent = await WebhookAgent.listen(() => ({ status: 200 }));
});
afterEach(() => agent.close());

/** Follows an agent whose heartbeat is `heartbeatIntervalSec`, with probes every 15 s. */
async function following(heartbeatIntervalSec: number) {
  const prober = new Prober(rooms.registry, system, 15_000);
  const { instance, registered } = await rooms.join(card("a1", ["query"], { heartbeatIntervalSec }));
  prober.follow(instance, agent.endpoint);
  return { prober, instance, registered };
}

describe("ROUTE-8: the probe of an agent behind an endpoint", () => {
  test("comes as often as the node is told, and asks the origin's /ping", async () => {
    await following(60);
    expect(system.nextInMs).toBe(15_000);
    system.advance(14_999);
    expect(system.nextInMs).toBe(1);
    system.advance(1);
    expect(await agent.probes.next("a probe")).toBe("/ping");
  });

  test("comes with every heartbeat when those are more frequent, since it stands in for them", async () => {
    await following(5);
    expect(system.nextInMs).toBe(5000);
  });

  test("L03: of an address that the agent has left counts no more, also when it was on its way", async () => {
    const { prober, instance } = await following(15);
    const there = await WebhookAgent.listen(() => ({ status: 200 }));
    there.pingStatus = 500;
    try {
      system.advance(15_000);
      prober.follow(instance, there.endpoint);
      expect(await agent.probes.next("the probe of the old address")).toBe("/ping");
      system.advance(15_000);
      expect(await there.probes.next("the probe of the new address")).toBe("/ping");
      while (instance.probe !== 0) await settle();
      expect(system.pending).toBe(1);
    } finally {
      await there.close();
    }
  });

  test("L03: ends with the run of the agent that it asked about", async () => {
    const { instance, registered } = await following(15);
    await rooms.join(card("a1", ["query"]), registered);
    expect(instance.record.epoch).toBe(2);
    expect(system.pending).toBe(0);
  });

  test("ends when the instance is offline, and when the node stops", async () => {
    const { instance, prober } = await following(15);
    await rooms.registry.deregister(instance, "done");
    expect(system.pending).toBe(0);
    prober.follow(instance, agent.endpoint);
    expect(system.pending).toBe(1);
    prober.stop();
    expect(system.pending).toBe(0);
  });
});
