import fc from "fast-check";
import { expect, test } from "vitest";
import { CosineIndex } from "./cosine-index.js";
import { finished } from "./steps.js";

const features = fc.dictionary(fc.constantFrom("1", "2", "3", "4", "5"), fc.double({ min: 0.1, max: 5, noNaN: true }), {
  minKeys: 1,
});
const mapOf = (given: Record<string, number>) => new Map(Object.entries(given).map(([k, v]) => [Number(k), v]));
const cosinesOf = (index: CosineIndex, request: Map<number, number>, count: number): Float32Array => {
  const sums = new Float32Array(count).fill(7);
  finished(index.cosines(request, sums));
  return sums;
};
const settle = (index: CosineIndex) => [...index.refresh()];

test("a document is nearest to itself, and every cosine lies between 0 and 1", () => {
  fc.assert(
    fc.property(fc.array(features, { minLength: 1, maxLength: 30 }), (given) => {
      const index = new CosineIndex((df, count) => Math.log((count + 1) / (df + 1)) + 1);
      for (const each of given) index.add(mapOf(each));
      settle(index);
      for (const [i, each] of given.entries()) {
        const cosines = cosinesOf(index, mapOf(each), given.length);
        expect(cosines[i]).toBeGreaterThan(0.97);
        for (const cosine of cosines) {
          expect(cosine).toBeGreaterThanOrEqual(0);
          expect(cosine).toBeLessThan(1.03);
        }
      }
    }),
  );
});

test("what few have is worth more than what all have, once lengths have been set right", () => {
  const index = new CosineIndex((df, count) => Math.log((count + 1) / (df + 1)) + 1);
  const [common, rare] = [1, 2];
  index.add(
    new Map([
      [common, 1],
      [rare, 1],
    ]),
  );
  for (let n = 0; n < 50; n++)
    index.add(
      new Map([
        [common, 1],
        [100 + n, 1],
      ]),
    );
  expect(index.isStale).toBe(true);
  settle(index);
  expect(index.isStale).toBe(false);
  const [byRare, byCommon] = [rare, common].map((feature) => cosinesOf(index, new Map([[feature, 1]]), 51)[0]!);
  expect(byRare!).toBeGreaterThan(2 * byCommon!);
});

test("a request without features is near to nothing", () => {
  const index = new CosineIndex(() => 1);
  index.add(new Map([[1, 1]]));
  expect(cosinesOf(index, new Map(), 1)[0]).toBe(0);
});

test("what is worth nothing is not looked at, and a document that came after the question began is not in the answer", () => {
  const index = new CosineIndex((df) => (df > 1 ? 0 : 1));
  const [common, rare] = [1, 2];
  index.add(new Map([[common, 1]]));
  index.add(
    new Map([
      [common, 1],
      [rare, 1],
    ]),
  );
  settle(index);
  const request = new Map([
    [common, 5],
    [rare, 1],
  ]);
  expect([...cosinesOf(index, request, 2)]).toEqual([0, 1]);
  const sums = new Float32Array(1);
  finished(index.cosines(request, sums, 1));
  expect([...sums]).toEqual([0]);
});
