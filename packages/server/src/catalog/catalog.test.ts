import type { ReachError } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms, synonymsOf } from "../../../../test/kit/fake-rooms.js";
import type { Wanted } from "./found.js";

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
    expect(resolve({ intent: "orders" })).toMatchObject({
      name: "query_order",
      match: 0.9,
      reasons: ["synonym of commerce/order", "tag commerce/order"],
    });
  });

  test("a synonym stands for a name that agents spell in another way", async () => {
    await rooms.join(card("mail", ["Send-Letter"]));
    rooms.catalog.synonyms = synonymsOf({ send_letter: ["寄信"] });
    expect(resolve({ intent: "寄信" })).toMatchObject({ name: "Send-Letter", reasons: ["synonym of send_letter"] });
  });

  test("other synonyms may take the place of those that were, at once", () => {
    rooms.catalog.synonyms = synonymsOf({ read_csv: ["SQL 查询"] });
    expect(resolve({ intent: "sql查询" })).toMatchObject({ name: "read_csv" });
    expect(resolve({ capability: "run sql" })).toMatchObject({ code: "NO_ROUTE" });
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

  test("several tags are all wanted, each at the nearest level that anybody has who has the others", async () => {
    expect(names({ tags: ["data/fetch/sql", "data"] })).toEqual(["run_sql"]);
    expect(names({ tags: ["data/fetch", "commerce"] })).toEqual([]);
    await rooms.join(card("ledger", [{ name: "sum_up", tags: ["data/fetch", "commerce/order/books"] }]));
    expect(find({ tags: ["data/fetch/sql", "commerce/order"] })).toMatchObject([
      { name: "sum_up", match: 0.8, reasons: ["tag data/fetch, 1 above data/fetch/sql", "tag commerce/order"] },
    ]);
  });

  test("tags are the same in any case, Chinese script, width and way to join words", async () => {
    await rooms.join(card("bank", [{ name: "pay_out", tags: ["财务/付款_审批"] }]));
    await rooms.join(card("fund", [{ name: "invest", tags: ["財務／投資"] }]));
    expect(names({ tags: ["財務/付款-審批"] })).toEqual(["pay_out"]);
    expect(names({ tags: ["财务/投资"] })).toEqual(["invest"]);
    expect(names({ tags: ["财务"] }).sort()).toEqual(["invest", "pay_out"]);
    expect(find({ tags: ["财务/付款/加急"] })).toMatchObject([
      { name: "pay_out", reasons: ["tag 财务, 2 above 财务/付款/加急"] },
      { name: "invest", reasons: ["tag 財務, 2 above 财务/付款/加急"] },
    ]);
    expect(names({ tags: ["Data / Fetch / SQL"] })).toEqual(["run_sql"]);
  });

  test("tags narrow down what is found by a name, a target or a text, and say so", async () => {
    expect(find({ capability: "run_sql", tags: ["data/fetch/xml"] })).toMatchObject([
      { match: 1, reasons: ["name", "tag data/fetch, 1 above data/fetch/xml"] },
    ]);
    expect(names({ capability: "run_sql", tags: ["commerce"] })).toEqual([]);
    expect(names({ agentId: "data", tags: ["data/fetch/csv"] })).toEqual(["read_csv"]);
    expect(names({ intent: "run sql", tags: ["data/fetch"] })).toEqual(["run_sql"]);
    await learnt();
    expect(names({ intent: "where is my order?", tags: ["commerce"] })).toEqual(["query_order"]);
    expect(names({ intent: "where is my order?", tags: ["nothing/of/the/kind"] })).toEqual([]);
  });

  test("a text that means somebody without the tag means the nearest of those who carry it", async () => {
    const search = { description: "Searches contracts", examples: ["find a contract"] };
    await rooms.join(card("legal", [{ name: "search_contracts", tags: ["legal"], ...search }]));
    await rooms.join(card("sales", [{ name: "find_deals", tags: ["sales"], description: "Finds contracts of sales" }]));
    await learnt();
    expect(names({ intent: "find a contract" })).toEqual(["search_contracts"]);
    expect(names({ intent: "find a contract", tags: ["sales"] })).toEqual(["find_deals"]);
  });

  test("whoever is offline is named under a tag as well, as one who is known", async () => {
    const { instance } = await rooms.join(card("gone", [{ name: "rare", tags: ["odd"] }]));
    await rooms.registry.deregister(instance, "done");
    expect(find({ capability: "rare", tags: ["odd"] })).toMatchObject([{ name: "rare", offers: [] }]);
    expect(names({ tags: ["odd"] })).toEqual([]);
  });

  test("a slash in a sentence parts no levels of a tag", async () => {
    await rooms.join(card("coin", [{ name: "toss", tags: ["yes"] }]));
    expect(resolve({ intent: "yes/no" })).toMatchObject({ name: "toss", match: 0.8 });
    expect(resolve({ intent: "yes/no questions about tax" })).toMatchObject({ code: "NO_ROUTE" });
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
  });

  test("CAT-2: a synonym of what nobody offers is refused as such, with what it stands for", async () => {
    await learnt();
    const said = '"ghost" is a synonym of "nobody", and nobody offers "nobody"';
    for (const [wanted, reason] of [
      [{ capability: "ghost" }, "unknown_capability"],
      [{ intent: "ghost" }, "no_match"],
    ] as const) {
      const refused = resolve(wanted) as ReachError;
      expect(refused).toMatchObject({ code: "NO_ROUTE", details: { reason, synonymOf: "nobody" } });
      expect(refused.message).toContain(said);
    }
  });

  test("CAT-2: a text that is a synonym of what nobody offers is understood by its meaning", async () => {
    rooms.catalog.synonyms = synonymsOf({ order_lookup: ["current order status"] });
    await learnt();
    expect(resolve({ intent: "current order status" })).toMatchObject({ name: "query_order" });
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
