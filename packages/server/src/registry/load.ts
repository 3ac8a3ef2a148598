/**
 * The fast numbers of one instance, in memory only: they steer routing, change with every message, and never touch the
 * registry's records (REG-5).
 */

/** Outcomes are forgotten with this half-life, so that "recent" means the last minute or so. */
const HALF_LIFE_MS = 30_000;
/** From this many recent outcomes on, measured numbers win over self-reported ones (LIVE-11). */
export const MEASURED_FROM = 20;
const LATENCIES = 32;

/** What was measured of one capability on one instance. */
export class Measured {
  private ok = 0;
  private failed = 0;
  private decayedAt = 0;
  private readonly latencies: number[] = [];
  private next = 0;
  private median: number | undefined;
  private sinceMedian = 0;

  success(latencyMs: number, now: number): void {
    this.decay(now);
    this.ok++;
    this.latencies[this.next] = latencyMs;
    this.next = (this.next + 1) % LATENCIES;
    if (++this.sinceMedian >= 8) this.median = undefined;
  }

  failure(now: number): void {
    this.decay(now);
    this.failed++;
  }

  /** After an outage: what failed before says nothing any more. */
  forgive(): void {
    this.failed = 0;
  }

  /** Median of the last 32 successful answers, ms; undefined before the first. */
  p50Ms(): number | undefined {
    if (this.latencies.length === 0) return undefined;
    if (this.median === undefined) {
      const sorted = [...this.latencies].sort((a, b) => a - b);
      this.median = sorted[sorted.length >> 1];
      this.sinceMedian = 0;
    }
    return this.median;
  }

  /** Share of recent outcomes that were no technical failure, 0..1; undefined while too few are known. */
  successRate(now: number): number | undefined {
    if (this.ok + this.failed < MEASURED_FROM) return undefined;
    this.decay(now);
    const total = this.ok + this.failed;
    return total < MEASURED_FROM ? undefined : this.ok / total;
  }

  private decay(now: number): void {
    const elapsed = now - this.decayedAt;
    if (elapsed < 1000) return;
    const factor = this.decayedAt === 0 ? 1 : 0.5 ** (elapsed / HALF_LIFE_MS);
    this.ok *= factor;
    this.failed *= factor;
    this.decayedAt = now;
  }
}

/** How many attempts began in the last 10 s or so: two buckets of 5 s and what is left of the older one. */
export class Starts {
  private bucket = 0;
  private current = 0;
  private previous = 0;

  add(now: number): void {
    this.roll(now);
    this.current++;
  }

  count(now: number): number {
    this.roll(now);
    return this.current + this.previous;
  }

  private roll(now: number): void {
    const bucket = Math.floor(now / 5000);
    if (bucket === this.bucket) return;
    this.previous = bucket === this.bucket + 1 ? this.current : 0;
    this.current = 0;
    this.bucket = bucket;
  }
}
