import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { cardTextOf } from "./card-text.js";
import { Linter } from "./linter.js";

const cancel = {
  name: "cancel_order",
  description: "Cancels an order that has not been sent",
  operation: "cancel",
  objectType: "order",
  examples: ["cancel the order of yesterday", "stop it, nobody wants these shoes any more", "call off my order"],
};
const voided = {
  name: "void_purchase",
  description: "Cancels any order that has not yet been sent",
  operation: "cancel",
  objectType: "order",
  examples: ["cancel the order of last week", "stop it, nobody wants those shoes any longer"],
};
const invoices = {
  name: "list_invoices",
  description: "All invoices of a customer",
  operation: "list",
  objectType: "invoice",
  examples: ["which invoices has ACME got", "show open bills", "what did we charge them last year"],
};

let rooms: FakeRooms;
/** What was told, as capability and rule. */
let told: string[];
const listen = (to: FakeRooms) =>
  to.catalog.onWarnings((_, found) => void told.push(...found.map(({ capability, rule }) => `${capability} ${rule}`)));
const known = (capability: typeof cancel, from = rooms): string[] =>
  from.catalog.warningsOf(card("any", [capability]), true);
beforeEach(async () => {
  told = [];
  rooms = await FakeRooms.open();
  listen(rooms);
});

describe("REG-12: what only the other cards show", () => {
  test("one meaning under two names is found out after the registration, and told once", async () => {
    await rooms.join(card("a1", [cancel, invoices]));
    await rooms.pass(2_000);
    const late = await rooms.join(card("a2", [voided]));
    expect(late.registered.warnings.join()).not.toContain("cancel_order");
    await rooms.pass(2_000);
    expect(told).toEqual(["void_purchase nearDuplicate"]);
    expect(known(voided)).toEqual([
      expect.stringContaining('name: "void_purchase" seems to mean the same as "cancel_order"'),
    ]);
    expect(known(invoices)).toEqual([]);
  });

  test("of two that come at once it is told once, and known of both", async () => {
    await rooms.join(card("a1", [cancel, voided, invoices]));
    await rooms.pass(2_000);
    expect(told).toEqual(["void_purchase nearDuplicate"]);
    expect([known(cancel), known(voided)]).toEqual([
      [expect.stringContaining('"void_purchase"')],
      [expect.stringContaining('"cancel_order"')],
    ]);
  });

  test("who comes back with the same card hears it in the answer, and nobody is told again", async () => {
    const { registered } = await rooms.join(card("a1", [cancel, voided, invoices]));
    await rooms.pass(2_000);
    told = [];
    const again = await rooms.join(card("a1", [cancel, voided, invoices]), registered);
    expect(again.registered.warnings.join()).toContain('"void_purchase" seems to mean the same as "cancel_order"');
    await rooms.join(card("a2", [voided]));
    await rooms.pass(2_000);
    expect(told).toEqual([]);
  });

  test("who was there when the node started is not told again, and it is known again", async () => {
    await rooms.join(card("a1", [cancel, voided, invoices]));
    await rooms.pass(2_000);
    told = [];
    const restarted = await rooms.restart();
    listen(restarted);
    await restarted.pass(5_000);
    expect(known(voided, restarted)).toHaveLength(1);
    expect(told).toEqual([]);
  });

  test("when the other one is told apart, the warning goes", async () => {
    const first = await rooms.join(card("a1", [cancel]));
    await rooms.join(card("a2", [voided]));
    await rooms.pass(2_000);
    expect(known(voided)).toHaveLength(1);
    const other = {
      ...cancel,
      description: "Paints portraits",
      examples: ["paint my cat in oil", "a portrait please"],
    };
    await rooms.join(card("a1", [other]), { ...first.registered, link: first.link });
    await rooms.pass(2_000);
    expect(known(voided)).toEqual([]);
  });

  test("an example that two give is told even where they come at the same moment", async () => {
    const bill = { name: "bill_copy", description: "Sends a bill again", examples: ["please show the open bills"] };
    await rooms.join(card("a1", [invoices, bill]));
    await rooms.pass(2_000);
    expect(told).toEqual(["bill_copy exampleShared"]);
  });

  test("bare names are left in peace, however alike", async () => {
    await rooms.join(card("a1", ["order_query", "query_order", "query_orders"]));
    await rooms.pass(2_000);
    expect(told).toEqual([]);
  });
});

describe("the linter", () => {
  /** One beside the node's own, over the same registry, whose searches are counted. */
  const linterOf = async (searchedMax?: number) => {
    await rooms.join(card("a1", [cancel, voided, { ...invoices, examples: ["call off my order", "show open bills"] }]));
    let searches = 0;
    const near = () => {
      searches++;
      return [
        { name: "list_invoices", score: 1, parts: { lexical: 1, concepts: 0, words: 0, embedding: 0, operation: 1 } },
      ];
    };
    const linter = new Linter(rooms.registry.view, near, searchedMax);
    for (const [name, entry] of rooms.registry.view.capabilities) linter.changed(name, cardTextOf(entry), true);
    return { linter, searches: () => searches };
  };

  test("searches at most once at a step, and not twice for one text", async () => {
    const { linter, searches } = await linterOf();
    for (let before = 0; linter.step(); before = searches()) expect(searches() - before).toBeLessThanOrEqual(1);
    // Three descriptions and seven examples.
    expect(searches()).toBe(10);
    expect(linter.of("cancel_order").map(({ rule }) => rule)).toContain("exampleElsewhere");
  });

  test("in a catalog too large to be searched beside everything compares examples alone", async () => {
    const { linter, searches } = await linterOf(2);
    while (linter.step());
    expect(searches()).toBe(0);
    expect(linter.of("list_invoices")).toMatchObject([{ rule: "exampleShared", other: "cancel_order" }]);
  });

  test("forgets who is gone, and looks again at those whom it warned of it", async () => {
    const { linter } = await linterOf(2);
    while (linter.step());
    linter.changed("cancel_order", undefined, true);
    while (linter.step());
    expect([linter.of("cancel_order"), linter.of("list_invoices")]).toEqual([[], []]);
  });
});
