import type { Discovery, Params } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { Discoverer } from "./discovery.js";

let rooms: FakeRooms;
let discoverer: Discoverer;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  discoverer = new Discoverer(rooms.catalog, rooms.router, rooms.system);
});
const query = { name: "query", tags: ["commerce/order"], inputSchema: { type: "object", required: ["id"] } };
const join = (id: string, more = {}): Promise<FakeAgent> => rooms.join(card(id, [{ ...query, ...more }]));
const discover = (params: Params<"discover">): Discovery =>
  JSON.parse(discoverer.discover("default", params) as string);
const who = (params: Params<"discover">): string[] => discover(params).candidates.map((c) => c.agentId);

describe("CAT-6: discover", () => {
  test("answers the best first, with the facts to choose by", async () => {
    const fast = await join("fast", { costTier: "low" });
    const slow = await join("slow", { costTier: "high" });
    fast.instance.offers[0]!.measured.success(12, rooms.system.monotonic());
    slow.instance.offers[0]!.measured.success(2_000, rooms.system.monotonic());
    const { candidates, verdict, misses } = discover({ capability: "query" });
    expect([verdict, misses]).toEqual(["match", []]);
    expect(candidates).toMatchObject([
      {
        agentId: "fast",
        capability: "query",
        match: 1,
        reasons: ["name"],
        facts: { state: "online", p50Ms: 12, costTier: "low", health: 1 },
      },
      { agentId: "slow", facts: { p50Ms: 2_000 } },
    ]);
    expect(who({ capability: "query", maxLatencyMs: 100 })).toEqual(["fast"]);
    expect(who({ capability: "query", topK: 1 })).toEqual(["fast"]);
  });

  test("three by default, and the true best of many", async () => {
    for (let i = 0; i < 30; i++) {
      const { instance } = await join(`a${i}`);
      instance.offers[0]!.measured.success(600 + ((i * 7) % 30) * 100, rooms.system.monotonic());
    }
    const best = who({ capability: "query" });
    expect(best).toHaveLength(3);
    const all = discover({ capability: "query", topK: 30 }).candidates.map((c) => c.score);
    expect(all).toEqual([...all].sort((a, b) => b - a));
    expect(discover({ capability: "query" }).candidates.map((c) => c.score)).toEqual(all.slice(0, 3));
  });

  test("leaves out whoever is not able, ill or does not take the input, and says why", async () => {
    await join("fine");
    await rooms.cut(await join("suspect"));
    rooms.registry.heartbeat((await join("ill")).instance, { health: 0.79 });
    await join("picky", { inputSchema: { type: "object", required: ["id", "name"] } });
    const found = discover({ capability: "query", input: { id: 1 } });
    expect(found.candidates.map((c) => c.agentId)).toEqual(["fine"]);
    expect(Object.fromEntries(found.misses.map((m) => [m.agentId, m.why]))).toEqual({
      suspect: "suspect",
      ill: "health",
      picky: "not_matched",
    });
  });

  test("one that is full is offered, for it may be waited for", async () => {
    const { instance } = await rooms.join(card("busy", [query], { maxConcurrentTasks: 1 }));
    rooms.admission.take(instance);
    expect(who({ capability: "query" })).toEqual(["busy"]);
  });

  test("by tag, by agent, by words, by label and resources", async () => {
    await rooms.join(card("a1", [query], { labels: { region: "cn" }, resources: { memory: 16 } }));
    await rooms.join(card("a2", [{ ...query, name: "other" }]));
    expect(who({ tags: ["commerce"] }).sort()).toEqual(["a1", "a2"]);
    expect(who({ agentId: "a2" })).toEqual(["a2"]);
    expect(who({ intent: "Query" })).toEqual(["a1"]);
    expect(who({ tags: ["commerce"], labels: { region: "cn" } })).toEqual(["a1"]);
    expect(who({ capability: "query", resources: { memory: 8 } })).toEqual(["a1"]);
    expect(who({ capability: "query", resources: { memory: 64 } })).toEqual([]);
  });
});

describe("CAT-8: finding nobody is an answer", () => {
  test("offered, but nobody able", async () => {
    await rooms.cut(await join("suspect"));
    expect(discover({ capability: "query" })).toMatchObject({
      verdict: "unavailable",
      candidates: [],
      misses: [{ agentId: "suspect", why: "suspect" }],
    });
  });

  test("not offered at all, with the nearest", async () => {
    await join("shop");
    await rooms.pass(1_000);
    expect(discover({ capability: "order query" })).toMatchObject({
      verdict: "no_match",
      candidates: [],
      misses: [{ capability: "query" }],
    });
  });

  test("two that cannot be told apart", async () => {
    await rooms.join(
      card("a1", [
        { name: "one", tags: ["x"] },
        { name: "two", tags: ["x"] },
      ]),
    );
    const found = discover({ intent: "x" });
    expect(found).toMatchObject({ verdict: "ambiguous", candidates: [] });
    expect(found.misses.map((m) => m.capability).sort()).toEqual(["one", "two"]);
  });

  test("asking for nothing is a mistake", () => {
    expect(() => discover({})).toThrow(/INVALID_REQUEST/);
    expect(() => discover({ tags: [] })).toThrow(/INVALID_REQUEST/);
  });
});
