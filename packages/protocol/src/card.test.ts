import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sorted, vectors } from "../../../test/kit/vectors.js";
import { type CardReading, readCard } from "./card.js";
import { limits } from "./limits.js";
import { snakeOf } from "./spelling.js";

interface ValidCard {
  title: string;
  transport?: "ws" | "pull";
  raw: unknown;
  card: unknown;
  hints?: unknown;
  warnings?: string[];
}
interface InvalidCard {
  title: string;
  transport?: "ws" | "pull";
  raw: unknown;
  path: string;
  rule: string;
}
const { valid, invalid } = vectors<{ valid: ValidCard[]; invalid: InvalidCard[] }>("cards");
const overSocket = { transport: "ws" } as const;

function accepted(reading: CardReading) {
  if (!reading.ok) throw new Error(`refused at "${reading.path}": ${reading.message}`);
  return reading;
}

function refused(raw: unknown) {
  const reading = readCard(raw, overSocket);
  return reading.ok ? "accepted" : { path: reading.path, rule: reading.rule };
}

describe("REG-8: cards in every accepted spelling are read as one", () => {
  test.each(valid)("$title", ({ raw, card, hints, warnings, transport = "ws" }) => {
    const before = sorted(raw);
    const reading = accepted(readCard(raw, { transport }));
    expect(sorted(reading.card)).toBe(sorted(card));
    if (hints !== undefined) expect(reading.hints).toEqual(hints);
    if (warnings !== undefined) expect(reading.warnings.map((warning) => warning.split(":")[0])).toEqual(warnings);
    expect(sorted(raw), "what was sent is left alone").toBe(before);
  });

  test.each(valid)("read again it is the same card: $title", ({ raw, transport = "ws" }) => {
    const { card } = accepted(readCard(raw, { transport }));
    const again = accepted(readCard(JSON.parse(JSON.stringify(card)), { transport }));
    expect(sorted(again.card)).toBe(sorted(card));
    expect(again.hints).toEqual({});
  });
});

describe("REG-9: a bad card is refused with the path and the rule", () => {
  test.each(invalid)("$title", ({ raw, path, rule, transport = "ws" }) => {
    const reading = readCard(raw, { transport });
    expect(reading).toMatchObject({ ok: false, path, rule });
    // The sentence names the place, so that it can stand alone in a log.
    if (!reading.ok && path !== "") expect(reading.message.startsWith(path)).toBe(true);
  });

  const capabilities = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `c${n}`, idempotent: true }));

  test("one capability more than the limit is too many", () => {
    expect(refused({ agentId: "a", capabilities: capabilities(limits.capabilitiesMax) })).toBe("accepted");
    expect(refused({ agentId: "a", capabilities: capabilities(limits.capabilitiesMax + 1) })).toEqual({
      path: "capabilities",
      rule: "maxItems",
    });
  });

  test("a card over the size limit is refused, counted in bytes of UTF-8", () => {
    const card = (letters: number) => ({ agentId: "a", x: "字".repeat(letters) });
    const room =
      limits.cardBytesMax -
      new TextEncoder().encode(JSON.stringify(accepted(readCard(card(0), overSocket)).card)).length;
    expect(refused(card(Math.floor(room / 3)))).toBe("accepted");
    expect(refused(card(Math.floor(room / 3) + 1))).toEqual({ path: "", rule: "cardBytesMax" });
  });

  test("a schema over its size limit is refused", () => {
    const card = {
      agentId: "a",
      capabilities: [{ name: "c", inputSchema: { description: "x".repeat(limits.schemaBytesMax) } }],
    };
    expect(refused(card)).toEqual({ path: "capabilities[0].inputSchema", rule: "schemaBytesMax" });
  });

  test("a description that is too long is refused", () => {
    const card = { agentId: "a", description: "x".repeat(limits.textLengthMax + 1) };
    expect(refused(card)).toEqual({ path: "description", rule: "maxLength" });
  });

  test("P08: nesting of a hundred thousand levels exhausts nothing", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(refused({ agentId: "a", x: deep })).toEqual({ path: "", rule: "nestingMax" });
  });

  test("what names an MCP server or a tool is told apart in the message", () => {
    const message = (raw: unknown) => (readCard(raw, overSocket) as { message: string }).message;
    expect(message({ tools: [] })).toContain("MCP server");
    expect(message({ name: "t", inputSchema: {} })).toContain("single tool");
    expect(message({ name: "t" })).toContain("A2A");
  });
});

