import { expect, test } from "vitest";
import { FeatureTable } from "./feature-table.js";

/** Distinct keys that look like hashes. */
const keyOf = (n: number): number => Math.imul(n + 1, 0x85ebca6b);
/** It goes over bit by bit for the second time at 131,072. */
const COUNT = 140_000;

test("numbers features in the order in which they come, also while it goes over into a larger table", () => {
  const table = new FeatureTable();
  for (let n = 0; n < COUNT; n++) {
    if (n % 100 === 0) expect(table.find(keyOf(n))).toBe(-1);
    table.add(keyOf(n));
    // Old and new ones, at every stage of the way.
    if (n % 100 === 0) expect([0, n >> 1, n].map((m) => table.find(keyOf(m)))).toEqual([0, n >> 1, n]);
  }
  expect(table.size).toBe(COUNT);
  const wrong = Array.from({ length: COUNT }, (_, n) => n).filter((n) => table.find(keyOf(n)) !== n);
  expect(wrong).toEqual([]);
});

test("lists those that were there, though others come meanwhile and make it go over", () => {
  const table = new FeatureTable();
  const count = 130_000;
  for (let n = 0; n < count; n++) table.add(keyOf(n));
  const steps = table.inOrder();
  let more = count;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) for (let n = 0; n < 1_000; n++) table.add(keyOf(more++));
  expect(more).toBeGreaterThan(131_072);
  expect([...step.value].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n));
});

test("lists each of them once, whether it has gone over or not", () => {
  // A table of 2^17 slots begins to go over when it is half full.
  for (const count of [0, 1, 600, 65_537, 70_000]) {
    const table = new FeatureTable();
    for (let n = 0; n < count; n++) table.add(keyOf(n));
    const steps = table.inOrder();
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect([...step.value].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n));
  }
});
