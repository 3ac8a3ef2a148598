import fc from "fast-check";
import { expect, test } from "vitest";
import { newTask } from "../ports/conformance/samples.js";
import type { TaskRecord } from "../ports/task-store.js";
import { taskText } from "./text.js";

const record = (some: Partial<TaskRecord> = {}): TaskRecord => ({ ...newTask(), seq: 1, revision: 1, ...some });
const read = (task: TaskRecord, parts = { input: false }) =>
  JSON.parse(taskText(task, parts)) as Record<string, unknown>;

test("times are ISO 8601 in UTC, to the millisecond", () => {
  const day = 86_400_000;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 100_000 * day }), { minLength: 3, maxLength: 3 }), ([a, b, c]) => {
      const task = record({ createdAt: a!, dueAt: b!, deadlineAt: c! });
      const [createdAt, dueAt, deadlineAt] = [a, b, c].map((ms) => new Date(ms!).toISOString());
      expect(read(task)).toMatchObject({ createdAt, dueAt, deadlineAt });
    }),
  );
});

test("words of the sender are escaped; input and data stand as they came, to the digit", () => {
  const odd = 'a "quoted"\n\\ \ud800 name';
  const task = record({
    capability: odd,
    idempotencyKey: odd,
    groupId: odd,
    input: '{"n":12345678901234567890}',
    data: "1.0",
    error: { code: "AGENT_ERROR", message: odd, retryable: false, outcome: "executed" } as TaskRecord["error"],
    state: "failed",
  });
  expect(read(task)).toMatchObject({ capability: odd, idempotencyKey: odd, groupId: odd, reason: "business_error" });
  expect(read(task)).not.toHaveProperty("input");
  const text = taskText(task, { input: true });
  expect(text).toContain('"input":{"n":12345678901234567890}');
  expect(text).toContain('"data":1.0');
});

test("what has not happened is left out", () => {
  const sent = { attempt: 1, agentId: "a1", instanceId: "i1", epoch: 2, sentAt: 5, outcome: "pending" as const };
  const task = read(record({ attempt: 1, agentId: "a1", instanceId: "i1", attempts: [sent], dueAt: undefined }));
  expect(task["attempts"]).toEqual([{ ...sent, sentAt: "1970-01-01T00:00:00.005Z" }]);
  for (const key of ["dueAt", "settledAt", "groupId", "error", "reason", "receipt", "data"])
    expect(task).not.toHaveProperty(key);
});
