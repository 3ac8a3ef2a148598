import { describe, expect, test } from "vitest";
import { evaluate, type Reply } from "./evaluate.js";
import type { CardText } from "./finder.js";

type Row = [text: string, expect: string | null, first: string, fit?: number, verdict?: string];

async function suggested(rows: readonly Row[], cards?: readonly CardText[], setting?: string): Promise<string[]> {
  const replies = new Map(
    rows.map(([text, , first, fit = 0.9, verdict = "match"]) => [
      text,
      { verdict, fit, ranked: [{ name: first }] } satisfies Reply,
    ]),
  );
  const { suggestions } = await evaluate(
    rows.map(([text, expected]) => ({ text, expect: expected })),
    (text) => replies.get(text)!,
    {
      now: () => 0,
      ...(cards === undefined ? {} : { cardsOf: () => cards }),
      ...(setting === undefined ? {} : { setting }),
    },
  );
  return suggestions;
}

const twice = (expected: string, got: string): Row[] => [
  ["first try", expected, got],
  ["second try", expected, got],
  ["chat", null, got, 0.1, "no_match"],
];
const card = (name: string, more: Partial<CardText> = {}): CardText => ({ name, examples: ["x"], ...more });

describe("CAT-9: suggestions", () => {
  test("name what is expected and in no card", async () => {
    const [first] = await suggested(
      [
        ["a", "cancel_ordr", "cancel_order"],
        ["b", "cancel_ordr", "cancel_order"],
        ["c", null, "cancel_order", 0, "no_match"],
      ],
      [card("cancel_order")],
    );
    expect(first).toMatch(/No card offers "cancel_ordr", which 2 queries expect: correct the name/);
  });

  test("name the cards without examples", async () => {
    const [first] = await suggested(
      [
        ["a", "bare", "bare"],
        ["b", null, "bare", 0, "no_match"],
      ],
      [card("bare", { examples: [] }), card("rich")],
    );
    expect(first).toMatch(/^"bare" has no examples: add about five/);
  });

  test.each([
    [
      "the operation that a card does not say",
      { operation: "delete" },
      {},
      /operations differ \(delete, list\): say `operation` on "list_orders"/,
    ],
    [
      "wording, if both say their operation",
      { operation: "delete" },
      { operation: "list" },
      /operations differ \(delete, list\), so it is the wording/,
    ],
  ])("tell a confused pair apart by %s", async (_what, one, other, expected) => {
    const suggestions = await suggested(twice("delete_order", "list_orders"), [
      card("delete_order", one),
      card("list_orders", other),
    ]);
    expect(suggestions[0]).toMatch(/^"list_orders" is found instead of "delete_order" for 2 of 2 queries\./);
    expect(suggestions[0]).toMatch(expected);
    expect(suggestions[0]).toContain('Give "delete_order" an example like "first try".');
  });

  test.each([
    ["ask for the object, if one is silent about it", "order", "", /`objectType` is missing on "delete_invoice"/],
    ["ask whether they are one, if operation and object are the same", "order", "order", /or make them one/],
    ["speak of the objects, if these differ", "order", "invoice", /differ in their object \(order, invoice\)/],
  ])("%s", async (_what, one, other, expected) => {
    const [first] = await suggested(twice("delete_order", "delete_invoice"), [
      card("delete_order", { objectType: one }),
      card("delete_invoice", { objectType: other }),
    ]);
    expect(first).toMatch(expected);
  });

  test("say nothing of cards that were not given, and still of pairs", async () => {
    const suggestions = await suggested(twice("delete_order", "list_orders"));
    expect(suggestions).toEqual([
      '"list_orders" is found instead of "delete_order" for 2 of 2 queries. Give "delete_order" an example like "first try".',
    ]);
  });

  test("do not make a rule of one slip", async () => {
    const suggestions = await suggested([
      ["a", "one", "two"],
      ["b", null, "one", 0.1, "match"],
    ]);
    expect(suggestions.filter((text) => text.includes("instead of") || text.includes("nobody serves,"))).toEqual([]);
  });

  test("name what attracts requests that nobody serves", async () => {
    const suggestions = await suggested([
      ["a", "chat", "chat"],
      ["joke", null, "chat"],
      ["weather", null, "chat"],
    ]);
    expect(suggestions.join("\n")).toContain('"chat" is found for 2 requests that nobody serves, like "joke"');
  });

  test("ask for examples where requests are refused though the right one comes first", async () => {
    const long = "x".repeat(200);
    const suggestions = await suggested([
      [long, "one", "one", 0.2, "no_match"],
      ["b", "one", "one", 0.2, "no_match"],
      ["c", "one", "one"],
    ]);
    expect(suggestions[0]).toBe(
      `2 of 3 queries for "one" are refused as too far from it: give it examples in such words, like "${"x".repeat(80)}…".`,
    );
  });

  test("offer the threshold that accepts 90 %, if it would change something", async () => {
    const rows = (verdict: string): Row[] => [
      ["a", "one", "one", 0.8009],
      ["b", null, "one", 0.5, verdict],
    ];
    const told = async (verdict: string, setting?: string): Promise<string[]> =>
      (await suggested(rows(verdict), [], setting)).filter((text) => text.includes("of the rest"));
    expect(await told("match", "catalog.acceptAt")).toEqual([
      "With `catalog.acceptAt` at 0.800, at least 90 % of the served are accepted and 100 % of the rest refused; now it is 100 % and 0 %.",
    ]);
    expect(await told("no_match", "catalog.acceptAt")).toEqual([]);
    // The fit may be in other terms than the setting.
    expect(await told("match")).toEqual([]);
  });

  test("ask for what is missing in the queries themselves", async () => {
    expect((await suggested([["a", "one", "one"]])).join()).toContain('"expect": null');
    expect((await suggested([["a", null, "one"]])).join()).toContain("Every query expects nobody");
  });
});
