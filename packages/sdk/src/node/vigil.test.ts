import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { httpUrl } from "./heartbeat-thread.js";
import { blockedMaxMs, Vigil } from "./vigil.js";

/** When the thread speaks while it looks every third of a heartbeat of 15 s, in seconds. */
function spoken(turnsAt: (sec: number) => boolean, untilSec: number): number[] {
  let count = 0;
  const vigil = new Vigil(15_000, count, 0);
  const at: number[] = [];
  for (let sec = 5; sec <= untilSec; sec += 5) {
    if (turnsAt(sec)) count++;
    if (vigil.look(count, sec * 1_000) !== undefined) at.push(sec);
  }
  return at;
}

describe("the vigil over a loop (LIVE-4)", () => {
  it("is silent as long as the loop turns, be it slowly", () => {
    expect(spoken(() => true, 600)).toEqual([]);
    expect(spoken((sec) => sec % 10 === 0, 600)).toEqual([]);
  });

  it("speaks once per heartbeat while it is blocked, and is silent again afterwards", () => {
    expect(spoken((sec) => sec <= 10 || sec > 60, 200)).toEqual([25, 40, 55]);
  });

  it("gives up a loop that is blocked for too long, so that a hung process is not alive for ever", () => {
    const last = spoken(() => false, 3_600).at(-1)!;
    expect(last * 1_000).toBeLessThanOrEqual(blockedMaxMs);
    expect(last * 1_000).toBeGreaterThan(blockedMaxMs - 20_000);
  });

  it("never leaves a blocked loop unspoken for within one ttl, whenever it blocks", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), (blockedFrom) => {
        const at = spoken((sec) => sec < blockedFrom, 400);
        const words = [blockedFrom - 5, ...at];
        for (let i = 1; i < words.length; i++) expect(words[i]! - words[i - 1]!).toBeLessThan(45);
        expect(at.length).toBeGreaterThan(3);
      }),
    );
  });

  it.each([
    ["node:8800", "http://node:8800"],
    ["ws://node:8800/registry", "http://node:8800"],
    ["wss://proxy/reach/registry/", "https://proxy/reach"],
    ["https://proxy/registry?a=1", "https://proxy"],
  ])("finds the HTTP interface of %s", (registryUrl, http) => {
    expect(httpUrl(registryUrl)).toBe(http);
  });
});
