import { expect, test } from "vitest";
import { LEFT_OUT } from "./order.js";
import { scan } from "./scan.js";
import { finished } from "./steps.js";
import { Traits } from "./traits.js";

/** More than are scored at a stretch. */
const COUNT = 40_000;
const nothing = new Float32Array(COUNT);
const traits = new Traits();
for (let at = 0; at < COUNT; at++) traits.add(at % 70, at % 2 === 0);
traits.forget(3);

const nearness = {
  chinese: true,
  lexical: nothing,
  concepts: nothing,
  words: Float32Array.from({ length: COUNT }, (_, at) => (at % 200) / 200),
  embedding: undefined,
  factors: Array.from({ length: 70 }, (_, set) => 1 + set / 100),
};

test("each document is scored by its own stages and by the factor of its own operations, but those that went or are not meant", () => {
  const scores = new Float32Array(COUNT);
  const steps = scan(nearness, traits, COUNT, scores, (at) => at !== 5);
  expect(steps.next().done).toBe(false);
  const totals = finished(steps);
  expect([scores[3], scores[5]]).toEqual([LEFT_OUT, LEFT_OUT]);
  expect(scores[100]).toBeCloseTo(0.1 * 0.5 * 1.3, 6);
  expect(scores[139]).toBeCloseTo(0.1 * 0.695 * 1.69, 6);
  expect(totals.counted).toBe(COUNT - 2);
  // Before the factor.
  expect(totals.most).toBeCloseTo(0.1 * 0.995, 6);
  expect(totals.sum).toBeCloseTo(0.1 * (200 * (199 / 2) - 8 / 200), 2);
});

test("for a card in the other language nearness of meaning stands in for letters", () => {
  const scores = new Float32Array(COUNT);
  finished(scan({ ...nearness, words: nothing, embedding: new Float32Array(COUNT).fill(0.8) }, traits, COUNT, scores));
  expect(scores[70]).toBeCloseTo(0.5 * 0.8, 6);
  expect(scores[71]).toBeCloseTo((0.5 * 0.8 + 0.5 * 0.45 * 0.8) * 1.01, 6);
});
