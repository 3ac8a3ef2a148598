import fc from "fast-check";
import { expect, test } from "vitest";
import { retryAt } from "./retry.js";

const backoffMs = [1_000, 3_000, 9_000];

test("DLV-4: the waits are 1, 3 and 9 s, each with up to a fifth more or less, and then there is none", () => {
  fc.assert(
    fc.property(fc.nat(5), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, random) => {
      const at = retryAt(failures, backoffMs, 50_000, random);
      if (failures >= 3) {
        expect(at).toBeUndefined();
        return;
      }
      const wait = at! - 50_000;
      expect(wait).toBeGreaterThanOrEqual(backoffMs[failures]! * 0.8);
      expect(wait).toBeLessThanOrEqual(backoffMs[failures]! * 1.2);
      expect(Number.isInteger(at)).toBe(true);
    }),
  );
});

test("chance alone moves the moment, so that what failed together comes back apart", () => {
  expect(retryAt(0, backoffMs, 0, 0)).toBe(800);
  expect(retryAt(0, backoffMs, 0, 0.5)).toBe(1_000);
  expect(retryAt(2, backoffMs, 0, 0.75)).toBe(9_900);
  expect(retryAt(0, [], 0, 0.5)).toBeUndefined();
});
