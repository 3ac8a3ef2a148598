import fc from "fast-check";
import { expect, test } from "vitest";
import { highest, LEFT_OUT, Order } from "./order.js";

const scores = fc.array(fc.oneof(fc.constant(LEFT_OUT), fc.double({ min: 0.01, max: 1.9, noNaN: true })), {
  maxLength: 300,
});

test("the best are in order, however they were offered, and each has its place", () => {
  fc.assert(
    fc.property(scores, fc.integer({ min: 1, max: 10 }), (given, limit) => {
      const order = new Order(limit);
      for (const [at, score] of given.entries()) order.offer(at, score, { score });
      const sorted = [...given].sort((a, b) => b - a).slice(0, limit);
      expect(order.best.map(({ score }) => score)).toEqual(sorted);
      for (const [i, { at }] of order.best.entries()) expect(order.placeOf(at)).toBe(i + 1);
      expect(order.placeOf(-1)).toBe(limit + 1);
    }),
  );
});

test("the highest of many are among those that the histogram finds, and hardly any others", () => {
  fc.assert(
    fc.property(scores, fc.integer({ min: 1, max: 50 }), (given, wanted) => {
      const array = Float32Array.from(given);
      const found = highest(array, array.length, wanted).map((at) => array[at]!);
      const inQuestion = [...array].filter((score) => score !== LEFT_OUT).sort((a, b) => b - a);
      expect(found.sort((a, b) => b - a).slice(0, wanted)).toEqual(inQuestion.slice(0, wanted));
      const last = inQuestion[Math.min(wanted, inQuestion.length) - 1] ?? 0;
      for (const score of found) expect(score).toBeGreaterThan(last - 0.003);
    }),
  );
});

test("of those that score nothing none is found", () => {
  expect(highest(new Float32Array(1_000), 1_000, 10)).toEqual([]);
});
