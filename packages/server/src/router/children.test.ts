import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Child, Children } from "./children.js";

class Nested implements Child {
  parents: string[] | undefined;
}

describe("RES-3: which calls are part of which", () => {
  test("ends with its parent, once, and with that alone", () => {
    const children = new Children<Nested>();
    const [one, two, other] = [new Nested(), new Nested(), new Nested()];
    children.add("p", one);
    children.add("p", two);
    children.add("q", other);
    expect(children.leave("nobody")).toEqual([]);
    expect(children.leave("p")).toEqual([one, two]);
    expect(children.leave("p")).toEqual([]);
    expect([one.parents, other.parents]).toEqual([undefined, ["q"]]);
  });

  test("a child that two parents wait for ends with the last of them (N2)", () => {
    const children = new Children<Nested>();
    const shared = new Nested();
    children.add("p", shared);
    children.add("q", shared);
    children.add("q", shared);
    expect(children.leave("p")).toEqual([]);
    expect(shared.parents).toEqual(["q"]);
    expect(children.leave("q")).toEqual([shared]);
  });

  test("whoever ends before its parent is forgotten there, also one that has no parent", () => {
    const children = new Children<Nested>();
    const child = new Nested();
    children.remove(child);
    children.add("p", child);
    children.add("q", child);
    children.remove(child);
    expect([child.parents, children.size]).toEqual([undefined, 0]);
    expect(children.leave("p")).toEqual([]);
  });

  test("a parent is known while a child of it is in flight, and no longer (N1)", () => {
    const step = fc.record({ does: fc.constantFrom("add", "remove", "leave"), parent: fc.nat(3), child: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const children = new Children<Nested>();
        const all = Array.from({ length: 6 }, () => new Nested());
        const expected = all.map(() => new Set<string>());
        for (const { does, parent, child } of steps) {
          const id = `p${parent}`;
          if (does === "add") {
            children.add(id, all[child]!);
            expected[child]!.add(id);
          } else if (does === "remove") {
            children.remove(all[child]!);
            expected[child]!.clear();
          } else {
            const left = all.filter((_, i) => expected[i]!.delete(id) && expected[i]!.size === 0);
            expect(new Set(children.leave(id))).toEqual(new Set(left));
          }
          for (const [i, one] of all.entries()) expect(new Set(one.parents)).toEqual(expected[i]);
          expect(children.size).toBe(new Set(expected.flatMap((ids) => [...ids])).size);
        }
      }),
    );
  });
});

describe("RES-3: tasks that ended without an answer", () => {
  test("are remembered by their code, until they end otherwise", () => {
    const children = new Children<Nested>();
    children.taskEnded("t", "CANCELED");
    expect(children.endOf("t")).toBe("CANCELED");
    children.taskEnded("t", undefined);
    expect(children.endOf("t")).toBeUndefined();
  });

  test("no more than a thousand of them, the newest", () => {
    const children = new Children<Nested>();
    for (let i = 0; i < 1_000; i++) children.taskEnded(`t${i}`, "CANCELED");
    children.taskEnded("t0", "TIMEOUT");
    children.taskEnded("last", "TIMEOUT");
    expect(["t0", "t1", "t2", "last"].map((id) => children.endOf(id))).toEqual([
      "TIMEOUT",
      undefined,
      "CANCELED",
      "TIMEOUT",
    ]);
  });
});
