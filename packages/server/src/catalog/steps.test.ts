import { expect, test } from "vitest";
import { settle } from "../../../../test/kit/fake-system.js";
import { finished, inTurns, type Steps } from "./steps.js";

/** A clock that each step moves on, and turns that are taken by hand. */
function bench() {
  let now = 0;
  const turns: (() => void)[] = [];
  const system = {
    monotonic: () => now,
    after: (_delayMs: number, run: () => void) => {
      turns.push(run);
      return () => {};
    },
  };
  function* work(...stepsMs: number[]): Steps<string> {
    for (const ms of stepsMs) {
      now += ms;
      yield;
    }
    return `done at ${now}`;
  }
  return { system, turns, work };
}

test("all at once is what the last step answers", () => {
  expect(finished(bench().work(1, 2, 3))).toBe("done at 6");
});

test("in turns, short steps share one, and when it is over others have theirs", async () => {
  const { system, turns, work } = bench();
  const answer = inTurns(work(1, 1, 2, 9, 1), system, 2);
  const at = [system.monotonic()];
  for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
    turn();
    await settle(1);
    at.push(system.monotonic());
  }
  expect(at).toEqual([2, 4, 13, 14]);
  expect(await answer).toBe("done at 14");
});

test("a step that fails ends it", async () => {
  function* failing(): Steps<never> {
    yield;
    throw new Error("broken");
  }
  await expect(inTurns(failing(), bench().system)).rejects.toThrow("broken");
});
