import { expect, test } from "vitest";
import { WordRanking, wordKeysOf } from "./word-ranking.js";

const documents = [["cancel this order now"], ["track parcel", "where parcel"], ["book a flight today"]];

function ranking(): WordRanking {
  const words = new WordRanking();
  for (const texts of documents) words.add(texts);
  return words;
}

test("a document in the place of another is scored as itself, and the others as shares of what is then the best", () => {
  const words = ranking();
  const asked = { words: wordKeysOf("cancel parcel order"), sums: new Float32Array(3), best: 0, count: 3 };
  const shares = asked.sums;
  asked.best = words.shares(asked.words, shares);
  expect(shares[0]).toBe(1);
  const second = shares[1]!;
  expect(second).toBeGreaterThan(0);
  expect(second).toBeLessThan(1);

  asked.best = words.replace(asked, 0, []);
  expect([...shares]).toEqual([0, 1, 0]);

  asked.best = words.replace(asked, 0, documents[0]!);
  expect(shares[0]).toBe(1);
  // Weights are kept in few bits.
  expect(shares[1]).toBeCloseTo(second, 2);
});

test("a request of which nothing occurs has no shares, whatever takes a place", () => {
  const words = ranking();
  const asked = { words: wordKeysOf("tomato soup"), sums: new Float32Array(3), best: 0, count: 3 };
  expect(words.shares(asked.words, asked.sums)).toBe(0);
  expect(words.replace(asked, 1, [])).toBe(0);
  expect([...asked.sums]).toEqual([0, 0, 0]);
});

test("a word is worth the more the fewer documents have it, whatever its ending", () => {
  const words = ranking();
  words.add(["cancel the flight"]);
  const [rare, common, unheard] = ["flights", "cancel", "soup"].map((word) => words.worthOfWord(word));
  expect(words.worthOfWord("flight")).toBe(rare);
  expect(words.worthOfWord("booking")).toBe(words.worthOfWord("book"));
  expect(common).toBe(rare);
  expect(unheard!).toBeGreaterThan(words.worthOfWord("order"));
  expect(words.worthOfWord("order")).toBeGreaterThan(common!);
});
