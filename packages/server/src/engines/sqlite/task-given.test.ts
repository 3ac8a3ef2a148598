import fc from "fast-check";
import { expect, test } from "vitest";
import { newTask } from "../../ports/conformance/samples.js";
import type { TaskRequest } from "../../ports/task-store.js";
import { packGiven, unpackGiven } from "./task-given.js";

const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined });
const request = fc
  .record({
    source: fc.constantFrom({}, { agentId: "a" }, { instanceId: "i" }),
    timeoutMs: fc.nat(),
    completionTimeoutMs: fc.nat(),
    onStalled: fc.constantFrom("review", "redeliver", "fail"),
    delivery: fc.constantFrom("atLeastOnce", "atMostOnce"),
    sessionId: maybe(fc.string()),
    sequence: maybe(fc.nat()),
    ackTimeoutMs: maybe(fc.nat()),
    labels: maybe(fc.dictionary(fc.string(), fc.string())),
    weights: maybe(fc.jsonValue()),
  })
  .map((some) => some as TaskRequest);

test("what the sender said comes back as JSON keeps it", () => {
  fc.assert(
    fc.property(
      request,
      fc.string(),
      maybe(fc.string()),
      fc.constantFrom("default", "other"),
      (asked, principal, key, tenant) => {
        const task = newTask({ request: asked, principal, tenant, ...(key !== undefined && { idempotencyKey: key }) });
        const { contentHash, idempotencyKey } = task;
        const expected = JSON.parse(JSON.stringify(asked)) as TaskRequest;
        expect(unpackGiven(packGiven(task), task.messageId)).toEqual({
          principal,
          tenant,
          contentHash,
          idempotencyKey,
          request: expected,
        });
      },
    ),
  );
});

test("it is short where nothing special was asked for", () => {
  const plain = { source: {}, timeoutMs: 1, completionTimeoutMs: 1, onStalled: "review", delivery: "atLeastOnce" };
  expect(packGiven(newTask({ request: plain as TaskRequest }))).toBe('["shop",0,"c0ffee",0,1,null,0,0]');
});
