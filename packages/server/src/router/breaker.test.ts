import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BreakerRecord, OUTCOMES_KEPT, WINDOW_MS } from "../registry/breaker-record.js";
import {
  admits,
  COOL_DOWN_MAX_MS,
  COOL_DOWN_MIN_MS,
  coolDownOver,
  failed,
  over,
  PROBE_MS,
  renew,
  sent,
  succeeded,
} from "./breaker.js";

/** A breaker with its own clock; attempts begin and end at the same moment unless said otherwise. */
class Bench {
  readonly breaker = new BreakerRecord();
  now = 1_000_000;

  ok(times = 1): void {
    for (let i = 0; i < times; i++) succeeded(this.breaker, this.now++, this.now);
  }
  fail(times = 1): void {
    for (let i = 0; i < times; i++) failed(this.breaker, this.now++, "TIMEOUT", this.now);
  }
  get state() {
    return this.breaker.state;
  }
  /** Until the cool-down is over; answers how long that was. */
  wait(): number {
    const waitedMs = Math.round(this.breaker.probeAt - this.now);
    this.now = this.breaker.probeAt;
    expect(coolDownOver(this.breaker, this.now)).toBe("cool_down_over");
    return waitedMs;
  }
  /** One probe that takes `ms` and fails. */
  failProbe(ms: number): void {
    const sentAt = ++this.now;
    expect(sent(this.breaker, sentAt)).toBe(true);
    this.now += ms;
    expect(failed(this.breaker, sentAt, "TIMEOUT", this.now)).toBe("probe_failed");
  }
}
const broken = (): Bench => {
  const bench = new Bench();
  bench.fail(10);
  expect(bench.state).toBe("open");
  return bench;
};

describe("RES-1: a breaker opens", () => {
  test("upon the tenth failure of an instance that never succeeded, and not before", () => {
    const bench = new Bench();
    bench.fail(9);
    expect(bench.state).toBe("closed");
    bench.fail();
    expect(bench.state).toBe("open");
    expect(bench.breaker.describe(bench.now)).toMatchObject({ failures: 10, outcomes: 10, lastFailure: "TIMEOUT" });
  });

  test("when over half of the outcomes failed; with half of them it stays closed", () => {
    const bench = new Bench();
    for (let i = 0; i < 50; i++) {
      bench.ok();
      bench.fail();
    }
    expect(bench.state).toBe("closed");
    bench.fail();
    expect(bench.state).toBe("open");
  });

  test("after one round of time-outs of a default agent (10 at once), however many successes there were before", () => {
    const bench = new Bench();
    bench.ok(100_000);
    bench.fail(10);
    expect(bench.state).toBe("open");
  });

  test("not upon failures that lie further apart than its window", () => {
    const bench = new Bench();
    for (let i = 0; i < 100; i++) {
      bench.fail();
      bench.now += WINDOW_MS / 8;
    }
    expect(bench.state).toBe("closed");
  });
});

describe("RES-1: the cool-down", () => {
  test("lets nothing through until it is over, then one message", () => {
    const bench = broken();
    const { breaker } = bench;
    expect(admits(breaker, bench.now)).toBe(false);
    expect(coolDownOver(breaker, breaker.probeAt - 1)).toBeUndefined();
    expect(bench.wait()).toBe(COOL_DOWN_MIN_MS);
    expect(admits(breaker, bench.now)).toBe(true);
    expect(sent(breaker, bench.now)).toBe(true);
    expect(admits(breaker, bench.now)).toBe(false);
  });

  test("is never longer than an eighth of the outage, so that 30 s of it are noticed to be over within 5 s", () => {
    const bench = broken();
    const brokenAt = bench.now;
    let longestMs = 0;
    while (bench.now - brokenAt < 30_000) {
      longestMs = Math.max(longestMs, bench.wait());
      bench.failProbe(1_000);
    }
    expect(longestMs).toBeLessThan(5_000);
    expect(bench.wait()).toBeLessThan(5_000);
  });

  test("grows with the outage up to a minute", () => {
    const bench = broken();
    const waits: number[] = [];
    for (let i = 0; i < 60; i++) {
      waits.push(bench.wait());
      bench.failProbe(5_000);
    }
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(waits[0]).toBe(COOL_DOWN_MIN_MS);
    expect(waits.at(-1)).toBe(COOL_DOWN_MAX_MS);
  });

  test("does not begin anew for one that failed again right after it closed", () => {
    const bench = broken();
    for (let i = 0; i < 20; i++) {
      bench.wait();
      bench.failProbe(5_000);
    }
    const before = bench.wait();
    bench.now++;
    bench.ok();
    expect(bench.state).toBe("closed");
    bench.fail(10);
    expect(bench.wait()).toBeGreaterThanOrEqual(before);
    bench.now++;
    bench.ok();
    bench.now += WINDOW_MS + 1;
    bench.fail(10);
    expect(bench.wait()).toBe(COOL_DOWN_MIN_MS);
  });
});

