import { expect, test } from "vitest";
import { FakeSystem } from "../../../../test/kit/fake-system.js";
import { Pace } from "./pace.js";

test("rests once a stretch is over, until others had the event loop, and then has a whole stretch again", async () => {
  const system = new FakeSystem();
  const pace = new Pace(system, 2);
  expect(pace.rest()).toBeUndefined();
  system.advance(1);
  expect(pace.rest()).toBeUndefined();
  system.advance(1);
  const rest = pace.rest();
  let isOver = false;
  void rest?.then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  system.advance(1);
  await rest;
  expect(isOver).toBe(true);
  expect(pace.rest()).toBeUndefined();
  system.advance(1);
  expect(pace.rest()).toBeInstanceOf(Promise);
});
