import type { Card } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { Discoverer } from "../router/discovery.js";
import { Directory } from "./directory.js";
import { MEASURED_FROM } from "./load.js";
import { readReport } from "./self-report.js";

describe("LIVE-11: an agent's word about itself", () => {
  test.each([
    ["nothing", {}, undefined, undefined],
    ["a health", {}, 0.7, 0.7],
    ["that it is not healthy, which outweighs a number", { healthy: false }, 0.7, 0],
    ["that it is healthy", { healthy: true }, undefined, 1],
    ["that it is healthy, and how much", { healthy: true }, 0.9, 0.9],
    ["nonsense", { healthy: "no" }, undefined, undefined],
  ])("%s", (_, facts, health, own) => {
    expect(readReport(facts, health).health).toBe(own);
  });

  test.each([[-1], ["5"], [Number.NaN], [Number.POSITIVE_INFINITY], [null], [{}]])(
    "%s is no number to reckon with",
    (value) => {
      const said = readReport({ p50LatencyMs: value, successRate: value }, undefined);
      expect(said).toMatchObject({ p50Ms: undefined, successRate: undefined });
    },
  );
});

describe("three facts, kept apart", () => {
  let rooms: FakeRooms;
  beforeEach(async () => {
    rooms = await FakeRooms.open();
    await rooms.pass(5_000);
  });
  const view = (agentId = "a1") => {
    const directory = new Directory(rooms.registry, rooms.system, 500);
    return JSON.parse(directory.get("default", agentId) as string).instances[0];
  };
  const discover = (query = {}) =>
    JSON.parse(
      new Discoverer(rooms.catalog, rooms.router, rooms.system).discover("default", {
        capability: "query_order",
        topK: 9,
        ...query,
      }) as string,
    );
  const measure = ({ instance }: FakeAgent, successes: number, failures = 0, ms = 10): void => {
    const { measured } = instance.offers[0]!;
    for (let i = 0; i < successes; i++) measured.success(ms, rooms.system.monotonic());
    for (let i = 0; i < failures; i++) measured.failure(rooms.system.monotonic());
  };
  /** Hints stand at the top of a card, where its type does not know them. */
  const withHints = (agentId: string, hints: object): Card => ({ ...card(agentId), ...hints }) as Card;

  test("LIVE-10: heartbeat, health and outcomes are shown apart", async () => {
    const agent = await rooms.join(card("a1"));
    await rooms.pass(1_000);
    rooms.registry.heartbeat(agent.instance, { health: 0.9, facts: { p50LatencyMs: 3 } });
    agent.instance.probe = 0.5;
    measure(agent, 15, 5);
    expect(view()).toMatchObject({
      state: "online",
      lastHeartbeatAt: new Date(rooms.system.now()).toISOString(),
      health: 0.45,
      ownHealth: 0.9,
      probe: 0.5,
      measured: [{ capability: "query_order", p50Ms: 10, successRate: 0.75 }],
      selfReported: { p50LatencyMs: 3 },
    });
  });

  test("LIVE-10: each of them alone keeps new work away", async () => {
    const silent = await rooms.join(card("silent"));
    const ill = await rooms.join(card("ill"));
    const unreachable = await rooms.join(card("unreachable"));
    const failing = await rooms.join(card("failing"));
    await rooms.join(card("fine"));
    await rooms.cut(silent);
    rooms.registry.heartbeat(ill.instance, { health: 0.7 });
    unreachable.instance.probe = 0;
    measure(failing, 15, 5);
    const { candidates, misses } = discover();
    expect(candidates.map((c: { agentId: string }) => c.agentId)).toEqual(["fine"]);
    expect(Object.fromEntries(misses.map((m: { agentId: string; why: string }) => [m.agentId, m.why]))).toEqual({
      silent: "suspect",
      ill: "health",
      unreachable: "health",
      failing: "health",
    });
  });

  test("LIVE-11: health is own word × probe × recent success, and business errors are no failures", async () => {
    const agent = await rooms.join(card("a1"));
    rooms.registry.heartbeat(agent.instance, { health: 0.96 });
    agent.instance.probe = 0.95;
    measure(agent, 24, 1);
    const [{ facts }] = discover().candidates;
    expect(facts.health).toBeCloseTo(0.96 * 0.95 * 0.96, 2);
    for (let i = 0; i < 30; i++) {
      rooms.call({ capability: "query_order" });
      agent.link.next().fail({ code: "NO_SUCH_ORDER", message: "none" });
    }
    expect(discover().candidates[0].facts.successRate).toBeGreaterThan(0.96);
  });

  test("LIVE-11: healthy:false is 0, and healthy:true takes it back", async () => {
    const { instance } = await rooms.join(card("a1"));
    rooms.registry.heartbeat(instance, { health: 1, facts: { healthy: false } });
    expect(view()).toMatchObject({ health: 0, ownHealth: 0 });
    rooms.registry.heartbeat(instance, {});
    expect(view().health).toBe(0);
    rooms.registry.heartbeat(instance, { facts: { healthy: true } });
    expect(view()).toMatchObject({ health: 1, selfReported: { healthy: true } });
  });

  test("LIVE-11: a card may say it too; the next run, with another card, has said nothing", async () => {
    const agent = await rooms.join(withHints("a1", { healthy: false, load: 0.3, p50_latency_ms: 80 }));
    expect(view()).toMatchObject({ health: 0, selfReported: { healthy: false, load: 0.3, p50LatencyMs: 80 } });
    expect(discover()).toMatchObject({ verdict: "unavailable", misses: [{ why: "health" }] });
    const link = new FakeLink();
    const next = await rooms.join(card("a1"), { ...agent.registered, link });
    expect(view().health).toBe(1);
    expect(view().selfReported).toBeUndefined();
    // A changed card over the same link is the same run: what it said of itself stands.
    rooms.registry.heartbeat(next.instance, { health: 0.5 });
    await rooms.join(card("a1", ["query_order", "another"]), { ...next.registered, link });
    expect(view().health).toBe(0.5);
  });

  test("LIVE-11: self-reported numbers steer until 20 outcomes were measured, and then no more", async () => {
    const boaster = await rooms.join(withHints("boaster", { p50LatencyMs: 20 }));
    const modest = await rooms.join(withHints("modest", { p50LatencyMs: 4_000 }));
    const score = (agentId: string) =>
      discover().candidates.find((c: { agentId: string }) => c.agentId === agentId).score;
    expect(score("boaster")).toBeGreaterThan(score("modest") + 0.3);
    measure(boaster, MEASURED_FROM - 1, 0, 5_000);
    measure(modest, MEASURED_FROM - 1, 0, 20);
    expect(score("boaster")).toBeGreaterThan(score("modest") + 0.3);
    expect(discover({ maxLatencyMs: 1_000 }).candidates.map((c: { agentId: string }) => c.agentId)).toEqual([
      "boaster",
    ]);
    measure(boaster, 1, 0, 5_000);
    measure(modest, 1, 0, 20);
    expect(score("modest")).toBeGreaterThan(score("boaster") + 0.3);
    expect(discover({ maxLatencyMs: 1_000 }).candidates.map((c: { agentId: string }) => c.agentId)).toEqual(["modest"]);
    // Shown beside each other all the while.
    expect(discover().candidates[0].facts).toMatchObject({ p50Ms: 20, selfReported: { p50LatencyMs: 4_000 } });
  });

  test("LIVE-11: a self-reported success rate counts in the score, not as health", async () => {
    await rooms.join(withHints("shaky", { successRate: 0.1 }));
    await rooms.join(card("plain"));
    const { candidates } = discover();
    expect(candidates.map((c: { agentId: string }) => c.agentId)).toEqual(["plain", "shaky"]);
    expect(candidates[1].facts).toMatchObject({ health: 1, selfReported: { successRate: 0.1 } });
    expect(candidates[1].facts.successRate).toBeUndefined();
  });
});
