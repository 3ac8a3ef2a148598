import { ReachError } from "@agent-reach/protocol";
import type { Expiry } from "../ports/delivery.js";
import type { System } from "../ports/system.js";
import type { TaskRecord } from "../ports/task-store.js";
import { expiryText } from "../router/expiry.js";
import type { TaskEvent } from "./lifecycle.js";
import { retryAt } from "./retry.js";
import { hasStandIn } from "./stand-ins.js";

/** Nobody said in time that a task was received: it goes out again, or is a dead letter when the retries are spent. */
export function unacknowledged(
  task: TaskRecord,
  backoffMs: readonly number[],
  system: System,
  expiry?: Expiry,
): Extract<TaskEvent, { type: "unacknowledged" }> {
  const tries = task.deliveryFailures + 1;
  const what = expiry === undefined ? "did not acknowledge in time" : expiryText(expiry);
  const error = new ReachError(
    "DELIVERY_TIMEOUT",
    `${task.agentId} ${what} (${tries} ${tries === 1 ? "attempt" : "attempts"}); the task is in dead letters, requeue it with \`agent-reach dead requeue ${task.messageId}\`.`,
    { outcome: "unknown", details: { attempts: tries, agentId: task.agentId, ...expiry } },
  );
  return {
    type: "unacknowledged",
    attempt: task.attempt,
    outcome: "no_ack",
    retryAt: nextTryAt(task, backoffMs, system),
    error: error.toBody(),
  };
}

/** When a task that nobody took goes out again: after the usual wait, then at once to whoever stands in, then never. */
export function nextTryAt(task: TaskRecord, backoffMs: readonly number[], system: System): number | undefined {
  const now = system.now();
  return retryAt(task.deliveryFailures, backoffMs, now, system.random()) ?? (hasStandIn(task) ? now : undefined);
}
