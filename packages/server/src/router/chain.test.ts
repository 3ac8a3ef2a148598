import { describe, expect, test } from "vitest";
import { chainOf, HOPS_MAX, loopIn, type Parent } from "./chain.js";

/** Hashes of two inputs. */
const [same, other] = [7, 8];

const uuid = (n: number): string => `0199a5c2-6f0e-7c11-9b1e-${String(n).padStart(12, "0")}`;

/** A message at the given depth, each one nested in the one before and asking for something else. */
function nested(depth: number): Parent {
  const parent = depth === 1 ? undefined : nested(depth - 1);
  return {
    messageId: uuid(depth),
    traceId: "8f3a1c2e9b7d4f1a8f3a1c2e9b7d4f1a",
    capability: `step-${depth}`,
    inputHash: same,
    source: depth === 1 ? {} : { agentId: `agent-${depth - 1}` },
    chain: chainOf(parent),
    parent,
    worker: `agent-${depth}`,
    deadline: 1_000,
  };
}

describe("RES-8: chains of calls within calls", () => {
  test("a message that stands alone has none", () => {
    expect(chainOf(undefined)).toEqual([]);
    expect(loopIn(undefined, [], "any", undefined, same)).toBeUndefined();
  });

  test("the chain names who asked and by which message, outermost first", () => {
    expect(chainOf(nested(3))).toEqual([
      { messageId: uuid(1) },
      { agentId: "agent-1", messageId: uuid(2) },
      { agentId: "agent-2", messageId: uuid(3) },
    ]);
  });

  test("as many hops as are allowed, and not one more", () => {
    const deepest = nested(HOPS_MAX);
    expect(loopIn(deepest, chainOf(deepest), "next", undefined, same)).toBeUndefined();
    const beyond = nested(HOPS_MAX + 1);
    expect(loopIn(beyond, chainOf(beyond), "next", undefined, same)).toMatchObject({
      code: "LOOP_DETECTED",
      details: { hopsMax: HOPS_MAX },
    });
  });

  test("the same request within its own chain is a loop, at whatever distance", () => {
    const parent = nested(5);
    for (const depth of [1, 3, 5]) {
      expect(loopIn(parent, chainOf(parent), `step-${depth}`, undefined, same)).toMatchObject({
        code: "LOOP_DETECTED",
        retryable: false,
        details: { messageId: uuid(depth) },
      });
    }
  });

  test("the same capability with another input is none, nor the same input for another", () => {
    const parent = nested(5);
    expect(loopIn(parent, chainOf(parent), "step-3", undefined, other)).toBeUndefined();
    expect(loopIn(parent, chainOf(parent), "step-9", undefined, same)).toBeUndefined();
  });

  test("the same request for another agent is none: whoever cannot do it may hand it on", () => {
    const parent = nested(5);
    expect(loopIn(parent, chainOf(parent), "step-3", "agent-9", same)).toBeUndefined();
    expect(loopIn(parent, chainOf(parent), "step-3", "agent-3", same)).toMatchObject({ code: "LOOP_DETECTED" });
  });
});
