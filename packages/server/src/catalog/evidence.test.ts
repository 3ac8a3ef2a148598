import { expect, test } from "vitest";
import { evidenceOf, type Standing } from "./evidence.js";

const standing = (some: Partial<Standing>): Standing => ({ score: 0, plain: 0, nearest: 0, nearestPart: 0, ...some });

test("the best counts once, and the others by their mean", () => {
  const top = [standing({ score: 0.9, plain: 0.5 }), standing({ score: 0.6, plain: 0.7 })];
  const evidence = evidenceOf(top, { candidates: 4, best: 0.7, sum: 1.3, covered: 0.8 });
  expect(evidence).toMatchObject({ candidates: 4, best: 0.7, covered: 0.8 });
  expect(evidence.others).toBeCloseTo(0.2);
  expect(evidence.margin).toBeCloseTo(0.3);
});

test("a clause that is nearer than the whole request counts by what it gains", () => {
  const field = { candidates: 1, best: 0.5, sum: 0.5, covered: 1 };
  const part = (nearest: number, nearestPart: number) => evidenceOf([standing({ nearest, nearestPart })], field).part;
  expect(part(0.4, 0.7)).toBeCloseTo(0.3);
  expect(part(0.4, 0.4)).toBe(0);
  expect(part(0.4, 0.2)).toBe(0);
});

test("how much is covered is kept as it is, also where it cannot be told", () => {
  const covered = (value: number | null) =>
    evidenceOf([standing({})], { candidates: 1, best: 0.5, sum: 0.5, covered: value }).covered;
  expect([covered(0.4), covered(null), covered(1.0001)]).toEqual([0.4, null, 1]);
});

test("a single candidate has no others, and its margin is its whole score", () => {
  const evidence = evidenceOf([standing({ score: 0.6, plain: 0.6 })], {
    candidates: 1,
    best: 0.6,
    sum: 0.6,
    covered: 1,
  });
  expect(evidence).toMatchObject({ others: 0, margin: 0.6 });
});

test("how near the fine stage finds the first is told, and not whether it looked at others", () => {
  const field = { candidates: 2, best: 0.5, sum: 0.9, covered: 1 };
  const fine = (first: number | null, second: number | null) =>
    evidenceOf([standing({ fine: first }), standing({ fine: second })], field).fine;
  expect([fine(0.8, 0.9), fine(0.8, null), fine(null, 0.9), fine(Number.NaN, null)]).toEqual([0.8, 0.8, null, 0]);
});

test("an empty ranking is evidence of nothing", () => {
  const nothing = { candidates: 0, best: 0, others: 0, covered: 0.5, part: 0, margin: 0, fine: null };
  expect(evidenceOf([], { candidates: 0, best: 0, sum: 0, covered: 0.5 })).toEqual(nothing);
  expect(evidenceOf([], { candidates: 3, best: 0.4, sum: 0.9, covered: 0.5 })).toEqual(nothing);
});

test("what is not a number counts as 0, since one bad vector must not decide", () => {
  const top = [standing({ score: Number.NaN, nearestPart: Number.POSITIVE_INFINITY }), standing({ score: 0.2 })];
  const evidence = evidenceOf(top, { candidates: 2, best: Number.NaN, sum: Number.NaN, covered: Number.NaN });
  expect(evidence).toEqual({ candidates: 2, best: 0, others: 0, covered: 0, part: 0, margin: 0, fine: null });
});
