import { describe, expect, it } from "vitest";
import { FakeSystem } from "../../../test/kit/fake-system.js";
import { Backoff } from "./backoff.js";

describe("backoff", () => {
  it("C01: spreads clients that lost the node in the same moment evenly over each wait", () => {
    const system = new FakeSystem();
    const clients = Array.from({ length: 1_000 }, () => new Backoff({ minMs: 1_000, maxMs: 30_000 }, system));
    for (const ceiling of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const waits = clients.map((client) => client.next());
      expect(Math.max(...waits)).toBeLessThanOrEqual(ceiling);
      const tenths = Array.from({ length: 10 }, () => 0);
      for (const wait of waits) tenths[Math.min(9, Math.floor((10 * wait) / ceiling))]! += 1;
      // A tenth each; half as many or twice as many would be five standard deviations away.
      for (const count of tenths) expect(count).toBeGreaterThan(50);
      for (const count of tenths) expect(count).toBeLessThan(200);
    }
  });

  it("waits at least as long as the node asked, once", () => {
    const backoff = new Backoff({ minMs: 10, maxMs: 100 }, new FakeSystem());
    backoff.atLeast(5_000);
    expect(backoff.next()).toBe(5_000);
    expect(backoff.next()).toBeLessThanOrEqual(20);
  });
});
