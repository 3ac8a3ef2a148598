import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Memory } from "./memory.js";

interface Item {
  readonly messageId: string;
  settledAt: number;
  alias: string | undefined;
}
const item = (messageId: string, alias?: string): Item => ({ messageId, settledAt: 0, alias });
const settle = (memory: Memory<Item>, one: Item, now: number, size = 1): void => {
  one.settledAt = now;
  memory.settled(one, size);
};

describe("DLV-7: what is remembered", () => {
  test("in flight for ever, settled for its time and not a moment longer", () => {
    const memory = new Memory<Item>(10, 1_000);
    const one = item("m1");
    memory.add(one);
    expect(memory.get("m1", 1e12)).toBe(one);
    settle(memory, one, 5_000);
    expect(memory.get("m1", 6_000)).toBe(one);
    expect(memory.get("m1", 6_001)).toBeUndefined();
  });

  test("no more than so many settled ones, no more than so many characters of theirs, oldest first; all in flight", () => {
    const sizes = fc.array(fc.record({ size: fc.nat(60), settles: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 8 }), (messages, max) => {
        const memory = new Memory<Item>(max, 1e9, 100);
        const settled: { id: string; size: number }[] = [];
        const flying: string[] = [];
        messages.forEach(({ size, settles }, i) => {
          const one = item(`m${i}`);
          memory.add(one);
          if (!settles) return void flying.push(one.messageId);
          settle(memory, one, i + 1, size);
          settled.push({ id: one.messageId, size });
        });
        const kept = settled.filter(({ id }) => memory.get(id, 1e6) !== undefined);
        expect(kept).toEqual(settled.slice(settled.length - kept.length));
        expect(kept.length).toBeLessThanOrEqual(max);
        if (kept.length > 1) expect(kept.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(100);
        // Nothing is forgotten that would still have fitted.
        const dropped = settled[settled.length - kept.length - 1];
        if (dropped !== undefined && kept.length < max) {
          expect(kept.reduce((sum, { size }) => sum + size, dropped.size)).toBeGreaterThan(100);
        }
        for (const id of flying) expect(memory.get(id, 1e6)).toBeDefined();
      }),
    );
  });

  test("what is over its time makes room before anything else does", () => {
    const memory = new Memory<Item>(3, 1_000);
    const [old, young, newest] = [item("old"), item("young"), item("newest")];
    for (const one of [old, young, newest]) memory.add(one);
    settle(memory, old, 1);
    settle(memory, young, 1_500);
    settle(memory, newest, 1_900);
    expect([...memory.values()].map((one) => one.messageId)).toEqual(["young", "newest"]);
  });

  test("by its key too, under both names once, and neither name outlives it", () => {
    const memory = new Memory<Item>(1, 1_000);
    const one = item("m1", "shop/key");
    memory.add(one);
    expect(memory.get("shop/key", 0)).toBe(one);
    expect([...memory.values()]).toEqual([one]);
    settle(memory, one, 10);
    const next = item("m2");
    memory.add(next);
    settle(memory, next, 20);
    expect([memory.get("m1", 20), memory.get("shop/key", 20)]).toEqual([undefined, undefined]);
  });

  test("a newer message with the id of an old one is not forgotten with it", () => {
    const memory = new Memory<Item>(1, 1_000);
    const old = item("m1");
    memory.add(old);
    settle(memory, old, 1);
    const again = item("m1");
    memory.add(again);
    const other = item("m2");
    memory.add(other);
    settle(memory, other, 5_000);
    expect(memory.get("m1", 5_000)).toBe(again);
  });

  test("a memory for nothing still knows what is in flight", () => {
    const memory = new Memory<Item>(0, 0);
    const one = item("m1");
    memory.add(one);
    expect(memory.get("m1", 1)).toBe(one);
    settle(memory, one, 2);
    expect(memory.get("m1", 3)).toBeUndefined();
  });
});