describe("DLV-19: a capability that does not say whether it is idempotent", () => {
  test("is named in one warning for the whole card", () => {
    const names = ["one", "two", "three", "four", "five", "six", "seven"];
    const { warnings } = accepted(readCard({ agentId: "a", skills: names }, overSocket));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("one, two, three, four, five and 2 more");
  });
});

describe("whatever the JSON", () => {
  const anyKey = fc.oneof(
    fc.constantFrom(
      ...[
        "agentId",
        "agent_id",
        "name",
        "displayName",
        "id",
        "capabilities",
        "skills",
        "params",
        "semantic",
        "inputSchema",
      ],
      ...["transport", "type", "endpoint", "labels", "region", "facts", "load", "required", "__proto__", "constructor"],
    ),
    fc.string(),
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, false, 0, -1, 1.5, 1e308, "", "a", "ws", "http"),
      fc.string(),
      fc.array(tie("json"), { maxLength: 4 }),
      // Through text, so that `__proto__` is the own key that a parser makes.
      fc.array(fc.tuple(anyKey, tie("json")), { maxLength: 8 }).map((members) => {
        return JSON.parse(
          `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
        );
      }),
    ),
  }));

  // Many of these are nearly cards, so that what comes after the first refusal is reached as well.
  const members = fc.dictionary(anyKey, json, { maxKeys: 3 });
  const capabilities = fc
    .array(members, { maxLength: 3 })
    .map((list) => list.map((rest, n) => ({ ...rest, name: `c${n}` })));
  const nearCard = fc.tuple(members, fc.oneof(capabilities, json)).map(([rest, list]) => {
    return { ...rest, agentId: "a", capabilities: list };
  });

  test("reading never throws, never pollutes, and is the identity on what it made", () => {
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(json, nearCard), fc.constantFrom("ws" as const, "pull" as const), (raw, transport) => {
        const reading = readCard(raw, { transport });
        expect(Object.keys(Object.prototype)).toEqual([]);
        if (!reading.ok) return;
        read += 1;
        expect(Object.getPrototypeOf(reading.card)).toBe(Object.prototype);
        const again = accepted(readCard(JSON.parse(JSON.stringify(reading.card)), { transport }));
        expect(sorted(again.card)).toBe(sorted(reading.card));
      }),
      { numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  test("a card with an agentId and well-formed capabilities is read, whatever stands beside them", () => {
    const beside = fc.dictionary(
      fc
        .string()
        .filter((key) => /^x-/.test(`x-${key}`))
        .map((key) => `x-${key}`),
      json,
    );
    fc.assert(
      fc.property(beside, (unknown) => {
        const { card } = accepted(readCard({ ...unknown, agentId: "a" }, overSocket));
        for (const [key, value] of Object.entries(unknown)) {
          if (value !== null) expect(sorted(card[key])).toBe(sorted(value));
        }
      }),
    );
  });

  test("REG-8: a card and its snake_case twin read the same", () => {
    const word = fc.string({ minLength: 1, maxLength: 20 });
    const some = { requiredKeys: [] as never[] };
    const capability = fc.record(
      {
        description: word,
        operation: word,
        objectType: word,
        inputSchema: fc.constantFrom({ type: "object" }, true, { properties: { agent_id: {} } }),
        outputSchema: fc.constantFrom({}, false),
        idempotent: fc.boolean(),
        costTier: fc.constantFrom("low", "medium", "high"),
        timeoutHintMs: fc.integer({ min: 1, max: 1e6 }),
      },
      some,
    );
    const card = fc.record(
      {
        description: word,
        maxConcurrentTasks: fc.integer({ min: 1, max: 1000 }),
        heartbeatIntervalSec: fc.integer({ min: 1, max: 60 }),
        successRate: fc.double({ min: 0, max: 1, noNaN: true }),
        p50LatencyMs: fc.nat(),
        capabilities: fc.uniqueArray(word, { maxLength: 4 }).chain((names) => {
          return fc.tuple(...names.map((name) => capability.map((rest) => ({ name, ...rest }))));
        }),
      },
      some,
    );
    const snake = (object: object) =>
      Object.fromEntries(Object.entries(object).map(([key, value]) => [snakeOf(key), value]));
    fc.assert(
      fc.property(card, (camel) => {
        const twin = {
          ...snake(camel),
          agent_id: "a",
          ...(camel.capabilities && { capabilities: camel.capabilities.map(snake) }),
        };
        const one = accepted(readCard({ ...camel, agentId: "a" }, overSocket));
        const two = accepted(readCard(twin, overSocket));
        expect(sorted(two)).toBe(sorted(one));
      }),
    );
  });
});
