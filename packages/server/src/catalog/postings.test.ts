import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Postings } from "./postings.js";

/** Documents as they are given: feature → weight. Keys from a narrow range too, so that lists become long. */
const documents = fc.array(
  fc.array(
    fc.tuple(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer()), fc.double({ min: 0.01, max: 7, noNaN: true })),
    {
      maxLength: 20,
    },
  ),
  { maxLength: 200 },
);

describe("an inverted index", () => {
  test("knows which documents have a feature, and how much of it, to a part in a hundred of the largest", () => {
    fc.assert(
      fc.property(documents, (given) => {
        const all = given.map((features) => new Map(features));
        const postings = new Postings();
        for (const [i, features] of all.entries()) postings.add(i, features);
        for (const key of new Set(all.flatMap((features) => [...features.keys()]))) {
          const sums = new Float32Array(all.length);
          postings.addTo(sums, key, 2);
          for (const [i, features] of all.entries()) expect(sums[i]! / 2).toBeCloseTo(features.get(key) ?? 0, 1);
          expect(postings.count(key)).toBe(all.filter((features) => features.has(key)).length);
        }
      }),
    );
  });

  test("adds up squares over all features, though documents come in the middle of it", () => {
    fc.assert(
      fc.property(documents, documents, fc.integer({ min: 1, max: 50 }), (before, meanwhile, pauseAfter) => {
        const postings = new Postings();
        for (const [i, features] of before.entries()) postings.add(i, new Map(features));
        const sums = new Float32Array(before.length);
        let next = before.length;
        for (const _ of postings.addSquares(sums, () => 1, pauseAfter))
          if (meanwhile.length > next - before.length) postings.add(next, new Map(meanwhile[next++ - before.length]!));
        for (const [i, features] of before.entries()) {
          const squares = [...new Map(features).values()].reduce((sum, weight) => sum + weight * weight, 0);
          expect(Math.abs(sums[i]! - squares)).toBeLessThan(0.05 + squares * 0.05);
        }
      }),
    );
  });

  test("of a feature that nobody has, nothing is added", () => {
    const sums = new Float32Array(3);
    const postings = new Postings();
    postings.add(0, new Map([[7, 1]]));
    postings.addTo(sums, 8, 1);
    expect([...sums]).toEqual([0, 0, 0]);
    expect(postings.count(8)).toBe(0);
  });
});
