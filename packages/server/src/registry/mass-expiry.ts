/**
 * When most of the fleet falls silent at once, the likelier cause is the node itself: its network, its load, its firewall.
 * Then it waits with giving anybody up until it hears again, or until its patience is over (LIVE-7). The thought is that of
 * Netflix Eureka's self-preservation: a register that loses most of its leases at once keeps them rather than believe it.
 *
 *              most of the fleet silent at once
 *   believing ──────────────────────────────────▶ doubting
 *       ▲                                            │
 *       └── heard from enough of them, or patience is over: those who were silent are believed to be gone
 *
 * M1  While the node doubts itself nobody is made offline.
 * M2  Doubt ends: after the patience at the latest, and what was silent then is never doubted for the same silence again.
 * M3  A fleet of fewer than five says nothing: two agents on one laptop go to sleep together every evening.
 */

/** When it happened that an instance fell silent, monotonic ms: heartbeats that do not come tell it only to within one interval. */
export interface Silence {
  from: number;
  to: number;
}

export interface Doubt {
  /** Monotonic ms. */
  since: number;
  silent: number;
  fleet: number;
}

const FLEET_MIN = 5;
/** Losses of links within this time of each other may have one cause. */
export const TOGETHER_MS = 5_000;

/** Whether so many of them that the cause is likely not theirs. */
export function isMost(some: number, all: number): boolean {
  return all >= FLEET_MIN && some * 2 > all;
}

export class MassExpiry {
  doubt: Doubt | undefined;
  /** Silences that began up to this moment were waited for in vain. */
  private believedUntil = Number.NEGATIVE_INFINITY;

  /** `patienceMs` 0: it never doubts itself. */
  constructor(private readonly patienceMs: number) {}

  /**
   * Somebody is about to be given up. Whether to wait with that. `fleet` has everybody who has a lease: undefined for those
   * who are heard.
   */
  holds(silence: Silence, fleet: Iterable<Silence | undefined>, now: number): boolean {
    if (this.doubt !== undefined) return true;
    if (this.patienceMs <= 0 || !this.counts(silence)) return false;
    let all = 0;
    let together = 0;
    for (const other of fleet) {
      all++;
      if (other !== undefined && this.counts(other) && other.from <= silence.to && silence.from <= other.to) together++;
    }
    if (!isMost(together, all)) return false;
    this.doubt = { since: now, silent: together, fleet: all };
    return true;
  }

  /** Looks again, now and then while it doubts. Answers how the doubt ended, if it did. */
  review(fleet: Iterable<Silence | undefined>, now: number): "heard" | "patience over" | undefined {
    if (this.doubt === undefined) return undefined;
    let all = 0;
    let silent = 0;
    for (const one of fleet) {
      all++;
      if (one !== undefined && this.counts(one)) silent++;
    }
    if (!isMost(silent, all)) {
      this.doubt = undefined;
      return "heard";
    }
    this.doubt = { since: this.doubt.since, silent, fleet: all };
    if (now - this.doubt.since < this.patienceMs) return undefined;
    this.doubt = undefined;
    this.believedUntil = now;
    return "patience over";
  }

  private counts(silence: Silence): boolean {
    return silence.from > this.believedUntil;
  }
}
