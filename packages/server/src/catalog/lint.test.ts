import { describe, expect, test } from "vitest";
import { WordFinder } from "../../../../test/kit/word-finder.js";
import type { CardText } from "./finder.js";
import { type LintRule, lint, lintCard } from "./lint.js";

const good: CardText[] = [
  {
    name: "cancel_order",
    description: "Cancels an order that has not been sent",
    operation: "cancel",
    objectType: "order",
    examples: ["cancel the order of yesterday", "stop it, nobody wants these shoes any more", "call off order 7"],
  },
  {
    name: "list_invoices",
    description: "All invoices of a customer",
    operation: "list",
    objectType: "invoice",
    examples: ["which invoices has ACME got", "show open bills", "what did we charge them last year"],
  },
];

function linted(...more: CardText[]) {
  const finder = new WordFinder();
  const cards = [...good, ...more];
  for (const card of cards) finder.put(card);
  return lint(cards, finder);
}

const rules = (warnings: readonly { capability: string; rule: LintRule }[]) =>
  warnings.map(({ capability, rule }) => `${capability} ${rule}`);

describe("REG-12: lint", () => {
  test("has nothing to say of good cards", () => {
    expect(linted()).toEqual([]);
    expect(lint([], new WordFinder())).toEqual([]);
  });

  test("points out a missing description and missing examples", () => {
    expect(linted({ name: "translate", description: " ", examples: [] })).toMatchObject([
      { capability: "translate", rule: "descriptionMissing", path: "description" },
      { capability: "translate", rule: "examplesMissing", path: "examples" },
    ]);
  });

  test("points out examples that another card gives too, on both, and does not say it twice of one", () => {
    const warnings = linted({
      name: "refund_order",
      description: "Pays money back",
      examples: ["money back for the blue jacket", "Please call off order 8!"],
    });
    expect(rules(warnings)).toEqual(["cancel_order exampleShared", "refund_order exampleShared"]);
    expect(warnings[1]).toMatchObject({ path: "examples[1]", other: "cancel_order" });
    expect(warnings[1]!.message).toContain('"Please call off order 8!"');
  });

  test("points out an example that finds another capability", () => {
    const finder = new WordFinder();
    for (const card of good) finder.put(card);
    // What the finder knows of the card is older than its latest example.
    finder.put({ name: "bill_copy", description: "Sends the copy of one bill" });
    const near = (text: string, limit: number) => finder.ask(text, limit).ranked;
    const card = { name: "bill_copy", description: "x", examples: ["send it again", "which invoices has Globex got"] };
    expect(lintCard(card, { near, cardOf: () => undefined })).toMatchObject([
      { rule: "exampleElsewhere", path: "examples[1]", other: "list_invoices" },
    ]);
  });

  test("points out one meaning under two names, once for the pair", () => {
    const copy: CardText = {
      name: "void_purchase",
      description: "Cancels any order that has not yet been sent",
      operation: "cancel",
      objectType: "order",
      examples: ["cancel the order of last week", "stop it, nobody wants those shoes any longer"],
    };
    const warnings = linted(copy);
    expect(rules(warnings)).toEqual(["cancel_order nearDuplicate"]);
    expect(warnings[0]).toMatchObject({ other: "void_purchase", path: "" });
  });

  test("does not take what does the opposite for the same, however alike the words", () => {
    const opposite: CardText = {
      name: "restore_order",
      description: "Restores an order that has not been sent",
      operation: "restore",
      objectType: "order",
      examples: ["restore the order of yesterday", "somebody wants these shoes after all"],
    };
    expect(rules(linted(opposite)).filter((text) => text.includes("nearDuplicate"))).toEqual([]);
  });

  test("CAT-7: points out an operation that contradicts the name", () => {
    const warnings = linted({
      name: "delete_contact",
      description: "Removes somebody from the address book",
      operation: "list",
      examples: ["take Ann out of my address book"],
    });
    expect(warnings).toMatchObject([{ rule: "operationContradictsName", path: "operation" }]);
    expect(warnings[0]!.message).toContain('"delete_contact" sounds like delete, but its operation is "list"');
  });

  test.each([
    ["delete_contact", "remove"],
    ["sql.run", "run"],
    ["card_declined", "query"],
    ["payment_failed", "diagnose"],
    ["shopping_list_update", "update"],
    ["审批销售报表", "approve"],
    ["frobnicate", "list"],
    ["delete_contact", "frobnicate"],
    ["delete_contact", ""],
    ["---", "list"],
  ])("sees no contradiction in %s that is to %j", (name, operation) => {
    const card = { name, operation, description: "x", examples: ["y"] };
    expect(lintCard(card, { cardOf: () => undefined })).toEqual([]);
  });

  test("sees one between a Chinese name and its operation", () => {
    const card = { name: "删除订单", operation: "list", description: "x", examples: ["y"] };
    expect(rules(lintCard(card, { cardOf: () => undefined }))).toEqual(["删除订单 operationContradictsName"]);
  });

  test("asks no more than a few texts of a card, however many examples it has", () => {
    const finder = new WordFinder();
    const card = {
      name: "a",
      description: "d",
      examples: Array.from({ length: 100 }, (_, i) => `unlike word${i} thing${i}`),
    };
    finder.put(card);
    lint([card], finder);
    expect(finder.asked.length).toBeLessThan(10);
  });
});
