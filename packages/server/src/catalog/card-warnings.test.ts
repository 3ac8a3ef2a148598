import { describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { CardWarnings } from "./card-warnings.js";
import { Linter } from "./linter.js";

const letters = "abcdefghijklmnopqrstuvwxyz";
/** Examples that share no word. */
const examples = Array.from(
  { length: 100 },
  (_, i) => `${letters[i % 26]!.repeat(4)}${letters[Math.floor(i / 26)]!.repeat(3)}`,
);
const { view } = (await FakeRooms.open()).registry;
const linterOf = (): Linter => {
  const linter = new Linter(view, () => []);
  linter.changed("other", { name: "other", examples: examples.slice(0, 50) }, true);
  linter.changed("another", { name: "another", examples: examples.slice(50) }, true);
  return linter;
};

describe("REG-12: what a registration is told", () => {
  test("costs no more than a few comparisons, however many examples the card gives", () => {
    const warnings = new CardWarnings(linterOf());
    const one = card("a1", [{ name: "one", description: "x", examples }]);
    const many = card(
      "a2",
      examples.map((example, i) => ({ name: `c${i}`, description: "x", examples: [example] })),
    );
    for (const each of [one, many]) {
      const told = warnings.of(each, false);
      expect(told.slice(0, 10).every((text) => text.includes("give the same example"))).toBe(true);
      expect(told.slice(10)).toEqual([expect.stringContaining("22 more warnings")]);
    }
  });

  test("of a card that was there before is what was found out, and nothing is compared anew", () => {
    const linter = linterOf();
    const warnings = new CardWarnings(linter);
    const known = card("a1", [{ name: "one", description: "x", examples: examples.slice(0, 1) }]);
    expect(warnings.of(known, true)).toEqual([]);
    expect(warnings.of(known, false)).toHaveLength(1);
  });

  test("without an index is what the card itself shows", () => {
    const warnings = new CardWarnings(undefined);
    const doubtful = card("a1", [{ name: "delete_it", operation: "list", description: "x", examples }, "bare"]);
    for (const isKnown of [true, false])
      expect(warnings.of(doubtful, isKnown)).toEqual([
        expect.stringMatching(/^examples: none for bare\./),
        expect.stringMatching(/^operation: /),
      ]);
  });
});
