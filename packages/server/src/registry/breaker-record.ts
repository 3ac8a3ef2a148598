/** The window that a breaker looks back on: so many outcomes, and none that is older. */
export const OUTCOMES_KEPT = 16;
export const WINDOW_MS = 60_000;

export type BreakerState = "closed" | "open" | "half_open";

/** A breaker as people read it, in events, in the log and in the view of instances. */
export interface BreakerFacts {
  state: BreakerState;
  /** When it opened, of so many outcomes within the window so many were failures, and the last failure was this. */
  failures: number;
  outcomes: number;
  windowMs: number;
  lastFailure?: string;
  /** Since it first opened. */
  brokenForMs: number;
  /** Until the next message may go there; absent when that is closed to nobody. */
  probeInMs?: number;
}

/**
 * What is kept of an offer's circuit breaker: one of the fast numbers of a live instance, like `Measured`. What changes it,
 * and when, is decided in `router/breaker.ts` alone. All moments are monotonic ms.
 */
export class BreakerRecord {
  state: BreakerState = "closed";
  /** What becomes of attempts that were sent before this moment says nothing any more. */
  countsFrom = Number.NEGATIVE_INFINITY;
  /** When the present outage began, and when the last one ended. */
  brokenSince = 0;
  closedAt = Number.NEGATIVE_INFINITY;
  /** Open: when a probe is due. Half-open: until when the probe that is out keeps others back; 0 when none is out. */
  probeAt = 0;
  /** What ended the last attempt that failed. */
  lastFailure: string | undefined;
  failures = 0;
  volume = 0;
  /** The newest outcomes, in a ring: when each came, below zero for a failure; 0: none yet. */
  readonly outcomes = new Float64Array(OUTCOMES_KEPT);
  next = 0;

  describe(now: number): BreakerFacts {
    const facts: BreakerFacts = {
      state: this.state,
      failures: this.failures,
      outcomes: this.volume,
      windowMs: WINDOW_MS,
      brokenForMs: Math.round(now - this.brokenSince),
    };
    if (this.lastFailure !== undefined) facts.lastFailure = this.lastFailure;
    if (this.state !== "closed") facts.probeInMs = this.probeInMs(now);
    return facts;
  }

  /** How long until a message may go there, as far as can be told; 0 when one may now. */
  probeInMs(now: number): number {
    return this.state === "closed" ? 0 : Math.max(0, Math.ceil(this.probeAt - now));
  }
}
