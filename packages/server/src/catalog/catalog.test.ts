import type { ReachError } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import type { Wanted } from "./catalog.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open({
    synonyms: { run_sql: ["SQL 查询", "run sql"], "commerce/order": ["orders"], nobody: ["ghost"] },
  });
  await rooms.join(
    card("data", [
      {
        name: "run_sql",
        tags: ["data/fetch/sql"],
        description: "Runs a query on the warehouse",
        examples: ["top ten customers?"],
      },
      { name: "read_csv", tags: ["data/fetch/csv"] },
    ]),
  );
  await rooms.join(
    card("shop", [
      {
        name: "query_order",
        tags: ["commerce/order"],
        description: "Current status of an order by its number",
        examples: ["where is my order?"],
      },
    ]),
  );
});
const find = (wanted: Omit<Wanted, "tenant"> & { tags?: string[] }) =>
  rooms.catalog.find({ tenant: "default", ...wanted }).resolved;
/** Until what has come is found by its meaning, too. */
const learnt = () => rooms.pass(1_000);
const names = (wanted: Parameters<typeof find>[0]): string[] => find(wanted).map((r) => r.name);
const resolve = (
  wanted: Omit<Wanted, "tenant">,
): { name: string; match: number; reasons: readonly string[] } | ReachError => {
  const resolution = rooms.catalog.resolve({ tenant: "default", ...wanted });
  return resolution.ok ? resolution.resolved : resolution.error;
};

describe("CAT-2: from what is asked to the capability that is meant", () => {
  test("a name is itself, whatever else might fit", () => {
    expect(resolve({ capability: "run_sql" })).toMatchObject({ name: "run_sql", match: 1, reasons: ["name"] });
    expect(resolve({ intent: "Run SQL" })).toMatchObject({ name: "run_sql", match: 1 });
  });

  test("a synonym stands for a capability, in any case and spacing, in Chinese too", () => {
    for (const intent of ["run  SQL", "sql 查询", "ＳＱＬ 查询"])
      expect(resolve({ intent })).toMatchObject({ name: "run_sql" });
    expect(resolve({ capability: "SQL 查询" })).toMatchObject({ match: 0.95, reasons: ["synonym of run_sql"] });
  });

  test("a synonym may stand for a tag", () => {
    expect(resolve({ intent: "orders" })).toMatchObject({ name: "query_order", match: 0.9 });
  });

  test("an example's very words mean its capability", () => {
    expect(resolve({ intent: "Where is my order?" })).toMatchObject({ name: "query_order", reasons: ["example"] });
  });

  test("tags are looked up from the most specific level upwards, with a lower match each", () => {
    expect(find({ tags: ["data/fetch/sql"] })).toMatchObject([{ name: "run_sql", match: 0.9 }]);
    expect(names({ tags: ["DATA/Fetch"] }).sort()).toEqual(["read_csv", "run_sql"]);
    const up = find({ tags: ["data/fetch/sql/window"] });
    expect(up).toMatchObject([{ name: "run_sql", reasons: ["tag data/fetch/sql, 1 above data/fetch/sql/window"] }]);
    expect(up[0]!.match).toBeCloseTo(0.8);
    expect(names({ tags: ["nothing/of/the/kind"] })).toEqual([]);
  });

  test("several tags bring each capability once, the best first", async () => {
    const both = find({ tags: ["data/fetch/sql", "data"] });
    expect(both.map((r) => r.name)).toEqual(["run_sql", "read_csv"]);
  });
});

