import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HashTable, OrderedTable } from "./hash-table.js";

describe("a hash table", () => {
  // Keys that meet in one bucket, and equal hashes of different keys, since numbers count by their lower 32 bits.
  const numbers = fc.oneof(
    fc.nat(20),
    fc.nat(20).map((n) => n + 2 ** 32),
    fc.nat(20).map((n) => n * 1024),
  );
  const steps = <K>(key: fc.Arbitrary<K>) =>
    fc.array(fc.record({ key, value: fc.nat(), deletes: fc.boolean() }), { maxLength: 200 });

  test.each([
    ["numbers", numbers],
    ["texts", fc.string({ maxLength: 2 })],
  ] as [string, fc.Arbitrary<string | number>][])("of %s knows exactly what a Map knows, in its order", (_, key) => {
    fc.assert(
      fc.property(steps(key), (list) => {
        const table = new OrderedTable<string | number, number>();
        const map = new Map<string | number, number>();
        for (const { key, value, deletes } of list) {
          if (deletes) {
            expect(table.delete(key)).toBe(map.get(key));
            map.delete(key);
          } else {
            table.set(key, value);
            map.set(key, value);
          }
          expect(table.get(key)).toBe(map.get(key));
          expect(table.size).toBe(map.size);
        }
        for (const [known, value] of map) expect([table.has(known), table.get(known)]).toEqual([true, value]);
        expect([...table.values()]).toEqual([...map.values()]);
        expect([...table.keys()]).toEqual([...map.keys()]);
        expect(table.all().sort()).toEqual([...map.values()].sort());
      }),
    );
  });

  test("can be emptied while it is walked", () => {
    const table = new OrderedTable<number, number>();
    for (let i = 0; i < 50; i++) table.set(i, i);
    const seen = [];
    for (const key of table.keys()) seen.push(table.delete(key));
    expect([seen.length, table.size, [...table.values()]]).toEqual([50, 0, []]);
  });

  test("keeps hold of nothing that was taken out", () => {
    const table = new HashTable<number, object>();
    for (let i = 0; i < 100; i++) table.set(i, { i });
    for (let i = 0; i < 100; i++) table.delete(i);
    expect(table.size).toBe(0);
    expect(JSON.stringify(table)).not.toContain('"i"');
  });
});
