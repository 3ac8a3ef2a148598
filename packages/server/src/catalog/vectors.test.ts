import fc from "fast-check";
import { expect, test } from "vitest";
import { Vectors } from "./vectors.js";

const DIMS = 37;
const unit = (numbers: readonly number[]): Float32Array => {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (x) => (length > 0 ? x / length : 0));
};
/** The same ones every time (a linear congruential generator). */
function* random(): Generator<number> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    yield state / 2 ** 31;
  }
}
const draw = random();
const anyVector = (): Float32Array => unit(Array.from({ length: DIMS }, () => draw.next().value as number));

test("cosines are those of the vectors, below zero counts as zero", () => {
  const numbers = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: DIMS, maxLength: DIMS });
  fc.assert(
    fc.property(fc.array(numbers, { minLength: 1, maxLength: 100 }), numbers, (given, asked) => {
      const vectors = new Vectors(DIMS);
      for (const each of given) vectors.add(unit(each));
      const request = unit(asked);
      const cosines = new Float32Array(given.length);
      expect(vectors.cosines(request, cosines)).toBe(false);
      for (const [i, each] of given.entries()) {
        const exact = unit(each).reduce((sum, x, k) => sum + x * request[k]!, 0);
        expect(cosines[i]).toBeCloseTo(Math.max(0, exact), 5);
      }
    }),
  );
});

test("of many, estimates lead to the nearest: it is among the hundred best of ten thousand, and compared in full then", () => {
  const vectors = new Vectors(DIMS);
  for (let n = 0; n < 10_000; n++) vectors.add(anyVector());
  const cosines = new Float32Array(10_020);
  for (let n = 0; n < 20; n++) {
    const target = anyVector();
    vectors.add(target);
    const at = 10_000 + n;
    const request = unit(Array.from(target, (x) => x + 0.08 * (draw.next().value as number)));
    expect(vectors.cosines(request, cosines)).toBe(true);
    const better = cosines.slice(0, at).filter((cosine) => cosine > cosines[at]!).length;
    expect(better).toBeLessThan(100);
    expect(vectors.cosine(at, request)).toBeGreaterThan(0.8);
  }
  vectors.cosines(new Float32Array(DIMS), cosines);
  expect(cosines.every((cosine) => cosine === 0)).toBe(true);
});
