import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MEASURED_FROM, Measured, Starts } from "./load.js";

describe("what was measured", () => {
  test("the median is that of the last 32 successes", () => {
    const measured = new Measured();
    expect(measured.p50Ms()).toBeUndefined();
    for (let i = 0; i < 100; i++) measured.success(10_000, 1_000);
    for (let i = 0; i < 32; i++) measured.success(20, 1_000);
    expect(measured.p50Ms()).toBe(20);
  });

  test("it is never far from the true median, however it is asked", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 80 }), (latencies) => {
        const measured = new Measured();
        for (const ms of latencies) {
          measured.success(ms, 1_000);
          const p50 = measured.p50Ms()!;
          expect(p50).toBeGreaterThanOrEqual(Math.min(...latencies));
          expect(p50).toBeLessThanOrEqual(Math.max(...latencies));
        }
        // It is counted anew at least every eight answers.
        for (let i = 0; i < 8; i++) measured.success(latencies.at(-1)!, 1_000);
        const last = [...latencies, ...Array(8).fill(latencies.at(-1)!)].slice(-32).sort((a, b) => a - b);
        expect(measured.p50Ms()).toBe(last[last.length >> 1]);
      }),
    );
  });

  test("the share of successes is not told before enough outcomes are known", () => {
    const measured = new Measured();
    for (let i = 0; i < MEASURED_FROM - 1; i++) measured.success(1, 5_000);
    expect(measured.successRate(5_000)).toBeUndefined();
    measured.failure(5_000);
    expect(measured.successRate(5_000)).toBeCloseTo(1 - 1 / MEASURED_FROM);
  });

  test("old outcomes count half after 30 s, so that recent ones decide", () => {
    const measured = new Measured();
    for (let i = 0; i < 100; i++) measured.failure(5_000);
    for (let i = 0; i < 100; i++) measured.success(1, 35_000);
    expect(measured.successRate(35_000)).toBeCloseTo(100 / 150);
    expect(measured.successRate(95_000)).toBeCloseTo(100 / 150);
    expect(measured.successRate(305_000)).toBeUndefined();
  });
});

describe("attempts begun lately", () => {
  test("all of the last 5 s count, and none that is older than 10 s", () => {
    const step = fc.record({ after: fc.nat(4_000), starts: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const starts = new Starts();
        const at: number[] = [];
        let now = 0;
        for (const { after, starts: n } of steps) {
          now += after;
          for (let i = 0; i < n; i++) {
            starts.add(now);
            at.push(now);
          }
          const count = starts.count(now);
          expect(count).toBeGreaterThanOrEqual(at.filter((t) => t > now - 5_000).length);
          expect(count).toBeLessThanOrEqual(at.filter((t) => t > now - 10_000).length);
        }
      }),
    );
  });
});
