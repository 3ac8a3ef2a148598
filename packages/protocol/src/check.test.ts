import fc from "fast-check";
import { expect, test } from "vitest";
import { Ajv2020 } from "../../../test/kit/ajv.js";
import { type Violation, violation } from "./check.js";
import type { JsonObject } from "./json.js";
import { Capability, Card } from "./schemas.js";

const ajv = new Ajv2020({ strict: false });
const value = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -1,
    1.5,
    10,
    5000,
    1e13,
    "",
    "a",
    "low",
    "ws",
    "a b",
    "x".repeat(200),
    "🎉".repeat(128),
    "🎉".repeat(129),
  ),
  fc.constantFrom<unknown>(
    {},
    [],
    { a: "b" },
    { a: 1 },
    ["a"],
    ["", 1],
    { type: "ws" },
    { type: "carrier" },
    [{ name: "c" }],
    [{}],
  ),
);
const object = (keys: string[]) => fc.dictionary(fc.constantFrom(...keys, "other"), value);

for (const [title, schema] of [
  ["Card", Card],
  ["Capability", Capability],
] as const) {
  test(`${title}: accepts exactly what a full validator accepts`, () => {
    const check = ajv.compile(JSON.parse(JSON.stringify(schema)));
    fc.assert(
      fc.property(fc.oneof(value, object(Object.keys(schema.properties))), (candidate) => {
        expect(violation(schema as unknown as JsonObject, candidate) === undefined).toBe(check(candidate));
      }),
      { numRuns: 3000 },
    );
  });
}

test("every keyword of a card's schema is one that the checker knows", () => {
  const known =
    "type enum minLength maxLength pattern minimum maximum items maxItems required properties additionalProperties maxProperties description";
  const found = new Set<string>();
  const walk = (schema: JsonObject) => {
    for (const [keyword, member] of Object.entries(schema)) {
      found.add(keyword);
      if (keyword === "properties")
        for (const property of Object.values(member as JsonObject)) walk(property as JsonObject);
      if (keyword === "items" || keyword === "additionalProperties") walk(member as JsonObject);
    }
  };
  walk(JSON.parse(JSON.stringify(Card)));
  expect([...found].filter((keyword) => !known.split(" ").includes(keyword))).toEqual([]);
});

test("names the place and the rule", () => {
  const broken = violation(Card as unknown as JsonObject, {
    agentId: "a",
    capabilities: [{ name: "c" }, { name: "" }],
  });
  expect(broken).toEqual<Violation>({
    at: ["capabilities", 1, "name"],
    rule: "minLength",
    expected: "must not be empty",
  });
});
