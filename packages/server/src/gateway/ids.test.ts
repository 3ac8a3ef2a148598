import { describe, expect, test } from "vitest";
import { callerOf } from "../../../../test/kit/fake-rooms.js";
import { FakeSystem } from "../../../../test/kit/fake-system.js";
import { readMessage } from "./messages.js";
import { check } from "./validate.js";

const UPPER = "0199A5C2-6F0E-7C11-9B1E-2F0D5A7C1E42";
const lower = UPPER.toLowerCase();

const read = (params: Record<string, unknown>) =>
  readMessage(
    "submit",
    params,
    { raw: (key) => JSON.stringify(params[key]), text: () => JSON.stringify(params) },
    {
      caller: callerOf("a1"),
      system: new FakeSystem(),
      inputBytesMax: 1_000_000,
      inheritedTrace: (parentId) => (parentId === lower ? "f".repeat(32) : undefined),
    },
  );

describe("a UUID is the same in either case", () => {
  test("everywhere in an envelope, in each spelling, and its input stays as it was written", () => {
    const input = { messageId: UPPER, target: { instanceId: UPPER } };
    for (const spelled of [
      { messageId: UPPER, parentId: UPPER, target: { instanceId: UPPER } },
      { message_id: UPPER, parent_id: UPPER, target: { instance_id: UPPER } },
      { message_id: UPPER, parent_id: UPPER, to_instance: UPPER },
    ]) {
      const { messageId, envelope, sent, traceId } = read({ ...spelled, capability: "query", input });
      expect([messageId, envelope.messageId, envelope.parentId, envelope.target?.instanceId, sent.parentId]).toEqual(
        Array(5).fill(lower),
      );
      expect(traceId).toBe("f".repeat(32));
      expect(sent.inputText).toBe(JSON.stringify(input));
      expect(envelope.input).toEqual(input);
    }
  });

  test("in the parameters of every method that takes one", () => {
    const takesIds = {
      register: { card: { agentId: "a", instanceId: UPPER }, instanceId: UPPER },
      heartbeat: { instanceId: UPPER, facts: { messageId: UPPER } },
      drain: { instanceId: UPPER, handback: [{ messageId: UPPER, attempt: 1 }] },
      deregister: { instanceId: UPPER },
      "task.get": { messageId: UPPER },
      "task.result": { messageId: UPPER },
      "task.cancel": { messageId: UPPER },
      "task.events": { messageId: UPPER },
      complete: { messageId: UPPER, instanceId: UPPER, attempt: 1, status: "completed", data: { messageId: UPPER } },
      progress: { messageId: UPPER, instanceId: UPPER },
      DeadLetterChoice: { messageIds: [UPPER] },
    } as const;
    for (const [name, params] of Object.entries(takesIds)) {
      const { card, facts, data, ...ids } = structuredClone(params) as Record<string, unknown>;
      const given = {
        ...ids,
        ...(card !== undefined && { card }),
        ...(facts !== undefined && { facts }),
        ...(data !== undefined && { data }),
      };
      check(name as keyof typeof takesIds, given);
      const { card: keptCard, facts: keptFacts, data: keptData, ...now } = given as Record<string, unknown>;
      expect(JSON.stringify(now), name).not.toContain(UPPER);
      // What is the agent's or the caller's own is not ours to change.
      expect([keptCard, keptFacts, keptData]).toEqual([card, facts, data]);
    }
  });

  test("and fields that a method does not know are left alone, whatever they are", () => {
    const odd = { target: null, handback: "x", messageIds: [1, null], messageId: 7, parentId: [UPPER] };
    const given = structuredClone(odd);
    check("ping", given);
    expect(given).toEqual(odd);
  });
});
