import fc from "fast-check";
import { expect, test } from "vitest";
import { Recent, type Shelf } from "./recent.js";

interface Item {
  messageId: string;
  n: number;
  slot: number;
}

/** Takes even numbers, and keeps them as text. */
class TextShelf implements Shelf<Item> {
  readonly texts: (string | undefined)[] = [];

  put(slot: number, item: Item): boolean {
    if (item.n % 2 === 1) return false;
    this.texts[slot] = JSON.stringify(item);
    return true;
  }

  has(slot: number): boolean {
    return this.texts[slot] !== undefined;
  }

  isOf(slot: number, messageId: string): boolean {
    return this.read(slot).messageId === messageId;
  }

  read(slot: number): Item {
    return JSON.parse(this.texts[slot]!) as Item;
  }

  clear(slot: number): void {
    this.texts[slot] = undefined;
  }
}

test("RES-5: finds exactly the newest items, on the shelf or not, whatever their ids, and says which it lets go", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(fc.record({ id: fc.oneof(fc.uuid(), fc.string({ maxLength: 3 })), shelved: fc.boolean() }), {
        maxLength: 60,
      }),
      (size, steps) => {
        const forgotten: number[] = [];
        const shelf = new TextShelf();
        const recent: Recent<Item> = new Recent<Item>(size, shelf, (slot) =>
          forgotten.push((recent.at(slot) ?? shelf.read(slot)).n),
        );
        const items = steps.map(({ id }, n) => ({ messageId: id, n, slot: -1 }));
        const all = () =>
          recent.select(
            () => true,
            () => true,
          );
        for (const [i, item] of items.entries()) {
          recent.add(item);
          if (steps[i]!.shelved) expect(recent.shelve(item)).toBe(item.n % 2 === 0);
          const kept = items.slice(Math.max(0, i + 1 - size), i + 1);
          expect(all()).toEqual(kept);
          const { messageId } = items[(i * 7) % (i + 1)]!;
          const newest = kept.findLast((k) => k.messageId === messageId);
          expect(recent.get(messageId)).toEqual(newest);
          expect(recent.get(messageId)).toBe(recent.get(messageId));
        }
        expect(forgotten).toEqual(items.slice(0, Math.max(0, items.length - size)).map(({ n }) => n));
        expect(recent.get("never")).toBeUndefined();
      },
    ),
  );
});

test("what was pushed out or taken down before is not put away again in a place that is another's", () => {
  const shelf = new TextShelf();
  const recent = new Recent<Item>(1, shelf, () => {});
  const first = { messageId: "first", n: 0, slot: -1 };
  recent.add(first);
  recent.add({ messageId: "second", n: 1, slot: -1 });
  expect(recent.shelve(first)).toBe(false);
  expect(recent.get("second")).toMatchObject({ n: 1 });
});