describe("CAT-8: the catalog may say no", () => {
  test("two that cannot be told apart are ambiguous, and both are named", () => {
    expect(resolve({ intent: "data/fetch" })).toMatchObject({
      code: "NO_ROUTE",
      details: { reason: "ambiguous", nearest: [{ capability: "run_sql" }, { capability: "read_csv" }] },
    });
  });

  test("what nobody offers is refused with the nearest", async () => {
    await learnt();
    expect(resolve({ capability: "order status" })).toMatchObject({
      code: "NO_ROUTE",
      retryable: false,
      outcome: "not_executed",
      details: { reason: "unknown_capability", nearest: [{ capability: "query_order", agentId: "shop" }] },
    });
    expect(resolve({ intent: "bake cakes" })).toMatchObject({ details: { reason: "no_match", nearest: [] } });
    expect(resolve({ intent: "ghost" })).toMatchObject({ details: { reason: "no_match" } });
  });

  test("how near a miss is lies between 0 and 1, however the descriptions of one name differ", async () => {
    await rooms.join(card("wordy", [{ name: "x", description: "alpha beta gamma delta epsilon" }]));
    await rooms.join(card("terse", ["x"]));
    await learnt();
    const [miss] = rooms.catalog.misses("alpha beta gamma delta epsilon");
    expect(miss).toMatchObject({ capability: "x" });
    expect(miss!.match).toBeGreaterThan(0);
    expect(miss!.match).toBeLessThanOrEqual(1);
  });

  test("Chinese is near to Chinese, cut between words or not", async () => {
    await rooms.join(card("cn", [{ name: "refund", description: "退款申请处理" }]));
    await learnt();
    expect(rooms.catalog.misses("退款")[0]).toMatchObject({ capability: "refund" });
  });
});

describe("ROUTE-1: targets come before names", () => {
  test("an agent with one capability needs no more words; with several it must be said which", () => {
    expect(resolve({ agentId: "shop" })).toMatchObject({ name: "query_order", reasons: ["agent", "name"] });
    const error = resolve({ agentId: "data" }) as ReachError;
    expect(error).toMatchObject({ code: "INVALID_REQUEST", path: "capability" });
    expect(error.message).toContain('"read_csv", "run_sql"');
    expect(resolve({ agentId: "data", capability: "run_sql" })).toMatchObject({ name: "run_sql" });
    expect(resolve({ agentId: "data", intent: "run sql" })).toMatchObject({ name: "run_sql" });
  });

  test("only the target's own offers count", async () => {
    const other = await rooms.join(card("other", ["query_order"]));
    const resolution = rooms.catalog.resolve({ tenant: "default", agentId: "shop", capability: "query_order" });
    expect(resolution.ok && resolution.resolved.offers.map((o) => o.instance.record.agentId)).toEqual(["shop"]);
    const one = rooms.catalog.resolve({ tenant: "default", instanceId: other.registered.instanceId });
    expect(one.ok && one.resolved.offers).toHaveLength(1);
  });

  test("unknown agents, instances and capabilities of known agents are told apart", async () => {
    const reason = (wanted: Omit<Wanted, "tenant">) => (resolve(wanted) as ReachError).details?.["reason"];
    const { registered } = await rooms.join(card("other", ["query_order"]));
    expect(reason({ agentId: "ghost" })).toBe("unknown_agent");
    expect(reason({ instanceId: "0199a5c2-6f0e-7c11-9b1e-999999999999" })).toBe("unknown_agent");
    expect(reason({ agentId: "shop", instanceId: registered.instanceId })).toBe("unknown_agent");
    expect(reason({ agentId: "shop", capability: "run_sql" })).toBe("unknown_capability");
  });

  test("DLV-5: whoever is offline is still known, and apart from those who are here", async () => {
    const { instance } = await rooms.join(card("gone", ["rare"]));
    await rooms.registry.deregister(instance, "done");
    expect(resolve({ capability: "rare" })).toMatchObject({ name: "rare", offers: [], gone: [{ instance }] });
    expect(resolve({ agentId: "gone" })).toMatchObject({ offers: [], gone: [{ instance }] });
  });
});

test("what comes, changes and goes is found, found anew and forgotten", async () => {
  expect(rooms.catalog.misses("paint pictures")).toEqual([]);
  const { instance, link } = await rooms.join(card("art", [{ name: "paint", description: "paint pictures" }]));
  await learnt();
  expect(rooms.catalog.misses("paint pictures")[0]).toMatchObject({ capability: "paint", agentId: "art" });
  await rooms.join(card("art", [{ name: "sculpt", examples: ["a statue please"] }]), {
    instanceId: instance.record.instanceId,
    link,
  });
  expect(resolve({ intent: "a statue please" })).toMatchObject({ name: "sculpt" });
  await learnt();
  expect(rooms.catalog.misses("paint pictures")).toEqual([]);
});
