import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Memorable, Memory } from "./memory.js";

class Item implements Memorable {
  settledAt = 0;
  forgotten = false;

  constructor(
    readonly messageId: string,
    readonly alias: string | undefined = undefined,
  ) {}

  forget(): void {
    this.forgotten = true;
  }
}

/** A memory beside something that finds what settled, as the journal does, until it is let go. */
function open(max: number, keepMs: number, sizeMax?: number) {
  const settled = new Map<string, Item>();
  const recall = (id: string): Item | undefined => (settled.get(id)?.forgotten === false ? settled.get(id) : undefined);
  const memory = new Memory<Item, Item>(max, keepMs, recall, sizeMax);
  const settle = (one: Item, now: number, size = 1): void => {
    one.settledAt = now;
    settled.set(one.messageId, one);
    memory.settled(one, size);
  };
  return { memory, settle };
}

describe("DLV-7: what is remembered", () => {
  test("in flight for ever, settled for its time and not a moment longer", () => {
    const { memory, settle } = open(10, 1_000);
    const one = new Item("m1");
    memory.add(one);
    expect(memory.get("m1", 1e12)).toBe(one);
    settle(one, 5_000);
    expect(memory.get("m1", 6_000)).toBe(one);
    expect(memory.get("m1", 6_001)).toBeUndefined();
  });

  test("no more than so many settled ones, no more than so many characters of theirs, oldest first; all in flight", () => {
    const sizes = fc.array(fc.record({ size: fc.nat(60), settles: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 8 }), (messages, max) => {
        const { memory, settle } = open(max, 1e9, 100);
        const settled: { item: Item; size: number }[] = [];
        const flying: Item[] = [];
        for (const [i, { size, settles }] of messages.entries()) {
          const item = new Item(`m${i}`);
          memory.add(item);
          if (settles) {
            settle(item, i + 1, size);
            settled.push({ item, size });
          } else flying.push(item);
        }
        const kept = settled.filter(({ item }) => memory.get(item.messageId, 1e6) !== undefined);
        expect(kept).toEqual(settled.slice(settled.length - kept.length));
        expect(kept.length).toBeLessThanOrEqual(max);
        if (kept.length > 1) expect(kept.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(100);
        // Nothing is forgotten that would still have fitted.
        const dropped = settled[settled.length - kept.length - 1];
        if (dropped !== undefined && kept.length < max) {
          expect(kept.reduce((sum, { size }) => sum + size, dropped.size)).toBeGreaterThan(100);
        }
        for (const item of flying) expect(memory.get(item.messageId, 1e6)).toBe(item);
        expect([...memory.underway()]).toEqual(flying);
      }),
    );
  });

  test("what is over its time makes room before anything else does", () => {
    const { memory, settle } = open(3, 1_000);
    const [old, young, newest] = [new Item("old"), new Item("young"), new Item("newest")];
    for (const one of [old, young, newest]) memory.add(one);
    settle(old, 1);
    settle(young, 1_500);
    settle(newest, 1_900);
    expect([old.forgotten, young.forgotten, newest.forgotten]).toEqual([true, false, false]);
  });

  test("by its key too, which does not outlive it", () => {
    const { memory, settle } = open(1, 1_000);
    const one = new Item("m1", "shop/key");
    memory.add(one);
    expect(memory.byAlias("shop/key", 0)).toBe(one);
    expect([...memory.underway()]).toEqual([one]);
    settle(one, 10);
    expect(memory.byAlias("shop/key", 1_010)).toBe(one);
    expect(memory.byAlias("shop/key", 1_011)).toBeUndefined();
    const next = new Item("m2");
    memory.add(next);
    settle(next, 20);
    expect([memory.get("m1", 20), memory.byAlias("shop/key", 20)]).toEqual([undefined, undefined]);
  });

  test("a newer message with the id and key of an old one is not forgotten with it", () => {
    const { memory, settle } = open(1, 1_000);
    const old = new Item("m1", "key");
    memory.add(old);
    settle(old, 1);
    const again = new Item("m1", "key");
    memory.add(again);
    const other = new Item("m2");
    memory.add(other);
    settle(other, 5_000);
    expect(old.forgotten).toBe(true);
    expect([memory.get("m1", 5_000), memory.byAlias("key", 5_000)]).toEqual([again, again]);
  });
});
