import type { TaskState } from "@agent-reach/protocol";

/** The number of a state in the file is its place here. Entries are never moved: open ones come first, then those that ended. */
export const storedStates = [
  "queued",
  "delivered",
  "working",
  "stalled",
  "completed",
  "failed",
  "canceled",
  "dead",
] as const satisfies readonly TaskState[];

const numbers = new Map<TaskState, number>(storedStates.map((state, number) => [state, number]));

export function stateNumber(state: TaskState): number {
  return numbers.get(state)!;
}

/** In somebody's hands or stalled, as `FLYING` says it in SQL. */
export function isFlying(state: TaskState): boolean {
  const number = stateNumber(state);
  return number > 0 && number < 4;
}

// The conditions of the partial indexes, word for word, which is how SQLite knows that an index applies.
export const QUEUED = "state = 0";
export const FLYING = "state > 0 AND state < 4";
export const TERMINAL = "state >= 4";
export const TROUBLE = "state >= 5";
export const ORDERED = "order_key IS NOT NULL";
