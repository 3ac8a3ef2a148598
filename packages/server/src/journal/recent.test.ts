import fc from "fast-check";
import { expect, test } from "vitest";
import { Recent } from "./recent.js";

test("RES-5: finds exactly the newest items, whatever their ids, and says which it lets go", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(fc.oneof(fc.uuid(), fc.string({ maxLength: 3 })), { maxLength: 60 }),
      (size, ids) => {
        const forgotten: string[] = [];
        const recent = new Recent<{ messageId: string; n: number }>(size, (item) => forgotten.push(item.messageId));
        const items = ids.map((messageId, n) => ({ messageId, n }));
        for (const [i, item] of items.entries()) {
          recent.add(item);
          const kept = items.slice(Math.max(0, i + 1 - size), i + 1);
          expect([...recent.values()]).toEqual(kept);
          for (const { messageId } of items.slice(0, i + 1))
            expect(recent.get(messageId)).toBe(kept.findLast((k) => k.messageId === messageId));
        }
        expect(forgotten).toEqual(ids.slice(0, Math.max(0, ids.length - size)));
        expect(recent.get("never")).toBeUndefined();
      },
    ),
  );
});
