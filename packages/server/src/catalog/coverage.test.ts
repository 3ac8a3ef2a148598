import { expect, test } from "vitest";
import { Coverage } from "./coverage.js";

/** Words that mean the same begin with the same letter; those with an "x" are not known. */
const embedder = {
  dims: 26,
  embedOne: (text: string) => {
    const vector = new Float32Array(26);
    if (!text.includes("x")) vector[text.charCodeAt(0) - 97] = 1;
    return vector;
  },
  weightOf: (text: string) => (text === "the" ? 0.1 : text.includes("x") ? 0 : 1),
};
const among = (size: number) => new Coverage(embedder, { size, worthOfWord: () => 1 });
const coverage = among(0);
const cards = [["cancel the order"], ["order again", "list"]].map((texts) => coverage.cardOf(texts));
const best = (clauses: readonly string[], among = cards, by = coverage) =>
  by.requestOf(clauses.join(", ")).best(clauses, among);

test("what cards say is covered, in the same word or in one that means the same, and in several cards", () => {
  expect(best(["cancel the list again"], cards)).toBe(1);
  expect(best(["close the lock"], cards)).toBeCloseTo(1, 6);
  expect(best(["cancel the meal"], cards)).toBeCloseTo(1.1 / 2.1, 6);
});

test("a word without a meaning is covered by itself alone", () => {
  expect(best(["xylophone repair"], cards)).toBe(0);
  const withIt = [...cards, coverage.cardOf(["xylophone"])];
  expect(best(["xylophone repair"], withIt)).toBe(0.5);
});

test("the more cards there are, the more what is rare among them counts, and not what is rare in the language", () => {
  const covered = [0, 20, 1e9].map((size) => best(["the meal"], cards, among(size))!);
  expect(covered[0]).toBeCloseTo(0.1 / 1.1, 6);
  expect(covered[1]).toBeCloseTo(Math.sqrt(0.1) / (1 + Math.sqrt(0.1)), 6);
  expect(covered[2]).toBeCloseTo(0.5, 6);
});

test("the clause that is covered best counts, and one of a single word only if there is no longer one", () => {
  expect(best(["my wife is unwell", "cancel the order"], cards)).toBe(1);
  expect(best(["order", "give it back"], cards)).toBe(0);
  expect(best(["order", "why"], cards)).toBe(1);
});

test("of long cards and requests the beginning is looked at", () => {
  const long = Array.from({ length: 200 }, (_, i) => `word${i}`);
  expect(coverage.cardOf([long.join(" "), "order"]).words.size).toBe(128);
  const request = `cancel order ${long.slice(0, 22).join(" ")}`;
  expect(best([request])).toBe(best([`${request} list again the`]));
  const clauses = [...Array.from({ length: 8 }, () => "my wife"), "cancel the order"];
  expect(best(clauses, cards)).toBe(0);
});

test("the share of a request that one card says is over all its words", () => {
  const request = coverage.requestOf("my wife: cancel the order");
  expect(request.share(cards[0]!)).toBeCloseTo(2.1 / 4.1, 6);
  expect(request.share(cards[1]!)).toBeCloseTo(1 / 4.1, 6);
  expect(coverage.requestOf("?!").share(cards[0]!)).toBe(0);
});

test("nothing is said of a text without words, and no card covers nothing", () => {
  expect(best(["?!"], cards)).toBeUndefined();
  expect(coverage.requestOf("").best([], cards)).toBeUndefined();
  expect(best(["cancel the order"], [])).toBe(0);
});
