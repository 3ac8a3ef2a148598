import { describe, expect, test } from "vitest";
import { Latency, type Tempo, WINDOW_MS } from "./latency.js";

/** A capability under a steady load, window by window. */
class Load {
  readonly latency = new Latency();
  window = 100;

  get now(): number {
    return this.window * WINDOW_MS;
  }

  /** One window in which these calls end, having taken so long; some of them without an answer. */
  pass(tookMs: readonly number[], answered = true): Tempo {
    for (const took of tookMs) {
      const sentAt = this.now - took;
      this.latency.sent(Math.floor(sentAt / WINDOW_MS));
      this.latency.over(sentAt, this.now, answered, this.window);
    }
    this.window++;
    return this.latency.close(this.window);
  }

  /** As many windows of a hundred calls like this. */
  usual(ms: number, windows: number): void {
    for (let i = 0; i < windows; i++) this.pass(many(100, ms));
  }
}

const many = (count: number, ms: number): number[] => new Array<number>(count).fill(ms);

describe("RES-3: slow for what it is", () => {
  test("is a p95 of over three times the usual one", () => {
    const load = new Load();
    load.usual(200, 5);
    expect(load.pass(many(100, 450))).toBe("fine");
    expect(load.pass([...many(96, 200), ...many(4, 900)])).toBe("fine");
    expect(load.pass([...many(90, 200), ...many(10, 900)])).toBe("slow");
  });

  test("a quarter of a second is never slow, however fast it was before", () => {
    const load = new Load();
    load.usual(1, 20);
    expect(load.pass(many(100, 240))).toBe("fine");
    expect(load.pass(many(100, 300))).toBe("slow");
  });

  test("calls that differ widely are not slow for that: their own p95 is what is usual", () => {
    const load = new Load();
    const mixed = [...many(85, 50), ...many(15, 9_000)];
    for (let i = 0; i < 5; i++) load.pass(mixed);
    expect(load.pass(mixed)).toBe("fine");
  });

  test("shows while nothing comes back at all", () => {
    const load = new Load();
    load.usual(10, 5);
    for (let i = 0; i < 40; i++) load.latency.sent(load.window);
    const tempi = [1, 2, 3].map(() => load.pass([]));
    expect(tempi[0]).not.toBe("slow");
    expect(tempi.slice(1)).toEqual(["slow", "slow"]);
  });

  test("a few that hang do not count on and on against one that answers everybody else", () => {
    const load = new Load();
    load.usual(10, 5);
    for (let i = 0; i < 30; i++) load.latency.sent(load.window);
    const tempi = [1, 2, 3, 4, 5].map(() => load.pass(many(100, 10)));
    expect(tempi).toEqual(["fine", "slow", "fine", "fine", "fine"]);
  });

  test("a handful says nothing: unclear while they hang, fine when none does", () => {
    const load = new Load();
    load.usual(10, 5);
    for (let i = 0; i < 10; i++) load.latency.sent(load.window);
    load.pass([]);
    expect([load.pass([]), load.pass([])]).toEqual(["unclear", "unclear"]);
    expect(new Load().pass([])).toBe("fine");
  });

  test("whoever gave up early tells nothing, and whoever gave up late does", () => {
    const load = new Load();
    load.usual(10, 5);
    expect(load.pass(many(100, 40), false)).toBe("fine");
    expect(load.pass(many(100, 5_000), false)).toBe("slow");
  });

  test("is unknown before anything was measured", () => {
    const load = new Load();
    for (let i = 0; i < 400; i++) load.latency.sent(load.window);
    expect([1, 2, 3].map(() => load.pass([]))).toEqual(["fine", "fine", "fine"]);
  });
});

describe("RES-3: what is usual", () => {
  test("an outage of half a minute teaches nothing", () => {
    const load = new Load();
    load.usual(100, 10);
    const before = load.latency.normalMs!;
    for (let i = 0; i < 60; i++) expect(load.pass(many(100, 5_000))).toBe("slow");
    expect(load.latency.normalMs! / before).toBeLessThan(1.2);
  });

  test("one that is ten times as slow for good is taken for that within a quarter of an hour", () => {
    const load = new Load();
    load.usual(200, 10);
    for (let i = 0; i < 2 * 60 * 15; i++) load.pass(many(100, 2_000));
    expect(load.pass(many(100, 2_000))).toBe("fine");
  });

  test("one that has become faster is known to be so within minutes", () => {
    const load = new Load();
    load.usual(5_000, 10);
    load.usual(400, 2 * 60 * 3);
    expect(load.pass(many(100, 2_000))).toBe("slow");
  });

  test("is the p95 to within a tenth", () => {
    const load = new Load();
    load.pass(Array.from({ length: 200 }, (_, i) => i + 1));
    expect(load.latency.normalMs! / 190).toBeGreaterThan(0.88);
    expect(load.latency.normalMs! / 190).toBeLessThan(1.12);
  });
});

test("calls of a minute ago and older are still under way, and end", () => {
  const load = new Load();
  load.usual(10, 5);
  const sentAt = load.now;
  for (let i = 0; i < 30; i++) load.latency.sent(load.window);
  for (let i = 0; i < 300; i++) load.pass([]);
  expect(load.pass([])).toBe("slow");
  for (let i = 0; i < 30; i++) load.latency.over(sentAt, load.now, false, load.window);
  load.pass([]);
  expect(load.pass([])).toBe("fine");
});
