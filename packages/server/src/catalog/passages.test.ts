import { describe, expect, test } from "vitest";
import { type Embedded, Passages } from "./passages.js";

const DIMS = 8;
/** A direction of meaning, seen from where its language lies. */
const at = (axis: number, chinese = false, much = 0.3): Embedded => {
  const vector = new Float32Array(DIMS).fill(0.1);
  vector[chinese ? 6 : 7] = 0.8;
  vector[axis] = vector[axis]! + much;
  return { vector, chinese };
};
const middle = (chinese: boolean) => at(0, chinese, 0).vector;
const passages = () => new Passages({ other: middle(false), chinese: middle(true) });

describe("the vectors of cards", () => {
  test("are compared by what they mean, whatever the language", () => {
    const all = passages();
    all.put("cancel", [at(1), at(1)]);
    all.put("weather", [at(2, true), at(2, true)]);
    for (const chinese of [false, true]) {
      const { of } = all.nearness(at(1, chinese));
      expect(of("cancel")).toBeGreaterThan(0.8);
      expect(of("weather")).toBeLessThan(0.2);
    }
  });

  test("of a card that is asked by one of its own texts can be left out", () => {
    const all = passages();
    all.put("both", [at(1), at(2)]);
    const { of } = all.nearness(at(1));
    expect(of("both", new Set([1]))).toBeGreaterThan(0.9);
    expect(of("both", new Set([0]))).toBeLessThan(0.2);
    expect(of("both", new Set([0, 1]))).toBeUndefined();
    expect(all.nearnessOf("both", 0)!.of("both", new Set([1]))).toBeCloseTo(1, 2);
    expect(all.nearnessOf("both", 2)).toBeUndefined();
    expect(of("nobody")).toBeUndefined();
  });

  test("leave nothing behind when their card goes or says something else", () => {
    const all = passages();
    all.put("cancel", [at(1)]);
    const before = all.nearness(at(1)).of("cancel");
    all.put("other", [at(3), at(4, true)]);
    all.put("cancel", [at(5)]);
    all.remove("other");
    all.remove("other");
    all.put("cancel", [at(1)]);
    expect(all.size).toBe(1);
    expect(all.nearness(at(1)).of("cancel")).toBeCloseTo(before!, 5);
  });

  test("that say nothing are near to nothing", () => {
    const all = passages();
    all.put("blank", [{ vector: new Float32Array(DIMS), chinese: false }]);
    expect(all.nearness(at(1)).of("blank")).toBeLessThan(0.2);
    expect(all.nearness({ vector: middle(false), chinese: false }).of("blank")).toBeGreaterThanOrEqual(0);
  });
});
