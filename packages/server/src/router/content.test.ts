import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sorted } from "../../../../test/kit/vectors.js";
import { contentHashOf } from "./content.js";

const hashOf = (value: unknown) => contentHashOf(undefined, undefined, value, JSON.stringify(value));

/** The same data with the keys of every object in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inside]) => [key, turned(inside)]),
  );
}
/** As it comes off the wire: no undefined, no -0. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe("the hash of a message's content", () => {
  test("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(hashOf(turned(value))).toBe(hashOf(value));
      }),
    );
  });

  test("differs when the data differs", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(hashOf(a) === hashOf(b)).toBe(sorted(a) === sorted(b));
      }),
      { numRuns: 1_000 },
    );
  });

  test("tells values that changed places apart", () => {
    const texts = ["a", "b", "c", "1", "2", "shop", "shop2", ""];
    const seen = new Map<string, string>();
    for (const from of texts) {
      for (const to of texts) {
        for (const value of [{ from, to }, { a: from, b: to }, [from, to], { [`k${from}`]: to }, { x: { from, to } }]) {
          const text = sorted(value);
          const before = seen.get(hashOf(value));
          expect(before ?? text, `${before} and ${text}`).toBe(text);
          seen.set(hashOf(value), text);
        }
      }
    }
  });

  test("tells small numbers in small objects apart", () => {
    const seen = new Map<string, string>();
    for (let a = 0; a < 40; a++) {
      for (let b = 0; b < 40; b++) {
        for (const value of [{ a, b }, { id: a, n: b }, { order_id: String(a), line: b }, [a, b], [[a], b]]) {
          const before = seen.get(hashOf(value));
          expect(before, `${before} and ${sorted(value)}`).toBeUndefined();
          seen.set(hashOf(value), sorted(value));
        }
      }
    }
  });

  test("tells kinds of nothing and kinds of one apart", () => {
    const all = [
      null,
      false,
      0,
      "",
      [],
      {},
      [null],
      [[]],
      [{}],
      "null",
      "0",
      true,
      1,
      "1",
      "true",
      [0],
      { 0: 0 },
      ["0"],
    ];
    expect(new Set(all.map(hashOf)).size).toBe(all.length);
  });

  test("keys called __proto__ and constructor count", () => {
    const all = ["{}", '{"__proto__":1}', '{"__proto__":2}', '{"constructor":1}'].map((text) =>
      hashOf(JSON.parse(text)),
    );
    expect(new Set(all).size).toBe(4);
  });

  test("DLV-7: long numbers count by their digits", () => {
    const of = (text: string) => contentHashOf(undefined, "query", JSON.parse(text), text);
    expect(of('{"id":9007199254740993}')).not.toBe(of('{"id":9007199254740992}'));
    expect(of('{"id":9007199254740993,"a":1}')).toBe(of('{"a":1,"id":9007199254740993}'));
    expect(of("1")).toBe(of("1.0"));
  });

  test("the target and the capability belong to it", () => {
    const all = [
      contentHashOf(undefined, "query", {}, "{}"),
      contentHashOf({ agentId: "a" }, "query", {}, "{}"),
      contentHashOf({ instanceId: "a" }, "query", {}, "{}"),
      contentHashOf(undefined, "refund", {}, "{}"),
    ];
    expect(new Set(all).size).toBe(4);
  });
});
