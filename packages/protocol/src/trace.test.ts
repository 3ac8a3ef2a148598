import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { vectors } from "../../../test/kit/vectors.js";
import { formatTraceparent, parseTraceparent, traceIdOf } from "./trace.js";

interface Vectors {
  ids: { given: string; traceId: string; externalTraceId?: string }[];
  traceparents: { header: string; parsed: object | null }[];
}
const { ids, traceparents } = vectors<Vectors>("traces");

describe("DLV-20: a foreign trace id is mapped to 32 hex digits and kept", () => {
  test.each(ids)("$given → $traceId", ({ given, ...expected }) => {
    expect(traceIdOf(given)).toEqual(expected);
  });

  test("without a given one a fresh one is made", () => {
    const fresh = "0123456789abcdef0123456789abcdef";
    expect(traceIdOf(undefined, () => fresh)).toEqual({ traceId: fresh });
  });

  test("every text gets a valid id, which is mapped to itself", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constant("\ud800")), (given) => {
        const { traceId } = traceIdOf(given);
        expect(traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
        expect(traceIdOf(traceId)).toEqual({ traceId });
      }),
    );
  });
});

describe("traceparent", () => {
  test.each(traceparents)("$header", ({ header, parsed }) => {
    expect(parseTraceparent(header) ?? null).toEqual(parsed);
  });

  test("absent is no trace", () => {
    expect(parseTraceparent(undefined)).toBeUndefined();
  });

  test("what is written can be read", () => {
    for (const sampled of [true, false]) {
      const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", parentId: "00f067aa0ba902b7", sampled };
      expect(parseTraceparent(formatTraceparent(parent))).toEqual(parent);
    }
  });
});
