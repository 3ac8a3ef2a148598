import type { System } from "../../ports/system.js";

/** So many failures in a row, and it is left alone. */
const FAILURES_MAX = 3;
const REST_MS = 10_000;
/** A server that asks for more is asked again all the same. */
const REST_MS_MAX = 60_000;

/**
 * Whether somebody who fails again and again is to be left alone for a while, so that nobody waits for it in vain. After the rest
 * one failure more is enough for the next one.
 */
export class Rest {
  private failures = 0;
  /** Monotonic ms. */
  private until = Number.NEGATIVE_INFINITY;

  constructor(private readonly system: System) {}

  /** 0: it may be asked. */
  get leftMs(): number {
    return Math.max(0, this.until - this.system.monotonic());
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** `askedMs`: what it asked for itself. Answers for how many ms it rests from now on; 0 if it does not, or did already. */
  failed(askedMs = 0): number {
    this.failures++;
    const resting = this.leftMs > 0;
    const restMs = Math.min(REST_MS_MAX, Math.max(askedMs, this.failures >= FAILURES_MAX ? REST_MS : 0));
    this.until = Math.max(this.until, this.system.monotonic() + restMs);
    return resting ? 0 : restMs;
  }
}
