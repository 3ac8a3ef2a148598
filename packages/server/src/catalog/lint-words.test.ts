import { describe, expect, test } from "vitest";
import { type LintWarning, lintCard } from "./lint.js";
import { quoted, sentencesOf } from "./lint-words.js";

const alone = { cardOf: () => undefined };
const many = (count: number) => Array.from({ length: count }, (_, i) => `c${i}`);
const words = (sentences: readonly string[]): string[] => sentences.map((text) => text.split(":")[0]!);

describe("REG-12: warnings in words", () => {
  test("name the field first, and what lacks the same thing in one sentence", () => {
    const cards = [
      { name: "bare" },
      { name: "silent", description: "Does it" },
      { name: "undescribed", examples: ["do it"] },
      { name: "delete_it", operation: "list", description: "Does it", examples: ["x"] },
    ];
    const sentences = sentencesOf(cards.flatMap((card) => lintCard(card, alone)));
    expect(words(sentences)).toEqual(["examples", "description", "operation"]);
    expect(sentences[0]).toContain("none for bare, silent.");
    expect(sentences[1]).toContain("none for undescribed,");
  });

  test("stay few however many capabilities there are", () => {
    const missing = many(256).flatMap((name) => lintCard({ name }, alone));
    expect(sentencesOf(missing)).toEqual([expect.stringContaining("none for c0, c1, c2, c3, c4 and 251 more.")]);
    const shared = many(30).map(
      (capability): LintWarning => ({
        capability,
        rule: "exampleShared",
        path: "examples[3]",
        message: "m",
        other: "o",
      }),
    );
    const sentences = sentencesOf(shared);
    expect(sentences).toHaveLength(11);
    expect(sentences[0]).toBe("examples: m");
    expect(sentences[10]).toContain("20 more warnings");
  });

  test("repeat no more than the beginning of a long text", () => {
    expect(quoted("short")).toBe('"short"');
    expect(quoted("x".repeat(5_000)).length).toBeLessThan(110);
  });
});
