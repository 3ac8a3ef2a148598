import { beforeAll, describe, expect, test } from "vitest";
import type { SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

const node = useNode();
const peers = usePeers(node, "file");
let wire: Wire;
const agents = new Map<string, SocketAgent>();
const join = async (agentId: string, capabilities: Json[], more: Json = {}): Promise<SocketAgent> => {
  const agent = await peers.join({ agentId, capabilities, ...more });
  agents.set(agentId, agent);
  return agent;
};
beforeAll(async () => {
  wire = await peers.bare();
  const query = {
    name: "query_order",
    operation: "query",
    objectType: "order",
    tags: ["commerce/order/query"],
    costTier: "low",
    version: "1.2.0",
  };
  await join("orders-north", [query], { labels: { region: "north" }, resources: { gpu: "L4", cpu: 8 } });
  await join("orders-south", [{ ...query, costTier: "high" }], { labels: { region: "south" } });
  await join("refunds", [{ name: "refund_order", tags: ["commerce/order/refund"] }]);
  await join("sql", [
    { name: "run_sql", tags: ["data/fetch/sql"], inputSchema: { type: "object", required: ["statement"] } },
  ]);
  await join("sick", [{ name: "sick_work" }]);
  await agents.get("sick")!.heartbeat({ health: 0.3 });
  await join("leaving", [{ name: "leaving_work" }]);
  await agents.get("leaving")!.wire.request("drain", { instanceId: agents.get("leaving")!.instanceId });
});
const found = (query: Json): Promise<Json> => wire.request("discover", query);
const who = (answer: Json): string[] => answer.candidates.map((c: Json) => c.agentId).sort();

describe("CAT-2: hard match", () => {
  test("by exact name offers every able instance with its facts and reasons", async () => {
    const answer = await found({ capability: "query_order" });
    expect(answer).toMatchObject({ verdict: "match", decisionId: expect.any(String), misses: [] });
    expect(who(answer)).toEqual(["orders-north", "orders-south"]);
    expect(answer.candidates.find((c: Json) => c.agentId === "orders-north")).toMatchObject({
      instanceId: agents.get("orders-north")!.instanceId,
      capability: "query_order",
      version: "1.2.0",
      match: 1,
      score: expect.any(Number),
      reasons: expect.arrayContaining(["name"]),
      facts: { state: "online", running: 0, queued: 0, load: 0, costTier: "low", health: 1 },
    });
  });

  test("by the exact tag", async () => {
    expect(who(await found({ tags: ["data/fetch/sql"] }))).toEqual(["sql"]);
  });

  test("by a tag whose own level nobody has goes up to the level above", async () => {
    const answer = await found({ tags: ["data/fetch/csv"] });
    expect(answer.verdict).not.toBe("no_match");
    expect(who(answer)).toEqual(["sql"]);
    expect(answer.candidates[0].match).toBeLessThan(1);
  });

  test("by a broad tag finds what stands below it", async () => {
    expect(who(await found({ tags: ["commerce/order"], topK: 10 }))).toEqual([
      "orders-north",
      "orders-south",
      "refunds",
    ]);
  });

  test("is not fooled by a part of a name", async () => {
    expect(who(await found({ capability: "query" }))).toEqual([]);
  });
});

describe("CAT-6: discover", () => {
  test("takes labels", async () => {
    expect(who(await found({ capability: "query_order", labels: { region: "south" } }))).toEqual(["orders-south"]);
  });

  test("takes an agentId", async () => {
    expect(who(await found({ capability: "query_order", agentId: "orders-north" }))).toEqual(["orders-north"]);
    expect(who(await found({ agentId: "refunds" }))).toEqual(["refunds"]);
  });

  test("takes topK", async () => {
    expect((await found({ capability: "query_order", topK: 1 })).candidates).toHaveLength(1);
  });

  test("takes resources of the card", async () => {
    expect(who(await found({ capability: "query_order", resources: { gpu: "L4" } }))).toEqual(["orders-north"]);
  });

  test("takes a version or a range", async () => {
    expect(who(await found({ capability: "query_order", version: "^1.0.0" }))).toHaveLength(2);
    const none = await found({ capability: "query_order", version: "^2.0.0" });
    expect(none.candidates).toEqual([]);
    expect(none.misses.map((m: Json) => m.why)).toEqual(["version", "version"]);
  });

  test("takes weights: who cares for cost gets the cheap one first", async () => {
    const { candidates } = await found({
      capability: "query_order",
      weights: { latency: 0, success: 0, cost: 1, load: 0 },
    });
    expect(candidates.map((c: Json) => c.agentId)).toEqual(["orders-north", "orders-south"]);
    expect(candidates[0].score).toBeGreaterThan(candidates[1].score);
  });

  test("does not offer an instance whose health is under 0.8, and says so", async () => {
    expect(await found({ capability: "sick_work" })).toMatchObject({
      verdict: "unavailable",
      candidates: [],
      misses: [{ agentId: "sick", capability: "sick_work", why: "health" }],
    });
  });
});

describe("CAT-8: the catalog may say no", () => {
  test("finding nobody is an answer, not an error", async () => {
    expect(await found({ capability: "brew_coffee" })).toMatchObject({ verdict: "no_match", candidates: [] });
  });

  test("the nearest misses are named with how near they were, at most three", async () => {
    // They are learnt beside everything else, a moment after the agents have come.
    while ((await found({ capability: "query_orders" })).misses[0]?.capability !== "query_order");
    const { verdict, misses } = await found({ capability: "query_orders" });
    expect(verdict).toBe("no_match");
    expect(misses.length).toBeGreaterThan(0);
    expect(misses.length).toBeLessThanOrEqual(3);
    expect(misses[0]).toMatchObject({ capability: "query_order", match: expect.any(Number) });
    expect(misses[0].match).toBeLessThan(1);
  });

  test("offered but nobody able is unavailable, and each miss says why", async () => {
    expect(await found({ capability: "leaving_work" })).toMatchObject({
      verdict: "unavailable",
      candidates: [],
      misses: [{ agentId: "leaving", why: "draining" }],
    });
  });

  test("a lost one is a suspect", async () => {
    const lost = await join("lost", [{ name: "lost_work" }]);
    await wire.request("watch", { agentId: "lost" });
    lost.cut();
    await wire.waitFor("instance.suspect");
    expect(await found({ capability: "lost_work" })).toMatchObject({
      verdict: "unavailable",
      misses: [{ why: "suspect" }],
    });
  });

  test("asking for nothing is refused", async () => {
    expect(await wire.refused("discover", {})).toMatchObject({ code: "INVALID_REQUEST" });
  });
});

describe("EDGE-5: discover over HTTP", () => {
  test("gives what the socket gives", async () => {
    const { status, body } = await node().http.post("/v1/discover", { capability: "query_order" });
    expect(status).toBe(200);
    expect(who(body)).toEqual(["orders-north", "orders-south"]);
    expect((await node().http.post("/v1/discover", { capability: "brew_coffee" })).body).toMatchObject({
      verdict: "no_match",
    });
  });
});
