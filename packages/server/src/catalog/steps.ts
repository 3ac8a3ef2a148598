import type { System } from "../ports/system.js";
import { Pace } from "../time/pace.js";

/**
 * Work in steps, between which others may have the event loop. It is written once, as a generator, and gone through by whoever
 * may hold everybody up, or bit by bit.
 */
export type Steps<T> = Generator<void, T>;

/** All steps at once. */
export function finished<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** So long it goes on before others have their turn, ms, and for up to one step more. */
const TURN_MS = 3;

/** A few steps at a time. */
export async function inTurns<T>(
  steps: Steps<T>,
  system: Pick<System, "monotonic" | "after">,
  turnMs = TURN_MS,
): Promise<T> {
  const pace = new Pace(system, turnMs);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const rest = pace.rest();
    if (rest !== undefined) await rest;
  }
}
