import fc from "fast-check";
import { expect, test } from "vitest";
import { iso } from "./iso.js";

test("moments are written as Date writes them, whatever was written in between", () => {
  const ms = fc.integer({ min: 0, max: 4_102_444_800_000 });
  fc.assert(
    fc.property(fc.array(ms), (moments) => {
      for (const at of moments) {
        for (const near of [at, at + 1, at + 86_400_000, at + 17_000])
          expect(iso(near)).toBe(new Date(near).toISOString());
      }
    }),
  );
});
