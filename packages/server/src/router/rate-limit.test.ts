import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RateLimits, TokenBuckets } from "./rate-limit.js";

const none = { messagesPerSecPerCaller: 0, messagesPerSecPerCapability: 0, messagesPerSecPerTenant: 0 };
const from = (caller: string, capability = "query", tenant = "default") => ({ caller, capability, tenant });

/** How many of the messages that come at these moments pass. */
function passing(perSec: number, moments: readonly number[]): number {
  const limits = new RateLimits({ ...none, messagesPerSecPerCaller: perSec });
  return moments.filter((now) => limits.take(from("shop"), now) === undefined).length;
}

describe("RES-4: messages a second", () => {
  test("are unlimited unless somebody says otherwise", () => {
    const limits = new RateLimits(none);
    expect(limits.any).toBe(false);
    for (let n = 0; n < 1_000; n++) expect(limits.take(from("shop"), 0)).toBeUndefined();
  });

  test("a second's worth may come at once, then one by one", () => {
    expect(passing(50, new Array<number>(80).fill(1_000))).toBe(50);
    expect(passing(50, [...new Array<number>(50).fill(1_000), 1_019, 1_020, 1_021, 1_040])).toBe(52);
  });

  test("less than one a second is one every so often", () => {
    expect(passing(0.5, [0, 1_000, 1_999, 2_000, 3_999, 4_000])).toBe(3);
  });

  test("retryAfterMs is true: then it passes, and not a millisecond sooner", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        fc.array(fc.nat(300), { minLength: 1, maxLength: 60 }),
        (perSec, gaps) => {
          const buckets = new TokenBuckets(perSec);
          let now = 5_000;
          for (const gap of gaps) {
            now += gap;
            for (let burst = 0; burst < perSec / 3; burst++)
              if (buckets.waitMs("shop", now) === 0) buckets.take("shop", now);
            const waitMs = buckets.waitMs("shop", now);
            if (waitMs === 0) continue;
            expect(buckets.waitMs("shop", now + waitMs)).toBe(0);
            expect(buckets.waitMs("shop", now + waitMs - 1)).toBeGreaterThan(0);
          }
        },
      ),
    );
  });

  test("over any time no more pass than the rate, and a second's worth", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(fc.nat(50), { maxLength: 300 }), (perSec, gaps) => {
        let now = 0;
        const moments = gaps.map((gap) => (now += gap));
        expect(passing(perSec, moments)).toBeLessThanOrEqual(perSec + Math.floor((now / 1_000) * perSec) + 1);
      }),
    );
  });

  test("are counted for each caller, each capability and each tenant by itself", () => {
    const perCaller = new RateLimits({ ...none, messagesPerSecPerCaller: 1 });
    expect(perCaller.take(from("a"), 0)).toBeUndefined();
    expect(perCaller.take(from("a", "other"), 0)).toMatchObject({ scope: "caller", perSec: 1, waitMs: 1_000 });
    expect(perCaller.take(from("b"), 0)).toBeUndefined();

    const perCapability = new RateLimits({ ...none, messagesPerSecPerCapability: 1 });
    expect(perCapability.take(from("a"), 0)).toBeUndefined();
    expect(perCapability.take(from("b"), 0)).toMatchObject({ scope: "capability" });
    expect(perCapability.take(from("b", "other"), 0)).toBeUndefined();

    const perTenant = new RateLimits({ ...none, messagesPerSecPerTenant: 1 });
    expect(perTenant.take(from("a"), 0)).toBeUndefined();
    expect(perTenant.take(from("b", "other"), 0)).toMatchObject({ scope: "tenant" });
    expect(perTenant.take(from("b", "other", "elsewhere"), 0)).toBeUndefined();
  });

  test("what one limit refuses does not count against the others, and the longest wait is told", () => {
    const limits = new RateLimits({
      messagesPerSecPerCaller: 10,
      messagesPerSecPerCapability: 2,
      messagesPerSecPerTenant: 0,
    });
    for (let n = 0; n < 2; n++) limits.take(from("a"), 0);
    for (let n = 0; n < 50; n++) expect(limits.take(from("a"), 0)).toMatchObject({ scope: "capability", waitMs: 500 });
    for (let n = 0; n < 8; n++) expect(limits.take(from("a", `other-${n}`), 0)).toBeUndefined();
    expect(limits.take(from("a", "one more"), 0)).toMatchObject({ scope: "caller", waitMs: 100 });
    expect(limits.take(from("a"), 0)).toMatchObject({ scope: "capability", waitMs: 500 });
  });

  test("whoever has been quiet for long enough is forgotten", () => {
    const limits = new TokenBuckets(10);
    for (let n = 0; n < 20_000; n++) {
      limits.sweep(n);
      limits.take(`caller-${n}`, n);
    }
    expect(limits.size).toBeLessThanOrEqual(512);
  });
});
