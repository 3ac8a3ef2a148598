import { expect, test } from "vitest";
import { gate } from "../../../../../test/kit/within.js";
import { type Lane, Lanes } from "./lanes.js";

const never = new AbortController().signal;

/** Lanes with work that lasts until it is told to end, and the names of what began. */
function busy(places: number) {
  const lanes = new Lanes(places);
  const began: string[] = [];
  const start = (lane: Lane, name: string, signal: AbortSignal = never) => {
    const end = gate();
    const done = lanes.run(lane, signal, async () => {
      began.push(name);
      await end.opened;
      return name;
    });
    return { done, end: end.open };
  };
  return { began, start };
}

test("a question goes before passages that came earlier, and has a place of its own", async () => {
  const { began, start } = busy(3);
  const passages = ["p1", "p2", "p3", "p4"].map((name) => start("passage", name));
  expect(began).toEqual(["p1", "p2"]);
  const questions = ["q1", "q2"].map((name) => start("query", name));
  expect(began).toEqual(["p1", "p2", "q1"]);
  passages[0]!.end();
  await passages[0]!.done;
  expect(began).toEqual(["p1", "p2", "q1", "q2"]);
  for (const { end } of [...passages, ...questions]) end();
  expect(await Promise.all([...passages, ...questions].map(({ done }) => done))).toEqual([
    "p1",
    "p2",
    "p3",
    "p4",
    "q1",
    "q2",
  ]);
});

test("with one place passages have it too, one at a time", async () => {
  const { began, start } = busy(1);
  const [first, second] = [start("passage", "p1"), start("passage", "p2")];
  expect(began).toEqual(["p1"]);
  first.end();
  await first.done;
  expect(began).toEqual(["p1", "p2"]);
  second.end();
  await second.done;
});

test("work that fails gives its place to the next", async () => {
  const lanes = new Lanes(1);
  const failing = lanes.run("query", never, () => Promise.reject(new Error("no")));
  const next = lanes.run("query", never, async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
});

test("what is not wanted any more while it waits never begins", async () => {
  const { began, start } = busy(1);
  const first = start("query", "q1");
  const unwanted = new AbortController();
  const second = start("query", "q2", unwanted.signal);
  const reason = new Error("gone");
  unwanted.abort(reason);
  await expect(second.done).rejects.toBe(reason);
  first.end();
  await first.done;
  expect(began).toEqual(["q1"]);
  await expect(start("query", "q3", unwanted.signal).done).rejects.toBe(reason);
});
