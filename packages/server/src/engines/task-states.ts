import { ReachError, type TaskState } from "@agent-reach/protocol";
import type { TaskCounts } from "../ports/task-store.js";

/** States in which nothing waits for anybody: they end the wait of a successor in the same order. */
export const terminalStates = ["completed", "failed", "canceled", "dead"] as const satisfies readonly TaskState[];

export function isTerminal(state: TaskState): boolean {
  return state === "completed" || state === "failed" || state === "canceled" || state === "dead";
}

export function noTasks(): TaskCounts["byState"] {
  return { queued: 0, delivered: 0, working: 0, completed: 0, failed: 0, canceled: 0, dead: 0, stalled: 0 };
}

export function storeClosed(): ReachError {
  return new ReachError("NOT_READY", "the store is closed, since its node has stopped; start the node again", {
    details: { reason: "closed" },
  });
}
