import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RegistryPlaces } from "./registry-places.js";

type Step = { put: string } | { remove: string } | { sweep: number } | { end: boolean };

const key = fc.constantFrom("a", "b", "c");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: key.map((put) => ({ put })) },
  { weight: 1, arbitrary: key.map((remove) => ({ remove })) },
  { weight: 1, arbitrary: fc.nat(4).map((sweep) => ({ sweep })) },
  { weight: 2, arbitrary: fc.boolean().map((end) => ({ end })) },
);

describe("where the registry's records stand", () => {
  test("P1, P2, P3: as in a table of rows, whatever is stored and whatever is undone", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const places = new RegistryPlaces();
        // The table: each row with its key, in order of revision.
        let stored = new Map<number, string>();
        let current = new Map<string, number>();
        let rows = new Map(stored);
        let newest = new Map(current);
        let revision = 0;
        for (const each of [...steps, { end: true }, { sweep: 0 }, { end: true }]) {
          if ("put" in each) {
            places.put("instance", each.put, ++revision);
            rows.set(revision, each.put);
            newest.set(each.put, revision);
          } else if ("remove" in each) {
            places.remove("instance", each.remove);
            for (const row of places.toDelete(0)) expect(rows.delete(row)).toBe(true);
            newest.delete(each.remove);
          } else if ("sweep" in each) {
            for (const row of places.toDelete(each.sweep)) expect(rows.delete(row)).toBe(true);
          } else {
            places.end(each.end);
            if (each.end) [stored, current] = [rows, newest];
            [rows, newest] = [new Map(stored), new Map(current)];
            expect(places.keys("instance", "", "", undefined)).toEqual([...current.keys()].sort());
          }
          for (const name of ["a", "b", "c"]) expect(places.of("instance", name)).toBe(newest.get(name));
        }
        // Everything superseded was deleted in the end, and what is left is what counts.
        expect([...stored.keys()].sort()).toEqual([...current.values()].sort());
      }),
    );
  });

  test("deletes no row before many wait, for many at once are cheaper", () => {
    const places = new RegistryPlaces();
    let revision = 0;
    let deleted = 0;
    for (let i = 0; i < 1_000; i++) {
      places.put("agent", "default/a", ++revision);
      const rows = places.toDelete();
      if (rows.length > 0) expect(rows.length).toBeGreaterThan(200);
      deleted += rows.length;
      places.end(true);
    }
    expect(deleted).toBeGreaterThan(700);
  });
});
