import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prepare } from "./envelope.js";
import { uuidV7 } from "./ids.js";
import { toJson } from "./json.js";

const newId = uuidV7(
  () => 1_700_000_000_000,
  (pool) => crypto.getRandomValues(pool as Uint8Array<ArrayBuffer>),
);

describe("envelope", () => {
  it("writes by hand what JSON would write, for any fields and any input", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue({ maxDepth: 20 }), (fields, input) => {
        const envelope = {
          capability: 'we"ird\\\n',
          ...fields,
          messageId: undefined,
          traceId: "t",
          timeoutMs: 5,
          input,
        };
        const { rest, error } = prepare(envelope as never, newId);
        expect(error).toBeUndefined();
        const { timeoutMs: _, ...sent } = JSON.parse(JSON.stringify(envelope));
        expect(JSON.parse(`{${rest.slice(1)}}`)).toEqual(sent);
      }),
    );
  });

  it("keeps __proto__ as an ordinary key", () => {
    const envelope = JSON.parse('{"capability":"x","input":{"__proto__":{"polluted":1}},"__proto__":{"a":1}}');
    const { rest } = prepare(envelope, newId);
    expect(rest).toContain('"__proto__":{"a":1}');
    expect(rest).toContain('"input":{"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("ids", () => {
  it("are UUIDs of version 7, unique, and begin with their time", () => {
    const ids = Array.from({ length: 5_000 }, () => newId());
    expect(new Set(ids).size).toBe(5_000);
    for (const id of ids) expect(id).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("toJson", () => {
  it("is JSON for everything that JSON carries", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 30 }), (value) => {
        expect(toJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it("refuses what is nested deeper than the wire allows", () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 65; depth++) value = [value];
    expect(toJson(value)).toMatchObject({ reason: expect.stringContaining("64") });
  });

  it("says why a toJSON of the user's own failed", () => {
    const broken = {
      toJSON: () => {
        throw new Error("no address yet");
      },
    };
    expect(toJson({ broken })).toEqual({ path: "$", reason: "no address yet" });
  });
});