describe("B1–B4: a probe", () => {
  test("that succeeds closes it, and all is counted anew", () => {
    const bench = broken();
    bench.wait();
    sent(bench.breaker, ++bench.now);
    expect(succeeded(bench.breaker, bench.now, bench.now + 5)).toBe("probe_succeeded");
    expect(admits(bench.breaker, bench.now)).toBe(true);
    bench.now += 10;
    bench.fail(9);
    expect(bench.state).toBe("closed");
  });

  test("that says nothing (canceled, refused for want of room) makes place for the next", () => {
    const bench = broken();
    bench.wait();
    sent(bench.breaker, ++bench.now);
    over(bench.breaker, bench.now);
    expect(bench.state).toBe("half_open");
    expect(admits(bench.breaker, bench.now)).toBe(true);
  });

  test("B4: that is never heard of again keeps others back for half a minute and no longer", () => {
    const bench = broken();
    bench.wait();
    sent(bench.breaker, ++bench.now);
    expect(admits(bench.breaker, bench.now + PROBE_MS - 1)).toBe(false);
    expect(admits(bench.breaker, bench.now + PROBE_MS)).toBe(true);
  });

  test("B3: what was sent before it opened changes nothing, whether it fails or succeeds", () => {
    const bench = new Bench();
    const early = bench.now++;
    bench.fail(10);
    const stands = () => structuredClone({ ...bench.breaker });
    for (const state of ["open", "half_open", "closed"] as const) {
      if (state === "half_open") bench.wait();
      if (state === "closed") succeeded(bench.breaker, ++bench.now, bench.now);
      expect(bench.state).toBe(state);
      const before = stands();
      bench.now++;
      expect(succeeded(bench.breaker, early, bench.now)).toBeUndefined();
      expect(failed(bench.breaker, early, "LOST", bench.now)).toBeUndefined();
      over(bench.breaker, early);
      expect(stands()).toEqual(before);
    }
  });

  test("a new epoch begins closed, and owes nothing to the outage before", () => {
    const bench = broken();
    const early = bench.now - 1;
    expect(renew(bench.breaker, ++bench.now)).toBe("new_epoch");
    expect(failed(bench.breaker, early, "LOST", bench.now)).toBeUndefined();
    bench.now += 10;
    bench.fail(9);
    expect(bench.state).toBe("closed");
    expect(renew(bench.breaker, ++bench.now)).toBeUndefined();
  });
});

test("B2: whatever happens, an open one admits nothing, a half-open one a single message, and each opening has its cause", () => {
  const word = fc.constantFrom("ok", "fail", "late", "send", "over", "pass");
  fc.assert(
    fc.property(fc.array(fc.tuple(word, fc.integer({ min: 1, max: 3_000 })), { maxLength: 200 }), (story) => {
      const breaker = new BreakerRecord();
      let now = 1_000;
      /** When each attempt that is out was sent. */
      const out: number[] = [];
      const recent: boolean[] = [];
      for (const [what, ms] of story) {
        now += ms;
        coolDownOver(breaker, now);
        const before = breaker.state;
        if (what === "send" || what === "pass") {
          if (!admits(breaker, now)) continue;
          expect(before).not.toBe("open");
          const probes = out.filter((at) => at >= breaker.countsFrom && at > now - PROBE_MS);
          if (before === "half_open") expect(probes).toEqual([]);
          sent(breaker, now);
          out.push(now);
          continue;
        }
        const sentAt = what === "late" ? out.pop() : out.shift();
        if (sentAt === undefined) continue;
        const counts = sentAt >= breaker.countsFrom;
        if (what === "over") over(breaker, sentAt);
        else if (what === "fail") failed(breaker, sentAt, "LOST", now);
        else succeeded(breaker, sentAt, now);
        if (before === "closed" && counts && what !== "over") recent.push(what !== "fail");
        if (before === "closed" && breaker.state === "open") {
          const window = recent.splice(0).slice(-OUTCOMES_KEPT);
          expect(window.at(-1)).toBe(false);
          expect(window.length).toBeGreaterThanOrEqual(10);
          expect(window.filter((well) => !well).length).toBeGreaterThan(breaker.volume / 2);
        }
        if (before !== "closed" && breaker.state === "closed") recent.length = 0;
      }
    }),
  );
});
