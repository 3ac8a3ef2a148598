import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeSystem } from "../../../test/kit/fake-system.js";
import { Ask } from "./pending.js";
import { Requests } from "./requests.js";
import { Wheel } from "./wheel.js";

const ask = () =>
  new Ask(
    "ping",
    {},
    "always",
    () => {},
    () => {},
  );

describe("requests", () => {
  it("gives rising ids, finds each request by its own, and keeps their order, however long some wait (R2)", () => {
    // Mostly short ones over a few that stay: their slots are in the way of every later turn.
    const step = fc.oneof(
      { weight: 1, arbitrary: fc.constant("stay" as const) },
      { weight: 9, arbitrary: fc.constant("come and go" as const) },
      { weight: 1, arbitrary: fc.nat().map((which) => ({ which })) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1_000, size: "max" }), (steps) => {
        let turns = 0;
        const requests = new Requests(new Wheel(new FakeSystem()), () => turns++);
        const open: Ask[] = [];
        let lastId = 0;
        const add = () => {
          const before = requests.nextId;
          const pending = ask();
          requests.add(pending);
          expect(pending.id).toBeGreaterThan(lastId);
          expect([pending.id >= before, requests.nextId > pending.id]).toEqual([true, true]);
          lastId = pending.id;
          open.push(pending);
        };
        for (const each of steps) {
          if (typeof each === "object") {
            if (open.length > 0) requests.forget(open.splice(each.which % open.length, 1)[0]!);
          } else {
            add();
            if (each === "come and go") {
              const gone = open.pop()!;
              expect(requests.forget(gone)).toBe(true);
              expect(requests.forget(gone)).toBe(false);
              expect(requests.get(gone.id)).toBeUndefined();
            }
          }
        }
        expect(requests.all()).toEqual(open);
        expect(open.every((pending) => requests.get(pending.id) === pending)).toBe(true);
        expect(requests.size).toBe(open.length);
        expect(turns % 2).toBe(open.length > 0 ? 1 : 0);
      }),
      { numRuns: 30 },
    );
  });
});
