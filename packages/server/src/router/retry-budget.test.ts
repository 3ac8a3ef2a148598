import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RetryBudget } from "./retry-budget.js";

const takeAll = (budget: RetryBudget, now: number): number => {
  let taken = 0;
  while (budget.take(now)) taken++;
  return taken;
};

describe("RES-2: the retry budget", () => {
  test("has a floor of ten a second over ten seconds, also where nobody calls", () => {
    expect(takeAll(new RetryBudget(), 5_000)).toBe(100);
  });

  test("grows by a tenth of the calls", () => {
    const budget = new RetryBudget();
    for (let i = 0; i < 5_000; i++) budget.add(1_000 + i);
    expect(takeAll(budget, 6_000)).toBe(600);
  });

  test("comes back as the retries, and goes as the calls, become older than ten seconds", () => {
    const budget = new RetryBudget();
    for (let i = 0; i < 1_000; i++) budget.add(1_500);
    expect(takeAll(budget, 1_500)).toBe(200);
    expect(budget.take(10_900)).toBe(false);
    expect(takeAll(budget, 11_000)).toBe(100);
  });

  test("is whole again after an age in which nothing happened", () => {
    const budget = new RetryBudget();
    takeAll(budget, 1_000);
    expect(takeAll(budget, 1_000_000_000)).toBe(100);
  });

  test("gets back what was not used", () => {
    const budget = new RetryBudget();
    takeAll(budget, 1_000);
    budget.giveBack(1_000);
    expect(takeAll(budget, 1_000)).toBe(1);
    // Of another second, whose retries are none of this one's: nothing.
    budget.giveBack(2_000);
    expect(budget.take(2_000)).toBe(false);
  });

  test("never grants more in any ten seconds than a tenth of their calls and the floor", () => {
    const step = fc.record({ afterMs: fc.nat(2_500), calls: fc.nat(300), retries: fc.nat(300) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new RetryBudget();
        const seen: { second: number; calls: number; retries: number }[] = [];
        let now = 0;
        for (const { afterMs, calls, retries } of steps) {
          now += afterMs;
          for (let i = 0; i < calls; i++) budget.add(now);
          let granted = 0;
          for (let i = 0; i < retries; i++) if (budget.take(now)) granted++;
          const second = Math.floor(now / 1000);
          seen.push({ second, calls, retries: granted });
          const window = seen.filter((each) => each.second > second - 10);
          const sum = (of: "calls" | "retries") => window.reduce((total, each) => total + each[of], 0);
          if (granted > 0) expect(sum("retries")).toBeLessThanOrEqual(0.1 * sum("calls") + 100);
          if (granted < retries) expect(sum("retries") + 1).toBeGreaterThan(0.1 * sum("calls") + 100);
        }
      }),
    );
  });
});
