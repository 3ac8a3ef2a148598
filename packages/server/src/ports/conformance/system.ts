import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { System } from "../system.js";

interface Subject {
  open(): System;
  /** Resolves once `ms` have passed on this system. */
  pass(system: System, ms: number): Promise<void>;
}

/** The promises of System, for one implementation of it. */
export function systemConformance({ open, pass }: Subject): void {
  describe("System", () => {
    let system: System;
    beforeEach(() => {
      system = open();
    });
    const cancels: (() => void)[] = [];
    afterEach(() => {
      for (const cancel of cancels.splice(0)) cancel();
    });

    test("S1: now is wall time in whole or broken milliseconds since 1970", () => {
      expect(system.now()).toBeGreaterThan(Date.UTC(2020, 0));
      expect(system.now()).toBeLessThan(Date.UTC(2100, 0));
    });

    test("S2: monotonic goes forward with time, and never back", async () => {
      const moments = [system.monotonic(), system.monotonic()];
      await pass(system, 5);
      moments.push(system.monotonic());
      expect(moments).toEqual([...moments].sort((a, b) => a - b));
      expect(moments[2]! - moments[0]!).toBeGreaterThanOrEqual(5);
    });

    test("S3: after fires once, and not before its delay has passed", async () => {
      const started = system.monotonic();
      const fired: number[] = [];
      system.after(20, () => fired.push(system.monotonic() - started));
      await pass(system, 10);
      expect(fired).toEqual([]);
      await pass(system, 40);
      expect(fired).toHaveLength(1);
      expect(fired[0]).toBeGreaterThanOrEqual(20);
    });

    test("S3: after with a delay of nothing fires soon, but not within the call", async () => {
      let fired = 0;
      system.after(0, () => fired++);
      expect(fired).toBe(0);
      await pass(system, 5);
      expect(fired).toBe(1);
    });

    test("S3: a delay above 2^31 ms does not fire at once (case D11)", async () => {
      const fired: string[] = [];
      for (const days of [25, 30, 3650])
        cancels.push(system.after(days * 86_400_000, () => fired.push(`${days} days`)));
      cancels.push(system.after(2 ** 31 + 1, () => fired.push("2^31 + 1")));
      await pass(system, 20);
      expect(fired).toEqual([]);
    });

    test("S3: what was taken back does not fire", async () => {
      let fired = 0;
      const cancel = system.after(5, () => fired++);
      cancel();
      cancel();
      await pass(system, 20);
      expect(fired).toBe(0);
    });

    test("S4: ids are UUIDs of version 7, all different, each sorting after the one before", () => {
      const ids = Array.from({ length: 20_000 }, () => system.newId());
      for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual([...ids].sort());
    });

    test("S4: an id begins with the wall time of its making", () => {
      const before = system.now();
      const ms = Number.parseInt(system.newId().replace("-", "").slice(0, 12), 16);
      expect(ms).toBeGreaterThanOrEqual(Math.floor(before));
      expect(ms - before).toBeLessThan(1_000);
    });

    test("secrets are 32 hex digits or more, and different", () => {
      const secrets = Array.from({ length: 100 }, () => system.newSecret());
      for (const secret of secrets) expect(secret).toMatch(/^[0-9a-f]{32,}$/);
      expect(new Set(secrets).size).toBe(100);
    });

    test("random is uniform in [0, 1)", () => {
      const buckets = new Array<number>(10).fill(0);
      for (let i = 0; i < 10_000; i++) buckets[Math.floor(system.random() * 10)]! += 1;
      expect(buckets).toHaveLength(10);
      for (const count of buckets) expect(count).toBeGreaterThan(800);
    });
  });
}
