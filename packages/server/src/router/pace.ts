/** Nobody is sent away for longer on a guess: a downstream that is well again should hear of its callers soon. */
const WAIT_MAX_MS = 5_000;
/** Said where nothing has moved yet. */
export const UNKNOWN_MS = 1_000;
const WAIT_MIN_MS = 10;
/** Share of a new gap in the mean, as in TCP's estimate of the round trip (Jacobson 1988). */
const GAIN = 1 / 8;

/**
 * How fast a line moves: the mean time between those who leave it. It answers when there will be room for somebody, which
 * is what `retryAfterMs` of a refusal for want of room says. All times are monotonic ms.
 */
export class Pace {
  private lastAt = Number.NaN;
  private gapMs = Number.NaN;

  /** From now on there is somebody who may leave. */
  begin(now: number): void {
    this.lastAt = now;
  }

  /** Somebody left. */
  tick(now: number): void {
    const gapMs = Math.min(now - this.lastAt, WAIT_MAX_MS);
    this.lastAt = now;
    if (Number.isNaN(gapMs)) return;
    this.gapMs = Number.isNaN(this.gapMs) ? gapMs : this.gapMs + (gapMs - this.gapMs) * GAIN;
  }

  /** Whole ms until as many have left, as far as can be told; a line that has come to a halt is taken for as slow as it is. */
  msUntil(leavers: number, now: number): number {
    const haltMs = Number.isNaN(this.lastAt) ? 0 : now - this.lastAt;
    const gapMs = Number.isNaN(this.gapMs) ? Math.max(haltMs, UNKNOWN_MS / Math.max(1, leavers)) : this.gapMs;
    return Math.round(Math.min(Math.max(leavers * gapMs, haltMs, WAIT_MIN_MS), WAIT_MAX_MS));
  }
}
