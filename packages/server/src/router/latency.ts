/** What a window says of a capability: nothing clear where somebody is late and hardly anybody was heard of. */
export type Tempo = "fine" | "slow" | "unclear";

/** Windows of half a second: a slow downstream shows within two, and each holds enough calls to speak of a p95. */
export const WINDOW_MS = 500;
/** Fewer calls than this say nothing: the p95 of twenty is the second slowest. */
const VOLUME = 20;
/** Slow is a p95 of over three times the normal one (RES-3), so more than a twentieth beyond that. */
const SLOW_TIMES = 3;
const SLOW_SHARE = 0.05;
/**
 * Nothing under this is slow, however fast it was before. Agents that answer in a millisecond take tens under a burst, and
 * at a quarter of a second 256 calls in flight are still a thousand a second: nobody is drained by that.
 */
const SLOW_FROM_MS = 250;
/**
 * How fast "normal" follows: it doubles in three minutes at the most, so that an outage of half a minute teaches nothing and
 * a model that is ten times as slow is accepted after ten minutes; it halves in thirty seconds at the most.
 */
const DOUBLES_IN = 180_000 / WINDOW_MS;
const HALVES_IN = 30_000 / WINDOW_MS;
/** After a silence it moves as after this many windows. */
const LEARN_WINDOWS_MAX = 10;

/** Windows in which calls under way were sent that are told apart, by their number: a minute's. */
export const AGES = 128;
/** Latencies are counted in quarter octaves from 1/8 ms on: each count stands for its latency to within a tenth. */
const PER_OCTAVE = 4;
const FIRST_OCTAVE = 3;
const BUCKETS = 22 * PER_OCTAVE;

export function windowOf(now: number): number {
  return Math.floor(now / WINDOW_MS);
}

/**
 * How long calls of one capability take, window by window, and whether that is slow for it.
 *
 * Compared is the p95 of a window with a slowly moving memory of the same, so a capability whose calls differ widely is not
 * slow for that. Netflix's concurrency-limits compares a short mean of the latency with a long one in the same spirit (their
 * gradient). Calls that are under way count as soon as they are late, since a downstream that hangs completes nothing which
 * could be measured.
 */
export class Latency {
  private readonly histogram = new Uint32Array(BUCKETS);
  private ended = 0;
  private late = 0;
  /** How many calls under way were sent in each of the last windows, and before those. */
  private readonly sentIn = new Uint32Array(AGES);
  private sentBefore = 0;
  private underway = 0;
  private learnedIn = 0;
  /** The p95 that is usual, ms; undefined until enough was seen. */
  normalMs: number | undefined;
  /** Beyond this a call is late. */
  lateAfterMs = Number.POSITIVE_INFINITY;

  /** `window`: the one at hand, in all of these. */
  sent(window: number): void {
    this.underway++;
    this.sentIn[window % AGES]!++;
  }

  /** One that ended without an answer tells how long it took only if that is too long already. */
  over(sentAt: number, now: number, answered: boolean, window: number): void {
    const sentIn = windowOf(sentAt);
    this.underway--;
    if (window - sentIn >= AGES) this.sentBefore--;
    else this.sentIn[sentIn % AGES]!--;
    const tookMs = now - sentAt;
    const isLate = tookMs > this.lateAfterMs;
    if (!answered && !isLate) return;
    this.ended++;
    if (isLate) this.late++;
    this.histogram[bucketOf(tookMs)]!++;
  }

  /** The window before this one is over: what does it say? */
  close(window: number): Tempo {
    const oldest = window % AGES;
    this.sentBefore += this.sentIn[oldest]!;
    this.sentIn[oldest] = 0;
    const tempo = this.judge(window);
    if (this.ended < VOLUME) return tempo;
    this.learn(window);
    this.histogram.fill(0);
    this.ended = this.late = 0;
    return tempo;
  }

  /**
   * Where enough came to an end, that speaks, with those who have just become late: a few that hang for ever must not make
   * a capability slow which answers everybody else.
   */
  private judge(window: number): Tempo {
    const young = Math.ceil(this.lateAfterMs / WINDOW_MS);
    // The window at hand is empty yet, and the one beyond the young ones has just become late.
    const waiting = young + 2 > AGES ? 0 : this.underway - this.youngest(window, young);
    if (this.ended >= VOLUME) {
      const fresh = waiting === 0 ? 0 : this.sentIn[(window - young - 1 + AGES) % AGES]!;
      return this.late + fresh > SLOW_SHARE * (this.ended + fresh) ? "slow" : "fine";
    }
    if (waiting === 0) return "fine";
    return this.ended + waiting >= VOLUME && this.late + waiting > SLOW_SHARE * (this.ended + waiting)
      ? "slow"
      : "unclear";
  }

  /** Calls under way that were sent in this window or in one of as many before. */
  private youngest(window: number, before: number): number {
    let count = 0;
    for (let ago = 0; ago <= before; ago++) count += this.sentIn[(window - ago + AGES) % AGES]!;
    return count;
  }

  private learn(window: number): void {
    const p95Ms = this.p95Ms();
    const windows = Math.min(window - this.learnedIn, LEARN_WINDOWS_MAX);
    this.learnedIn = window;
    const { normalMs = p95Ms } = this;
    this.normalMs =
      p95Ms > normalMs
        ? Math.min(p95Ms, normalMs * 2 ** (windows / DOUBLES_IN))
        : Math.max(p95Ms, normalMs * 2 ** (-windows / HALVES_IN));
    this.lateAfterMs = Math.max(SLOW_FROM_MS, SLOW_TIMES * this.normalMs);
  }

  private p95Ms(): number {
    let above = SLOW_SHARE * this.ended;
    for (let bucket = BUCKETS - 1; bucket > 0; bucket--) {
      above -= this.histogram[bucket]!;
      if (above < 0) return middleOf(bucket);
    }
    return middleOf(0);
  }
}

function bucketOf(ms: number): number {
  const bucket = Math.floor((Math.log2(ms) + FIRST_OCTAVE) * PER_OCTAVE);
  return bucket > 0 ? Math.min(bucket, BUCKETS - 1) : 0;
}

function middleOf(bucket: number): number {
  return 2 ** ((bucket + 0.5) / PER_OCTAVE - FIRST_OCTAVE);
}
