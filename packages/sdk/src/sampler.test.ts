import { describe, expect, it } from "vitest";
import { FakePeer, gate } from "../../../test/kit/fake-peer.js";
import { healthBy } from "./sampler.js";

const card = { heartbeatIntervalSec: 30, maxConcurrentTasks: 4 };
/** The lease as a node gives it for a heartbeat of 30 s. */
function slowPeer(): FakePeer {
  const peer = new FakePeer();
  const { register } = peer.answers;
  peer.answers["register"] = (params, session) => ({
    ...(register!(params, session) as object),
    lease: { heartbeatIntervalSec: 30, ttlSec: 90, graceSec: 60 },
  });
  return peer;
}

describe("merged heartbeats (LIVE-12)", () => {
  it("carry the samples between them, and are no more than without", async () => {
    const peer = slowPeer();
    const { session } = await peer.agent({ query_order: () => 1 }, card, { samplesPerHeartbeat: 5 });
    await peer.advance(61_000);
    const beats = session.of("heartbeat").map(({ params }) => params);
    expect(beats).toHaveLength(2);
    for (const { samples } of beats) expect(samples.length).toBeGreaterThanOrEqual(4);
    const times = beats.flatMap(({ samples }) => samples.map(({ at }: { at: string }) => Date.parse(at)));
    for (let i = 1; i < times.length; i++) expect(times[i] - times[i - 1]).toBeCloseTo(6_000, -2);
    expect(beats[0]!.samples[0]).toEqual({ at: expect.stringMatching(/Z$/), running: 0, queued: 0 });
  });

  it("come at once when the load jumped by half of the capacity", async () => {
    const peer = slowPeer();
    const work = gate();
    const { session } = await peer.agent({ query_order: () => work.opened }, card, { samplesPerHeartbeat: 5 });
    await peer.advance(1_000);
    for (let i = 0; i < 2; i++) void session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.advance(6_000);
    expect(session.of("heartbeat").map(({ params }) => params.load)).toEqual([{ running: 2, queued: 0 }]);
    // The same load for longer is no news.
    await peer.advance(20_000);
    expect(session.of("heartbeat")).toHaveLength(1);
  });

  it("come at once when the agent's own check says something else: false, a number, an error, or nothing in time", async () => {
    const peer = slowPeer();
    let check: () => unknown = () => true;
    const { session } = await peer.agent({ query_order: () => 1 }, card, {
      samplesPerHeartbeat: 5,
      selfCheck: () => check() as boolean,
    });
    const health = () => session.of("heartbeat").map(({ params }) => params.health);
    await peer.advance(13_000);
    expect(health()).toEqual([]);
    check = () => false;
    await peer.advance(6_100);
    expect(health()).toEqual([0]);
    check = () => 0.6;
    await peer.advance(6_100);
    check = () => {
      throw new Error("no database");
    };
    await peer.advance(6_100);
    check = () => 1;
    await peer.advance(6_100);
    check = () => new Promise(() => {});
    await peer.advance(12_200);
    expect(health()).toEqual([0, 0.6, 0, 1, 0]);
  });

  it("say bad news of the first look too, and again to a node that knows nothing of it", async () => {
    const peer = slowPeer();
    const { session, client } = await peer.agent({ query_order: () => 1 }, card, { selfCheck: () => 0.5 });
    await peer.advance(30_100);
    expect(session.of("heartbeat").at(-1)!["params"].health).toBe(0.5);
    client.report({ health: 0.2 });
    await peer.settle();
    expect(session.of("heartbeat").at(-1)!["params"].health).toBe(0.2);
    const next = await peer.bounce();
    await peer.advance(100);
    expect(next.of("heartbeat").map(({ params }) => params.health)).toEqual([0.2]);
  });

  it("end with the agent", async () => {
    const peer = slowPeer();
    const { client } = await peer.agent({ query_order: () => 1 }, card, { selfCheck: () => true });
    await client.close();
    expect(peer.system.pending).toBe(0);
  });
});

describe("the agent's own check", () => {
  it.each([
    [true, 1],
    [false, 0],
    [0.4, 0.4],
    [7, 1],
    [-1, 0],
  ])("%s is a health of %s", async (word, health) => {
    expect(await healthBy(() => word)).toBe(health);
    expect(await healthBy(async () => word)).toBe(health);
  });
});
