import fc from "fast-check";
import { expect, test } from "vitest";
import { fitLogistic, type Row, sigmoid } from "./logistic.js";

const prior = { coefficients: [0, 1], worth: 1e-6, signed: 1 };
const many = (count: number, x: number, y: boolean): Row[] =>
  Array.from({ length: count }, () => ({ x: [1, x], y, weight: 1 }));

test("it finds the shares that two groups of rows have", () => {
  const rows = [...many(30, 0, true), ...many(70, 0, false), ...many(90, 1, true), ...many(10, 1, false)];
  const [at0, slope] = fitLogistic(rows, prior);
  expect(sigmoid(at0!)).toBeCloseTo(0.3, 4);
  expect(sigmoid(at0! + slope!)).toBeCloseTo(0.9, 4);
});

test("a weight of two is worth two rows", () => {
  const once = [...many(2, 0, true), ...many(3, 0, false), ...many(4, 1, true), ...many(1, 1, false)];
  const twice = once.map((row) => ({ ...row, weight: 2 }));
  const found = fitLogistic([...once, ...once], prior);
  for (const [i, value] of fitLogistic(twice, prior).entries()) expect(value).toBeCloseTo(found[i]!, 8);
});

test("without rows it is the prior, and the more the prior is worth, the less rows move it", () => {
  expect(fitLogistic([], { ...prior, coefficients: [-0.5, 2] })).toEqual([-0.5, 2]);
  const rows = [...many(20, 0, false), ...many(20, 1, true)];
  const slopes = [1, 10, 1000].map((worth) => fitLogistic(rows, { ...prior, worth })[1]!);
  expect(slopes[0]).toBeGreaterThan(slopes[1]!);
  expect(slopes[1]).toBeGreaterThan(slopes[2]!);
  expect(slopes[2]).toBeCloseTo(1, 1);
});

test("rows that say the opposite make a coefficient 0 and never negative, and the intercept is fitted without it", () => {
  const rows = [...many(90, 0, true), ...many(10, 0, false), ...many(30, 1, true), ...many(70, 1, false)];
  const [at0, slope] = fitLogistic(rows, prior);
  expect(slope).toBe(0);
  expect(sigmoid(at0!)).toBeCloseTo(0.6, 4);
});

test("rows that a line parts without fault, and rows that are all alike, give finite coefficients", () => {
  const row = fc.record({ x: fc.tuple(fc.constant(1), fc.double({ min: -4, max: 4, noNaN: true })), y: fc.boolean() });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), fc.constantFrom(1, 15, 100), (rows, worth) => {
      const found = fitLogistic(
        rows.map((one) => ({ ...one, weight: 1 })),
        { ...prior, worth },
      );
      expect(found.every(Number.isFinite)).toBe(true);
      expect(found[1]).toBeGreaterThanOrEqual(0);
    }),
  );
});
