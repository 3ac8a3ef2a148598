import { describe, expect, test } from "vitest";
import { Pace } from "./pace.js";

describe("ROUTE-1: when to try again", () => {
  test("is as many gaps as there are people before you", () => {
    const pace = new Pace();
    pace.begin(0);
    for (let now = 20; now <= 400; now += 20) pace.tick(now);
    expect([pace.msUntil(1, 400), pace.msUntil(10, 400)]).toEqual([20, 200]);
  });

  test("follows a line that moves faster or slower than before", () => {
    const pace = new Pace();
    pace.begin(0);
    for (let now = 100; now <= 5_000; now += 100) pace.tick(now);
    for (let now = 5_010; now <= 5_500; now += 10) pace.tick(now);
    expect(pace.msUntil(10, 5_500)).toBeLessThan(120);
  });

  test("a line that has come to a halt is taken for as slow as it is, up to five seconds", () => {
    const pace = new Pace();
    pace.begin(0);
    for (let now = 1; now <= 100; now++) pace.tick(now);
    expect([pace.msUntil(1, 100), pace.msUntil(1, 1_100), pace.msUntil(1, 60_000)]).toEqual([10, 1_000, 5_000]);
  });

  test("a pause in which nobody waited does not make the line slow", () => {
    const pace = new Pace();
    pace.begin(0);
    for (let now = 10; now <= 100; now += 10) pace.tick(now);
    pace.begin(3_600_000);
    pace.tick(3_600_010);
    expect(pace.msUntil(10, 3_600_010)).toBe(100);
  });

  test("where nothing ever moved it is a second, and no less than that", () => {
    expect(new Pace().msUntil(5, 7)).toBe(1_000);
    const pace = new Pace();
    pace.begin(0);
    expect([pace.msUntil(5, 0), pace.msUntil(1, 3_000)]).toEqual([1_000, 3_000]);
  });
});
