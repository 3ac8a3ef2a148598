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
/** A quarter of its recent attempts failed: enough to be ill, too little for its breaker. */
const fail = async ({ instance }: FakeAgent): Promise<void> => {
  await rooms.pass(5_000);
  const { measured } = instance.offers[0]!;
  for (let i = 0; i < 30; i++) measured.success(5, rooms.system.monotonic());
  for (let i = 0; i < 10; i++) measured.failure(rooms.system.monotonic());
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
    const failing = await join("failing");
    const fine = await join("fine");
    await fail(failing);
    expect(verdicts()).toEqual({ failing: "health", fine: "chosen" });
    await rooms.pass(40_000);
    for (const { instance } of [failing, fine]) rooms.registry.renew(instance);
    // Old outcomes count less and less, until too few are known to judge by.
    await rooms.pass(40_000);
    for (const { instance } of [failing, fine]) rooms.registry.renew(instance);
    expect(verdicts()).toMatchObject({ failing: expect.stringMatching(/chosen|lower_score/) });
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

describe("panic routing: bad outcomes keep nobody out when there is nobody better", () => {
  test("a single instance that fails now and then gets work, and the decision says why", async () => {
    await fail(await join("lone"));
    const decision = decide();
    expect(decision.chosen?.instance.record.agentId).toBe("lone");
    expect(decision.toShape()).toMatchObject({
      panic: true,
      candidates: [{ agentId: "lone", verdict: "chosen", facts: { health: 0.75, successRate: 0.75 } }],
    });
    const reply = rooms.call({ capability: "query" });
    expect(reply.answers).toBe(0);
    const task = await rooms.submit({ capability: "query" });
    expect(await rooms.state(task.results[0]!["messageId"])).toBe("delivered");
  });

  test("so do several of them, by score; and nothing of it is said of an ordinary decision", async () => {
    const worse = await join("worse");
    await fail(worse);
    await fail(await join("bad"));
    worse.instance.offers[0]!.measured.failure(rooms.system.monotonic());
    expect(Object.keys(tally(100)).sort()).toEqual(["bad", "worse"]);
    await join("fine");
    expect(tally(20)).toEqual({ fine: 20 });
    expect(decide().toShape().panic).toBeUndefined();
  });

  test("one that is out for another reason, be it offline, broken or excluded, is no reason to wait for it", async () => {
    await fail(await join("lone"));
    await rooms.cut(await join("gone"));
    (await join("broken")).instance.offers[0]!.breaker.state = "open";
    const excluded = await join("excluded");
    expect(verdicts({}, new Set([excluded.registered.instanceId]))).toEqual({
      lone: "chosen",
      gone: "suspect",
      broken: "breaker_open",
      excluded: "cool_down",
    });
  });

  test("its own breaker keeps it out all the same, as do its own word and a probe that fails", async () => {
    const lone = await join("lone");
    await fail(lone);
    lone.instance.offers[0]!.breaker.state = "open";
    expect(verdicts()).toEqual({ lone: "breaker_open" });
    lone.instance.offers[0]!.breaker.state = "closed";
    rooms.registry.heartbeat(lone.instance, { health: 0.7 });
    expect(verdicts()).toEqual({ lone: "health" });
    rooms.registry.heartbeat(lone.instance, { health: 1 });
    lone.instance.probe = 0;
    expect(verdicts()).toEqual({ lone: "health" });
    lone.instance.probe = 1;
    expect(verdicts()).toEqual({ lone: "chosen" });
  });

  test("a well one that is only full is waited for, and so is a bad one that is full", async () => {
    const lone = await join("lone", {}, { maxConcurrentTasks: 1 });
    await fail(lone);
    rooms.admission.take(lone.instance);
    expect(verdicts()).toEqual({ lone: "full" });
    expect(decide().full).toBe(true);
    rooms.admission.give(lone.instance);
    const fine = await join("fine", {}, { maxConcurrentTasks: 1 });
    rooms.admission.take(fine.instance);
    expect(verdicts()).toEqual({ lone: "health", fine: "full" });
  });

  test("RES-1: a lone instance goes on to get work until over half fails, and then its breaker opens", async () => {
    const lone = await join("lone", { idempotent: true }, { maxConcurrentTasks: 100 });
    const outcomes: string[] = [];
    for (let i = 0; i < 60; i++) {
      const reply = rooms.call({ capability: "query" });
      const delivery = lone.link.waiting > 0 ? lone.link.next() : undefined;
      // One in three fails for a while, and then all do.
      if (i < 45 && i % 3 !== 0) delivery?.complete();
      else delivery?.refuse("INTERNAL");
      outcomes.push(reply.errors.length === 0 ? "done" : delivery === undefined ? "kept out" : "failed");
    }
    expect(outcomes.slice(0, 45)).not.toContain("kept out");
    expect(outcomes.at(-1)).toBe("kept out");
    expect(lone.instance.offers[0]!.breaker.state).toBe("open");
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

  test("cost steers among equals: the cheaper get more, the dearest nothing", async () => {
    await join("low", { costTier: "low" });
    await join("medium", { costTier: "medium" });
    await join("high", { costTier: "high" });
    const { low, medium, high } = tally(1_000);
    expect(low! / medium!).toBeGreaterThan(2);
    expect(low! / medium!).toBeLessThan(4);
    expect(high).toBeUndefined();
  });

  test("LIVE-11: the card's cost tier counts for capabilities that name none, also after a heartbeat without it", async () => {
    const dear = await rooms.join({ ...card("dear", ["query"]), costTier: "high" } as Card);
    await join("named", { costTier: "low" });
    rooms.registry.heartbeat(dear.instance, { facts: { queue: "short" } });
    expect(tally(50)).toEqual({ named: 50 });
    const [, { facts }] = decide().toShape().candidates as [unknown, { facts: object }];
    expect(facts).toMatchObject({ costTier: "high" });
  });

  test("ROUTE-3: what an agent runs for others takes its share, by how much of it there is", async () => {
    await join("idle");
    const busy = await join("busy");
    const share = (running: number, queued = 0) => {
      rooms.registry.heartbeat(busy.instance, { load: { running, queued } });
      return (tally(1_000)["busy"] ?? 0) / 1_000;
    };
    const shares = [share(0), share(3), share(6), share(10), share(10, 20)];
    expect(shares[0]).toBeGreaterThan(0.4);
    expect(shares[1]).toBeLessThan(0.45);
    expect(shares[2]).toBeLessThan(0.3);
    expect(shares[3]).toBeLessThan(0.05);
    expect(shares).toEqual([...shares].sort((a, b) => b - a));
    expect(share(0, 10)).toBeLessThan(0.45);
  });

  test("LIVE-11: the load that an agent reports of itself counts until enough was measured, and never hides what it has", async () => {
    const idle = await join("idle");
    const busy = await join("busy");
    rooms.registry.heartbeat(busy.instance, { facts: { load: 0.95 } });
    expect(tally(50)).toEqual({ idle: 50 });
    rooms.registry.heartbeat(busy.instance, { facts: { load: 0.4 } });
    expect(tally(1_000)["busy"]! / 1_000).toBeLessThan(0.45);
    rooms.registry.heartbeat(idle.instance, { facts: { load: 0 } });
    for (let i = 0; i < 10; i++) rooms.admission.take(idle.instance, rooms.system.monotonic());
    expect(idle.instance.loadScore(rooms.system.monotonic())).toBeGreaterThan(0.5);
    const loads = () =>
      Object.fromEntries(
        decide()
          .toShape()
          .candidates.map((c) => [c.agentId, c.facts.load]),
      );
    expect(loads()["idle"]).toBeGreaterThan(0.5);
    for (const agent of [idle, busy]) measure(agent, 10, 20);
    expect(loads()["busy"]).toBe(0);
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
