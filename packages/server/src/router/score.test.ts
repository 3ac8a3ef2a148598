import type { CostTier } from "@agent-reach/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { vectors } from "../../../../test/kit/vectors.js";
import { nearTo, presets, score, shareOf, type Weights, weightsOf } from "./score.js";

interface Row {
  weights: Weights;
  p50Ms: number;
  successRate: number;
  costTier: CostTier;
  load: number;
  score: number;
}
const { cases, presets: published } = vectors<{ cases: Row[]; presets: Record<string, Weights> }>("score");
const share = fc.double({ min: 0, max: 1, noNaN: true });
const weight = fc.double({ min: 0, max: 10, noNaN: true });
const weights: fc.Arbitrary<Weights> = fc.record({ latency: weight, success: weight, cost: weight, load: weight });

describe("ROUTE-2: the score", () => {
  test("is that of the vectors, row by row", () => {
    expect(cases.length).toBeGreaterThan(20);
    for (const row of cases) {
      expect(score(row.weights, row.p50Ms, row.successRate, row.costTier, row.load), JSON.stringify(row)).toBeCloseTo(
        row.score,
        9,
      );
    }
  });

  test("knows the presets by their published weights", () => {
    expect(presets).toEqual(published);
    expect(presets["balanced"]).toEqual({ latency: 0.5, success: 0.3, cost: 0.1, load: 0.1 });
    expect([presets["realtime"]!.latency, presets["realtime"]!.cost, presets["batch"]!.cost]).toEqual([0.7, 0.05, 0.3]);
  });

  test("never rises with latency, cost or load, and never falls with success", () => {
    fc.assert(
      fc.property(
        weights,
        fc.double({ min: 0.1, max: 1e6, noNaN: true }),
        share,
        share,
        share,
        (w, p50, rate, load, by) => {
          const of = (p50Ms: number, successRate: number, cost: CostTier, atLoad: number) =>
            score(w, p50Ms, successRate, cost, atLoad);
          const here = of(p50, rate, "medium", load);
          expect(of(p50 * (1 + by), rate, "medium", load)).toBeLessThanOrEqual(here);
          expect(of(p50, rate, "high", load)).toBeLessThanOrEqual(here);
          expect(of(p50, rate, "low", load)).toBeGreaterThanOrEqual(here);
          expect(of(p50, rate, "medium", Math.min(1, load + by))).toBeLessThanOrEqual(here);
          expect(of(p50, Math.min(1, rate + by), "medium", load)).toBeGreaterThanOrEqual(here);
        },
      ),
    );
  });

  test("makes no difference below 500 ms", () => {
    const at = (p50Ms: number) => score(presets["balanced"]!, p50Ms, 1, "low", 0);
    expect(at(1)).toBe(at(500));
    expect(at(501)).toBeLessThan(at(500));
  });
});

describe("ROUTE-2: chance among near-equals", () => {
  test("goes by the weight, by the room that is left, and by how near it is to the best", () => {
    const base = shareOf(100, 1, 0.8, 0.8);
    expect(shareOf(300, 1, 0.8, 0.8)).toBeCloseTo(3 * base, 9);
    expect(shareOf(100, 0.5, 0.8, 0.8) / base).toBeCloseTo(0.5, 1);
    expect(shareOf(100, 1, 0.76, 0.8) / base).toBeCloseTo(0.5, 1);
    expect(shareOf(0, 1, 0.8, 0.8)).toBe(0);
  });

  test("falls evenly to next to nothing where nearness ends, so that no hair's breadth decides", () => {
    fc.assert(
      fc.property(fc.double({ min: -5, max: 5, noNaN: true }), share, share, share, (best, room, a, b) => {
        const at = (nearness: number) => nearTo(best) + nearness * (best - nearTo(best));
        const [less, more] = [Math.min(a, b), Math.max(a, b)];
        expect(shareOf(100, room, at(less), best)).toBeLessThanOrEqual(shareOf(100, room, at(more), best) + 1e-9);
        expect(shareOf(100, room, nearTo(best), best)).toBeGreaterThan(0);
        expect(shareOf(100, -room, best, best)).toBeGreaterThan(0);
      }),
    );
  });
});

describe("weights of a request", () => {
  const own = presets["balanced"]!;
  test("a preset by its name, some numbers over the node's own, or nothing", () => {
    expect(weightsOf("realtime", own)).toBe(presets["realtime"]);
    expect(weightsOf({ cost: 2 }, own)).toEqual({ ...own, cost: 2 });
    expect(weightsOf(undefined, own)).toBe(own);
    expect(weightsOf(null, own)).toBe(own);
    expect(weightsOf("no such preset", own)).toBe(own);
    expect(weightsOf("constructor", own)).toBe(own);
  });
});
