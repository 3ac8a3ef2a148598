import fc from "fast-check";
import { expect, test } from "vitest";
import { newInstance } from "../ports/conformance/samples.js";
import { LiveInstance, Offer } from "../registry/instance.js";
import { candidateText } from "./candidate-text.js";
import { type Considered, describeCandidate } from "./decision.js";

const fraction = fc.integer({ min: 0, max: 2_000_000 });
const capability = fc.record(
  { name: fc.string({ minLength: 1 }), version: fc.string(), costTier: fc.constantFrom("low", "medium", "high") },
  { requiredKeys: ["name"] },
);
const numbers = fc.record({
  verdict: fc.constant("lower_score"),
  match: fc.double({ min: 0, max: 1, noNaN: true }),
  score: fc.oneof(fc.integer(), fc.constantFrom(Number.POSITIVE_INFINITY, -0)),
  p50: fc.option(fraction, { nil: undefined }),
  success: fc.option(fraction, { nil: undefined }),
  load: fraction,
  health: fraction,
  running: fc.nat(),
  queued: fc.nat(),
  state: fc.constantFrom("online", "suspect"),
});

test("the text of a candidate is the JSON of its description", () => {
  const facts = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined });
  fc.assert(
    fc.property(
      fc.string(),
      capability,
      numbers,
      facts,
      fc.array(fc.string()),
      (agentId, what, known, said, reasons) => {
        const instance = new LiveInstance(newInstance("i", agentId), { heartbeatIntervalMs: 1, ttlMs: 1, graceMs: 1 });
        instance.facts = said;
        const offer = new Offer(instance, what as Offer["capability"], {
          checkInput: undefined,
          checkOutput: undefined,
        });
        const considered = { offer, ...known } as Considered;
        expect(candidateText(considered, JSON.stringify(reasons))).toBe(
          JSON.stringify(describeCandidate(considered, reasons)),
        );
      },
    ),
  );
});
