import type { Capability } from "@agent-reach/protocol";
import { ReachError } from "@agent-reach/protocol";
import { describe, expect, test } from "vitest";
import { Contracts, jsonPath } from "./contract.js";

const order = {
  type: "object",
  properties: { order_id: { type: "string" }, lines: { type: "array", items: { type: "object", required: ["sku"] } } },
  required: ["order_id"],
};
const capability = (inputSchema: Capability["inputSchema"], more: Partial<Capability> = {}): Capability => ({
  name: "query_order",
  ...(inputSchema !== undefined && { inputSchema }),
  ...more,
});
const common = new Contracts();
const check = (schema: Capability["inputSchema"], input: unknown) => common.of(capability(schema)).checkInput?.(input);
const refusal = (run: () => void): ReachError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ReachError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("DLV-13: input against the capability's schema", () => {
  test("what fits is fine, and what does not is named by path and rule", () => {
    expect(check(order, { order_id: "1", lines: [{ sku: "a" }] })).toBeUndefined();
    expect(check(order, {})).toMatchObject({ path: "order_id" });
    expect(check(order, { order_id: "1", lines: [{ sku: "a" }, {}] })).toMatchObject({ path: "lines[1].sku" });
    expect(check(order, { order_id: 7 })).toEqual({ path: "order_id", rule: "must be string" });
    expect(check(order, "text")).toMatchObject({ path: "" });
  });

  test("no schema, or `true`, takes everything; `false` nothing", () => {
    expect(new Contracts().of(capability(undefined)).checkInput).toBeUndefined();
    expect(check(true, { any: 1 })).toBeUndefined();
    expect(check(false, { any: 1 })).toBeDefined();
  });

  test("nothing is coerced and no default is filled in", () => {
    const schema = { type: "object", properties: { n: { type: "number" }, m: { default: 3 } } };
    const input = { n: "5" };
    expect(check(schema, input)).toMatchObject({ path: "n" });
    const fine = { n: 5 };
    expect(check(schema, fine)).toBeUndefined();
    expect(fine).toEqual({ n: 5 });
  });

  test("CAT-1: both drafts are understood, each with its own words", () => {
    const tuple = [{ type: "string" }, { type: "number" }];
    const new2020 = { type: "array", prefixItems: tuple };
    const draft7 = { $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: tuple };
    for (const schema of [new2020, draft7]) {
      expect(check(schema, ["a", 1])).toBeUndefined();
      expect(check(schema, ["a", "b"])).toMatchObject({ path: "[1]" });
    }
  });

  test("keys called __proto__ and constructor are ordinary keys", () => {
    const schema = JSON.parse('{"type":"object","required":["__proto__"]}');
    expect(check(schema, JSON.parse('{"__proto__":1}'))).toBeUndefined();
    expect(check(schema, {})).toBeDefined();
    expect(check({ type: "object", properties: { constructor: { type: "string" } } }, {})).toBeUndefined();
  });
});

describe("RES-7: a user's schema cannot hurt the node", () => {
  test("a pattern that explodes elsewhere is answered at once", () => {
    const evil = { type: "string", pattern: "^(a+)+$" };
    const before = performance.now();
    expect(check(evil, `${"a".repeat(5_000)}!`)).toBeDefined();
    expect(check(evil, "a".repeat(5_000))).toBeUndefined();
    expect(check({ type: "object", patternProperties: { "^(a|a)*$": false } }, { [`${"a".repeat(5_000)}!`]: 1 })).toBe(
      undefined,
    );
    // Backtracking would take longer than the age of the universe, so any bound does, also on a busy machine.
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  test("a pattern which RE2 does not know is refused by its path", () => {
    const error = refusal(() => common.verify(capability({ type: "string", pattern: "(?=a)b" }), 2));
    expect(error).toMatchObject({ code: "INVALID_CARD", path: "capabilities[2].inputSchema" });
  });

  test("REG-9: a schema that is none is refused with the path and the remedy", () => {
    const contracts = new Contracts();
    const error = refusal(() => contracts.verify(capability({ type: "strin" }), 0));
    expect(error).toMatchObject({ code: "INVALID_CARD", path: "capabilities[0].inputSchema" });
    expect(error.message).toContain("Mend the schema");
    expect(refusal(() => contracts.verify(capability(undefined, { outputSchema: { type: 5 } }), 1)).path).toBe(
      "capabilities[1].outputSchema",
    );
  });

  test("a reference to what is not there is refused, and one to another host is not fetched", () => {
    for (const $ref of ["#/$defs/missing", "http://127.0.0.1:9/other.json", "other.json"]) {
      const error = refusal(() => common.verify(capability({ $ref }), 0));
      expect(error).toMatchObject({ code: "INVALID_CARD", path: "capabilities[0].inputSchema" });
      expect(error.message).toContain($ref.split("#").pop()!);
    }
  });

  test("two schemas may have the same $id, also after one of them that was refused", () => {
    const contracts = new Contracts();
    const $id = "https://shop.example/order.json";
    refusal(() => contracts.verify(capability({ $id, $ref: "#/$defs/missing" }), 0));
    const text = contracts.of(capability({ $id, type: "string" }));
    const number = contracts.of(capability({ $id, type: "number" }));
    expect([text.checkInput?.("a"), number.checkInput?.(1)]).toEqual([undefined, undefined]);
    expect([text.checkInput?.(1), number.checkInput?.("a")]).toEqual([
      expect.objectContaining({ path: "" }),
      expect.objectContaining({ path: "" }),
    ]);
  });

  test("more schemas than are kept compiled go on working", () => {
    const contracts = new Contracts();
    const first = contracts.of(capability({ const: -1 }));
    expect(first.checkInput?.(-1)).toBeUndefined();
    for (let i = 0; i < 4_100; i++) contracts.of(capability({ const: i }));
    expect(first.checkInput?.(-1)).toBeUndefined();
    expect(first.checkInput?.(0)).toBeDefined();
  });
});

test("a JSON pointer is written as a path, escapes undone", () => {
  expect(jsonPath("/items/0/id")).toBe("items[0].id");
  expect(jsonPath("/a~1b/c~0d")).toBe("a/b.c~d");
  expect(jsonPath("")).toBe("");
});
