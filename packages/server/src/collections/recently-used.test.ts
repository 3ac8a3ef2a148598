import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RecentlyUsed } from "./recently-used.js";

describe("what was used recently", () => {
  test("is kept up to its number, and what was not used for the longest goes first", () => {
    const kept = new RecentlyUsed<number>(2);
    kept.set("a", 1);
    kept.set("b", 2);
    expect(kept.get("a")).toBe(1);
    kept.set("c", 3);
    expect([kept.get("a"), kept.get("b"), kept.get("c"), kept.size]).toEqual([1, undefined, 3, 2]);
    kept.set("a", 4);
    kept.set("d", 5);
    expect([kept.get("a"), kept.get("c"), kept.get("d")]).toEqual([4, undefined, 5]);
  });

  test("is nothing where nothing may be kept", () => {
    const kept = new RecentlyUsed<number>(0);
    kept.set("a", 1);
    expect([kept.get("a"), kept.size]).toEqual([undefined, 0]);
  });

  test("is what a list says that is searched from its end", () => {
    const step = fc.record({ key: fc.constantFrom("a", "b", "c", "d", "e"), value: fc.nat(), sets: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, max) => {
        const kept = new RecentlyUsed<number>(max);
        let list: [string, number][] = [];
        for (const { key, value, sets } of steps) {
          const known = list.find(([other]) => other === key);
          if (!sets) expect(kept.get(key)).toBe(known?.[1]);
          const next: [string, number] | undefined = sets ? [key, value] : known;
          if (sets) kept.set(key, value);
          if (next !== undefined) list = [...list.filter(([other]) => other !== key), next].slice(-max);
          expect(kept.size).toBe(list.length);
        }
      }),
    );
  });
});
