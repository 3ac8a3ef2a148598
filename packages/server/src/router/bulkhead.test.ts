import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Bulkhead, Gate, nextLimit, type Share } from "./bulkhead.js";
import { WINDOW_MS } from "./latency.js";

const settings = { inFlightCallsMax: 256, inFlightCallsMin: 20 };

/** A capability and its callers. Time is what the test says. */
class Traffic {
  now = 1_000;
  readonly gate: Gate;

  constructor(given = settings) {
    this.gate = new Gate("query", given, this.now);
  }

  /** The calls of one caller that found a place, each on its way from now on. */
  send(count: number, caller = "shop"): { share: Share; sentAt: number }[] {
    const share = this.gate.of(caller);
    const sent: { share: Share; sentAt: number }[] = [];
    while (sent.length < count && share.enter(this.now)) {
      share.sent(this.now);
      sent.push({ share, sentAt: this.now });
    }
    return sent;
  }

  end(calls: readonly { share: Share; sentAt: number }[], answered = true): void {
    for (const { share, sentAt } of calls) {
      share.over(sentAt, this.now, answered);
      share.leave(this.now);
    }
  }

  /** A second of calls that take 10 ms each. */
  usual(seconds = 1, caller = "shop"): void {
    for (let i = 0; i < seconds * 100; i++) {
      const calls = this.send(5, caller);
      this.now += 10;
      this.end(calls);
    }
  }

  get limit(): number {
    this.gate.roll(this.now);
    return this.gate.limit;
  }
}

describe("RES-3: a caller's share of a capability", () => {
  test("is 256 calls in flight and not one more", () => {
    const traffic = new Traffic();
    const calls = traffic.send(300);
    expect(calls).toHaveLength(256);
    traffic.end(calls.slice(0, 2));
    expect(traffic.send(10)).toHaveLength(2);
  });

  test("is each caller's own", () => {
    const traffic = new Traffic();
    traffic.send(300, "greedy");
    expect(traffic.send(300, "modest")).toHaveLength(256);
  });

  test("shrinks to twenty within four seconds while the capability hangs", () => {
    const traffic = new Traffic();
    traffic.usual(5);
    traffic.send(300);
    const limits: number[] = [];
    for (let i = 0; i < 8; i++) {
      traffic.now += WINDOW_MS;
      limits.push(traffic.limit);
    }
    expect(limits).toEqual([256, 128, 64, 32, 20, 20, 20, 20]);
    expect(traffic.send(1)).toHaveLength(0);
  });

  test("is back within five seconds after the capability answers again, with traffic or without", () => {
    for (const busy of [true, false]) {
      const traffic = new Traffic();
      traffic.usual(5);
      const stuck = traffic.send(300);
      for (let i = 0; i < 60; i++) {
        traffic.now += WINDOW_MS;
        traffic.gate.roll(traffic.now);
      }
      expect(traffic.limit).toBe(20);
      traffic.end(stuck);
      const answersAgainAt = traffic.now;
      for (let i = 0; i < 10 && traffic.limit < 256; i++) {
        if (busy) traffic.usual(0.5);
        else traffic.now += WINDOW_MS;
      }
      expect([busy, traffic.limit]).toEqual([busy, 256]);
      expect(traffic.now - answersAgainAt).toBeLessThan(5_000);
    }
  });

  test("stays what it is when one caller is slow to be answered and hardly anybody else calls", () => {
    const traffic = new Traffic();
    traffic.usual(5);
    traffic.send(5);
    traffic.now += 20_000;
    expect(traffic.limit).toBe(256);
  });

  test("is fixed when both bounds are the same, and when the lower is above the upper", () => {
    for (const given of [
      { inFlightCallsMax: 40, inFlightCallsMin: 40 },
      { inFlightCallsMax: 8, inFlightCallsMin: 20 },
    ]) {
      const traffic = new Traffic(given);
      traffic.usual(5);
      expect(traffic.send(300)).toHaveLength(given.inFlightCallsMax);
      traffic.now += 30_000;
      expect(traffic.limit).toBe(given.inFlightCallsMax);
    }
  });

  test("of whoever has too much in flight is when enough of it will have ended", () => {
    const traffic = new Traffic();
    traffic.usual(2);
    const calls = traffic.send(256);
    for (const call of calls.slice(0, 100)) {
      traffic.now += 4;
      traffic.end([call]);
    }
    traffic.send(100);
    const share = traffic.gate.of("shop");
    expect(share.retryAfterMs(traffic.now)).toBe(10);
    traffic.now += 800;
    expect(share.retryAfterMs(traffic.now)).toBe(800);
  });
});

describe("RES-3: the limit", () => {
  test("halves when it is slow, goes up by a step when it is fine, and keeps to its bounds", () => {
    expect([256, 128, 30, 20].map((limit) => nextLimit(limit, "slow", settings))).toEqual([128, 64, 20, 20]);
    expect([20, 60, 250, 256].map((limit) => nextLimit(limit, "fine", settings))).toEqual([60, 100, 256, 256]);
    expect(nextLimit(77, "unclear", settings)).toBe(77);
  });

  test("never leaves its bounds, whatever happens", () => {
    const bounds = fc.record({
      inFlightCallsMax: fc.integer({ min: 1, max: 1_000 }),
      inFlightCallsMin: fc.integer({ min: 1, max: 1_000 }),
    });
    const tempi = fc.array(fc.constantFrom("slow", "fine", "unclear" as const), { maxLength: 50 });
    fc.assert(
      fc.property(bounds, tempi, (given, sequence) => {
        let limit = given.inFlightCallsMax;
        for (const tempo of sequence) {
          limit = nextLimit(limit, tempo, given);
          expect(limit).toBeLessThanOrEqual(given.inFlightCallsMax);
          expect(limit).toBeGreaterThanOrEqual(Math.min(given.inFlightCallsMin, given.inFlightCallsMax));
        }
      }),
    );
  });
});

describe("RES-3: memory", () => {
  test("callers who have nothing in flight are forgotten, and those who have are not", () => {
    const traffic = new Traffic();
    const [busy] = traffic.send(1, "busy");
    for (let n = 0; n < 10_000; n++) traffic.end(traffic.send(1, `caller-${n}`));
    expect(traffic.gate.callers).toBeLessThanOrEqual(128);
    expect(traffic.gate.of("busy")).toBe(busy!.share);
    expect(busy!.share.inFlight).toBe(1);
  });

  test("so are capabilities that nobody calls any more", () => {
    const bulkhead = new Bulkhead(settings);
    const kept = bulkhead.gate("in use", 0);
    kept.of("shop").enter(0);
    for (let n = 0; n < 10_000; n++) bulkhead.gate(`capability-${n}`, n);
    expect(bulkhead.size).toBeLessThanOrEqual(128);
    expect(bulkhead.gate("in use", 10_000)).toBe(kept);
  });
});
