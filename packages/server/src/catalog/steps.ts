import type { System } from "../ports/system.js";

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
const TURN_MS = 4;

/** A few steps at a time. */
export function inTurns<T>(steps: Steps<T>, system: Pick<System, "monotonic" | "after">, turnMs = TURN_MS): Promise<T> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      try {
        const until = system.monotonic() + turnMs;
        let step = steps.next();
        while (step.done !== true && system.monotonic() < until) step = steps.next();
        if (step.done === true) resolve(step.value);
        else system.after(0, go);
      } catch (error) {
        reject(error);
      }
    };
    go();
  });
}
