import type { Card, Verdict } from "@agent-reach/protocol";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { MessageLog } from "../journal/journal.js";
import { LISTED_MAX } from "./decision.js";
import type { Demands } from "./router.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
type Capability = Partial<NonNullable<Card["capabilities"]>[number]>;
const join = (id: string, capability: Capability = {}, more: Partial<Card> = {}): Promise<FakeAgent> =>
  rooms.join(card(id, [{ name: "query", ...capability }], more));

const decide = (demands: Demands = {}, excluded?: Set<string>) => {
  const resolution = rooms.catalog.resolve({ tenant: "default", capability: "query" });
  if (!resolution.ok) throw resolution.error;
  return rooms.router.decide(
    resolution.resolved,
    demands,
    { capability: "query" },
    new MessageLog("m1", "t1", "call", "query", undefined, 0),
    1,
    excluded,
  );
};
const verdicts = (demands?: Demands, excluded?: Set<string>): Record<string, Verdict> =>
  Object.fromEntries(
    decide(demands, excluded)
      .toShape()
      .candidates.map((c) => [c.agentId, c.verdict]),
  );
const measure = ({ instance }: FakeAgent, ms: number, times = 1): void => {
  for (let i = 0; i < times; i++) instance.offers[0]!.measured.success(ms, rooms.system.monotonic());
};
/** How often each was chosen in `n` decisions. */
const tally = (n: number, demands?: Demands): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (let i = 0; i < n; i++) {
    const id = decide(demands).chosen?.instance.record.agentId ?? "nobody";
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
};

describe("ROUTE-7: everybody is looked at, and whoever is left out is told why", () => {
  test("by state: offline, suspect, draining, and online without a link", async () => {
    await rooms.registry.deregister((await join("offline")).instance, "done");
    await rooms.cut(await join("suspect"));
    await rooms.registry.drain((await join("draining")).instance, "deploy");
    (await join("unlinked")).instance.link = undefined;
    await join("fine");
    expect(verdicts()).toEqual({
      offline: "offline",
      suspect: "suspect",
      draining: "draining",
      unlinked: "suspect",
      fine: "chosen",
    });
  });

  test("by what is demanded: version, labels, resources, latency", async () => {
    await join("old", { version: "1.4.0" });
    await join("new", { version: "2.1.0" });
    await join("none");
    expect(verdicts({ version: "^2" })).toEqual({ old: "version", new: "chosen", none: "version" });
    expect(verdicts({ version: "1.4.0" })).toMatchObject({ old: "chosen", new: "version" });
    await join("here", { labels: { tier: "a" } }, { labels: { region: "cn" }, resources: { memory: 16, gpu: "x" } });
    expect(verdicts({ labels: { region: "cn", tier: "a" } })).toMatchObject({ here: "chosen", old: "label" });
    expect(verdicts({ labels: { region: "us" } })).toMatchObject({ here: "label" });
    expect(verdicts({ resources: { memory: 8, gpu: "x" } })).toMatchObject({ here: "chosen", old: "label" });
    expect(verdicts({ resources: { memory: 32 } })).toMatchObject({ here: "label" });
    measure(await join("slow"), 900);
    expect(verdicts({ maxLatencyMs: 500 })).toMatchObject({ slow: "not_matched" });
  });

  test("by its own state: full, resting, ill, behind in reading, excluded", async () => {
    const full = await join("full", {}, { maxConcurrentTasks: 1 });
    rooms.admission.take(full.instance);
    (await join("resting")).instance.coolDownUntil = rooms.system.monotonic() + 1;
    rooms.registry.heartbeat((await join("ill")).instance, { health: 0.5 });
    (await join("behind")).link.full = true;
    const excluded = await join("excluded");
    const why = verdicts({}, new Set([excluded.registered.instanceId]));
    expect(why).toEqual({ full: "full", resting: "cool_down", ill: "health", behind: "full", excluded: "cool_down" });
    expect(decide().full).toBe(true);
    await rooms.pass(2);
    expect(verdicts()).toMatchObject({ resting: expect.stringMatching(/chosen|lower_score/) });
  });

  test("CAT-6: failures make ill, business errors do not", async () => {
    await rooms.pass(5_000);
    const { instance } = await join("failing");
    const { measured } = instance.offers[0]!;
    for (let i = 0; i < 30; i++) measured.success(5, rooms.system.monotonic());
    for (let i = 0; i < 10; i++) measured.failure(rooms.system.monotonic());
    expect(verdicts()).toEqual({ failing: "health" });
    await rooms.pass(40_000);
    rooms.registry.renew(instance);
    // Old outcomes count less and less, until too few are known to judge by.
    await rooms.pass(40_000);
    expect(verdicts()).toEqual({ failing: "chosen" });
  });

  test("weight 0 takes only pinned traffic, and that is spread too", async () => {
    for (const id of ["canary-1", "canary-2"]) await join(id, { version: "2.0.0", weight: 0 });
    expect(verdicts()).toEqual({ "canary-1": "version", "canary-2": "version" });
    const counts = tally(200, { version: "2.0.0" });
    expect(Object.keys(counts).sort()).toEqual(["canary-1", "canary-2"]);
  });

  test("the record lists the chosen one and so many more, and counts the others", async () => {
    for (let i = 0; i < LISTED_MAX + 4; i++) await join(`a${i}`);
    const shape = decide().toShape();
    expect(shape.candidates).toHaveLength(LISTED_MAX);
    expect(shape.candidates[0]).toMatchObject({ verdict: "chosen", agentId: shape.chosen!.agentId });
    expect(shape.omitted).toBe(4);
    expect(shape).toMatchObject({ messageId: "m1", attempt: 1, decisionId: "m1-1", request: { capability: "query" } });
  });
});

