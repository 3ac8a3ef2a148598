import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeSystem } from "../../../../test/kit/fake-system.js";
import { LISTENS_MS } from "./stand-still.js";
import { Wheel, type WheelEntry } from "./wheel.js";

const SLOT_MS = 10;

class Alarm implements WheelEntry {
  wheelSlot: WheelEntry["wheelSlot"];
  wheelNext: WheelEntry | undefined;
  wheelPrev: WheelEntry | undefined;
  readonly firedAt: number[] = [];

  constructor(
    private readonly system: FakeSystem,
    private readonly then: () => void = () => {},
  ) {}

  onDeadline(): void {
    this.firedAt.push(this.system.monotonic());
    this.then();
  }
}

function open() {
  const system = new FakeSystem();
  return { system, wheel: new Wheel(system, SLOT_MS) };
}

type Step = { set: number; inMs: number } | { clear: number } | { pass: number };
const alarms = 8;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    set: fc.nat(alarms - 1),
    inMs: fc.oneof(
      fc.integer({ min: -50, max: 300 }),
      fc.nat(400).map((n) => n / 8),
    ),
  }),
  fc.nat(alarms - 1).map((clear) => ({ clear })),
  fc.oneof(fc.nat(15), fc.nat(400)).map((pass) => ({ pass })),
);

describe("the wheel", () => {
  test("fires what a plain list would: once, never early, at most one slot late, and nothing that was taken back", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { system, wheel } = open();
        const all = Array.from({ length: alarms }, () => new Alarm(system));
        const due = new Map<number, number>();
        const look = () => {
          all.forEach((alarm, i) => {
            const at = due.get(i);
            for (const firedAt of alarm.firedAt.splice(0)) {
              expect(at).toBeDefined();
              expect(firedAt).toBeGreaterThanOrEqual(at!);
              expect(firedAt).toBeLessThanOrEqual(at! + SLOT_MS);
              due.delete(i);
            }
            if (due.has(i)) expect(due.get(i)! + SLOT_MS).toBeGreaterThan(system.monotonic());
          });
        };
        for (const one of steps) {
          if ("pass" in one) {
            system.advance(one.pass);
            look();
          } else if ("clear" in one) {
            wheel.clear(all[one.clear]!);
            due.delete(one.clear);
          } else {
            const at = Math.max(0, system.monotonic() + one.inMs);
            wheel.set(all[one.set]!, at);
            // What is due already is due now.
            due.set(one.set, Math.max(at, system.monotonic()));
          }
        }
        system.advance(1_000);
        look();
        expect(due.size).toBe(0);
      }),
    );
  });

  test("one timer serves them all, and none is left when all are done", () => {
    const { system, wheel } = open();
    const all = Array.from({ length: 100 }, () => new Alarm(system));
    all.forEach((alarm, i) => {
      wheel.set(alarm, 5_000 - i * 7);
    });
    expect(system.pending).toBe(1);
    system.advance(6_000);
    expect(all.every((alarm) => alarm.firedAt.length === 1)).toBe(true);
    expect(system.pending).toBe(0);
  });

  test("a deadline a year ahead is kept, and one without end never comes", () => {
    const { system, wheel } = open();
    const year = 366 * 86_400_000;
    const far = new Alarm(system);
    const never = new Alarm(system);
    wheel.set(far, year);
    wheel.set(never, Number.POSITIVE_INFINITY);
    system.advance(year - 1);
    expect(far.firedAt).toEqual([]);
    system.advance(SLOT_MS + 1);
    expect(far.firedAt).toHaveLength(1);
    expect(never.firedAt).toEqual([]);
  });

  test("an alarm may set itself again, take its neighbour back and set a third while it fires", () => {
    const { system, wheel } = open();
    const neighbour = new Alarm(system);
    const third = new Alarm(system);
    const first = new Alarm(system, () => {
      wheel.clear(neighbour);
      wheel.set(third, system.monotonic());
      if (first.firedAt.length < 3) wheel.set(first, system.monotonic() + 100);
    });
    // The newest of a slot fires first, so `first` is there before its neighbour.
    wheel.set(neighbour, 50);
    wheel.set(first, 50);
    system.advance(1_000);
    expect(first.firedAt).toHaveLength(3);
    expect(neighbour.firedAt).toEqual([]);
    expect(third.firedAt).toHaveLength(3);
  });

  test("an alarm that is set for this moment from within its own firing lets time go on", () => {
    const { system, wheel } = open();
    const restless: Alarm = new Alarm(system, () => wheel.set(restless, system.monotonic()));
    wheel.set(restless, 0);
    system.advance(1_000);
    expect(restless.firedAt.length).toBeLessThanOrEqual(1_000 / SLOT_MS + 1);
    wheel.stop();
  });

  test("LIVE-7: after a stall it listens first; then everything that came due fires, in order of its deadline", () => {
    const { system, wheel } = open();
    const order: string[] = [];
    for (const at of [900, 300, 600]) wheel.set(new Alarm(system, () => order.push(String(at))), at);
    system.stall(10_000);
    system.advance(0);
    expect(order).toEqual([]);
    // Whatever is set meanwhile does not put it off.
    wheel.set(new Alarm(system), system.monotonic() + 5_000);
    system.advance(LISTENS_MS);
    expect(order).toEqual(["300", "600", "900"]);
  });

  test("a stopped wheel fires nothing", () => {
    const { system, wheel } = open();
    const alarm = new Alarm(system);
    wheel.set(alarm, 100);
    wheel.stop();
    system.advance(1_000);
    expect(alarm.firedAt).toEqual([]);
    expect(system.pending).toBe(0);
  });
});
