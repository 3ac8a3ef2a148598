import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sorted, vectors } from "../../../test/kit/vectors.js";
import { readEnvelope } from "./envelope.js";
import { type JsonObject, own } from "./json.js";

interface Case {
  title: string;
  subject?: "capability" | "topic";
  raw: JsonObject;
  envelope: unknown;
  inputKey: string[];
  renamed?: boolean;
}
const { cases } = vectors<{ cases: Case[] }>("envelopes");

describe("DLV-20: envelopes in every accepted spelling are read as one", () => {
  test.each(cases)("$title", ({ raw, envelope, inputKey, subject, renamed = true }) => {
    const before = sorted(raw);
    const reading = readEnvelope(raw, subject && { subject });
    expect(sorted(reading.envelope)).toBe(sorted(envelope));
    expect(reading.inputKey).toEqual(inputKey);
    expect(reading.renamed).toBe(renamed);
    expect(sorted(raw), "what was sent is left alone").toBe(before);
  });

  test("a canonical envelope is handed through as the same object", () => {
    const raw = { capability: "c", input: { a_b: null }, target: { agentId: "a" }, source: {}, "x-acme": 1 };
    expect(readEnvelope(raw).envelope).toBe(raw);
  });

  test("the flat form's seq alone makes no idempotencyKey", () => {
    expect(own(readEnvelope({ subject: "c", payload: 1, seq: 1 }).envelope, "idempotencyKey")).toBeUndefined();
  });
});

describe("whatever the JSON", () => {
  const keys = [
    ...[
      "capability",
      "input",
      "payload",
      "subject",
      "task",
      "source",
      "target",
      "seq",
      "sequence",
      "trace_id",
      "traceId",
    ],
    ...[
      "timestamp",
      "session_ref",
      "sessionRef",
      "from_agent",
      "to_agent",
      "to_instance",
      "agent_id",
      "agentId",
      "__proto__",
    ],
  ];
  const { json, object } = fc.letrec<{ json: unknown; object: JsonObject }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 0, -1, 1e300, "", "a"),
      fc.string(),
      fc.array(tie("json"), { maxLength: 3 }),
      tie("object"),
    ),
    object: fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...keys), fc.string()), tie("json")), { maxLength: 8 })
      .map((members) => {
        return JSON.parse(
          `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
        );
      }),
  }));
  const topics = fc.constantFrom(undefined, { subject: "topic" as const });

  test("reading never throws, never pollutes, and what it made is canonical", () => {
    fc.assert(
      fc.property(object, topics, (raw, options) => {
        const { envelope } = readEnvelope(raw, options);
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect(Object.getPrototypeOf(envelope)).toBe(Object.prototype);
        expect(sorted(readEnvelope(envelope, options).envelope)).toBe(sorted(envelope));
      }),
      { numRuns: 2000 },
    );
  });

  test("the input is found where inputKey says", () => {
    fc.assert(
      fc.property(
        object,
        json,
        fc.constantFrom(["input"], ["payload"], ["task", "input"], ["task", "payload"]),
        (rest, value, path) => {
          const raw: JsonObject = { ...rest };
          delete raw["input"];
          delete raw["payload"];
          delete raw["task"];
          const [outer, inner] = path as readonly string[] as [string, string?];
          raw[outer] = inner === undefined ? value : { [inner]: value };
          const { envelope, inputKey } = readEnvelope(raw);
          expect(inputKey).toEqual(path);
          expect(sorted(own(envelope, "input"))).toBe(sorted(value));
        },
      ),
    );
  });
});