describe("ROUTE-2: the best, and chance among near-equals", () => {
  test("one that is clearly better gets everything", async () => {
    measure(await join("fast"), 50);
    measure(await join("slow"), 5_000);
    expect(tally(50)).toEqual({ fast: 50 });
  });

  test("near-equals share, in proportion to their weight", async () => {
    await join("light", { weight: 100 });
    await join("heavy", { weight: 300 });
    const { light, heavy } = tally(4_000) as { light: number; heavy: number };
    expect(light + heavy).toBe(4_000);
    expect(heavy / light).toBeGreaterThan(2.5);
    expect(heavy / light).toBeLessThan(3.5);
  });

  test("whoever has not been measured starts from the median of its group", async () => {
    measure(await join("a"), 1_000);
    measure(await join("b"), 2_000);
    measure(await join("c"), 4_000);
    await join("new");
    const scores = Object.fromEntries(
      decide()
        .toShape()
        .candidates.map((c) => [c.agentId, c.score]),
    );
    expect(scores["new"]).toBe(scores["b"]);
    expect(scores["a"]).toBeGreaterThan(scores["new"]!);
  });

  test("the request's weights decide", async () => {
    measure(await join("dear", { costTier: "high" }), 100);
    measure(await join("cheap", { costTier: "low" }), 2_000);
    expect(tally(20, { weights: "realtime" })).toEqual({ dear: 20 });
    expect(tally(20, { weights: { cost: 5 } })).toEqual({ cheap: 20 });
  });

  test("attempts that failed or were refused elsewhere do not come back to the same instance", async () => {
    const a = await join("a");
    await join("b");
    const chosen = new Set<string>();
    for (let i = 0; i < 20; i++)
      chosen.add(decide({}, new Set([a.registered.instanceId])).chosen!.instance.record.agentId);
    expect([...chosen]).toEqual(["b"]);
  });
});

describe("slots", () => {
  test("R15: however many decisions fall in one turn, no instance gets more than its card allows", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }),
        fc.nat(40),
        async (capacities, calls) => {
          rooms = await FakeRooms.open();
          const agents = [];
          for (const [i, max] of capacities.entries())
            agents.push(await join(`a${i}`, {}, { maxConcurrentTasks: max }));
          for (let i = 0; i < calls; i++) rooms.call({ capability: "query" });
          const total = capacities.reduce((sum, n) => sum + n, 0);
          agents.forEach((agent, i) => {
            expect(agent.link.deliveries.length).toBeLessThanOrEqual(capacities[i]!);
            expect(agent.instance.running).toBe(agent.link.deliveries.length);
          });
          const sent = agents.reduce((sum, agent) => sum + agent.link.deliveries.length, 0);
          expect(sent).toBe(Math.min(total, calls));
          expect(rooms.admission.waiting("query")).toBe(calls - sent);
          rooms.stop();
        },
      ),
      { numRuns: 30 },
    );
  });

  test("a burst is spread over equals at once", async () => {
    for (let i = 0; i < 4; i++) await join(`a${i}`, {}, { maxConcurrentTasks: 50 });
    for (let i = 0; i < 80; i++) rooms.call({ capability: "query" });
    for (const live of rooms.registry.view.instances.values()) expect(live.running).toBeGreaterThanOrEqual(10);
  });
});
