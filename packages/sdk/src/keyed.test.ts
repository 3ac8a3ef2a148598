import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Keyed } from "./keyed.js";

describe("keyed", () => {
  it("holds what a Map would, whatever comes and goes", () => {
    const step = fc.record({ kind: fc.constantFrom("set", "delete"), key: fc.constantFrom(..."abcdefgh") });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ours = new Keyed<number>();
        const model = new Map<string, number>();
        steps.forEach(({ kind, key }, number) => {
          if (kind === "set") {
            ours.set(key, number);
            model.set(key, number);
          } else {
            ours.delete(key);
            model.delete(key);
          }
          expect([...ours.keys()]).toEqual([...model.keys()]);
          expect([...ours.keys()].map((each) => ours.get(each))).toEqual([...model.values()]);
          expect(ours.values().sort()).toEqual([...model.values()].sort());
          expect([ours.size, ours.get("missing")]).toEqual([model.size, undefined]);
        });
      }),
    );
  });
});
