import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeSystem } from "../../../test/kit/fake-system.js";
import { Waiter, Wheel } from "./wheel.js";

class Probe extends Waiter {
  readonly firedAtMs: number[] = [];
  readonly #system: FakeSystem;
  readonly #then: () => void;

  constructor(system: FakeSystem, then: () => void = () => {}) {
    super();
    this.#system = system;
    this.#then = then;
  }

  onDue(): void {
    this.firedAtMs.push(this.#system.monotonic());
    this.#then();
  }
}

describe("wheel", () => {
  it("calls every waiter once, never early, at most two ticks late, whatever is set, moved and cleared (W1)", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("set" as const), who: fc.nat(9), delayMs: fc.integer({ min: 0, max: 40_000 }) }),
      fc.record({ kind: fc.constant("clear" as const), who: fc.nat(9) }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 15_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const system = new FakeSystem();
        const wheel = new Wheel(system);
        const due = new Map<number, number>();
        // Each sets itself again once, as a heartbeat does, which is where an earlier one could be forgotten.
        const probes = Array.from({ length: 10 }, (_, who): Probe => {
          let again = true;
          return new Probe(system, () => {
            const dueMs = due.get(who)!;
            expect(system.monotonic()).toBeGreaterThanOrEqual(dueMs - 1);
            expect(system.monotonic()).toBeLessThanOrEqual(dueMs + 20);
            due.delete(who);
            if (again) {
              wheel.set(probes[who]!, 12_345);
              due.set(who, system.monotonic() + 12_345);
            }
            again = !again;
          });
        });
        for (const one of steps) {
          if (one.kind === "set") {
            wheel.set(probes[one.who]!, one.delayMs);
            due.set(one.who, system.monotonic() + one.delayMs);
          } else if (one.kind === "clear") {
            wheel.clear(probes[one.who]!);
            due.delete(one.who);
          } else system.advance(one.ms);
          for (const dueMs of due.values()) expect(system.monotonic()).toBeLessThanOrEqual(dueMs + 20);
          expect(wheel.size).toBe(due.size);
        }
        system.advance(100_000);
        expect(wheel.size).toBe(0);
        expect(system.pending).toBe(0);
      }),
    );
  });

  it("sets one timer for ten thousand waiters, and none when it is empty (W2)", () => {
    const system = new FakeSystem();
    const wheel = new Wheel(system);
    const probes = Array.from({ length: 10_000 }, () => new Probe(system));
    for (const [i, probe] of probes.entries()) wheel.set(probe, 1_000 + i);
    expect(system.pending).toBe(1);
    for (const probe of probes) wheel.clear(probe);
    system.advance(20_000);
    expect(system.pending).toBe(0);
    expect(probes.every(({ firedAtMs }) => firedAtMs.length === 0)).toBe(true);
  });

  it("goes on with the others when one throws", () => {
    const system = new FakeSystem();
    const wheel = new Wheel(system);
    const last = new Probe(system);
    wheel.set(last, 5_000);
    wheel.set(
      new Probe(system, () => {
        throw new Error("mine");
      }),
      100,
    );
    expect(() => system.advance(200)).toThrow("mine");
    system.advance(6_000);
    expect(last.firedAtMs).toHaveLength(1);
  });
});
