import { HashTable } from "../collections/hash-table.js";

/** Messages a second; 0: no limit. */
export interface RateSettings {
  messagesPerSecPerCaller: number;
  messagesPerSecPerCapability: number;
  messagesPerSecPerTenant: number;
}

/** A bucket holds what fills it in a second, so that a burst of one second's messages passes at once. */
const BURST_MS = 1_000;
/** Full buckets are looked for when there are twice as many as were left the last time, and not below this. */
const SWEEP_FROM = 256;

interface Bucket {
  readonly key: string;
  /** Monotonic ms at which it will be full again; what is missing until then has been taken. */
  fullAt: number;
}

/**
 * Token buckets by key. One number says how full a bucket is: the moment at which it will be full. (The generic cell rate
 * algorithm of ITU-T I.371, which is a token bucket told by times instead of counts.) A full bucket need not be remembered.
 */
export class TokenBuckets {
  private readonly buckets = new HashTable<string, Bucket>();
  private readonly tokenMs: number;
  /** How far from full a bucket may be that has a token left. */
  private readonly slackMs: number;
  private sweepAt = SWEEP_FROM;

  constructor(readonly perSec: number) {
    this.tokenMs = 1_000 / perSec;
    this.slackMs = Math.max(0, BURST_MS - this.tokenMs);
  }

  /** Ms until there is a token, 0 if there is one now. */
  waitMs(key: string, now: number): number {
    const bucket = this.buckets.get(key);
    // A hair is what sums of fractions are off by.
    return bucket === undefined ? 0 : Math.max(0, Math.ceil(bucket.fullAt - this.slackMs - now - 1e-6));
  }

  take(key: string, now: number, count = 1): void {
    const bucket = this.buckets.get(key) ?? this.add(key);
    bucket.fullAt = Math.max(bucket.fullAt, now) + count * this.tokenMs;
  }

  get size(): number {
    return this.buckets.size;
  }

  private add(key: string): Bucket {
    const bucket = { key, fullAt: 0 };
    this.buckets.set(key, bucket);
    return bucket;
  }

  /** Forgets what is full again. */
  sweep(now: number): void {
    if (this.buckets.size < this.sweepAt) return;
    for (const { key, fullAt } of this.buckets.all()) if (fullAt <= now) this.buckets.delete(key);
    this.sweepAt = Math.max(SWEEP_FROM, this.buckets.size * 2);
  }
}

/** Which limit was met, and when the next message passes it. */
export interface RateExcess {
  readonly scope: "caller" | "capability" | "tenant";
  readonly perSec: number;
  readonly waitMs: number;
}

type RateKeys = Readonly<Record<RateExcess["scope"], string>>;

/** How many messages a second may come from whom and for what (RES-4). Calls and tasks count alike. */
export class RateLimits {
  private readonly limits: { scope: RateExcess["scope"]; buckets: TokenBuckets }[] = [];

  constructor(settings: RateSettings) {
    const add = (scope: RateExcess["scope"], perSec: number) => {
      if (perSec > 0) this.limits.push({ scope, buckets: new TokenBuckets(perSec) });
    };
    add("caller", settings.messagesPerSecPerCaller);
    add("capability", settings.messagesPerSecPerCapability);
    add("tenant", settings.messagesPerSecPerTenant);
  }

  get any(): boolean {
    return this.limits.length > 0;
  }

  /** Takes a token of each kind, or none: what one limit refuses does not count against the others. */
  take(keys: RateKeys, now: number): RateExcess | undefined {
    const excess = this.excess(keys, now);
    if (excess === undefined) this.spend(keys, now, 1);
    return excess;
  }

  /** What stands against one message. */
  excess(keys: RateKeys, now: number): RateExcess | undefined {
    let excess: RateExcess | undefined;
    for (const { scope, buckets } of this.limits) {
      const waitMs = buckets.waitMs(keys[scope], now);
      if (waitMs > (excess?.waitMs ?? 0)) excess = { scope, perSec: buckets.perSec, waitMs };
    }
    return excess;
  }

  /** Takes tokens, be they there or not: a bucket that owes some has none until they are made up for. */
  spend(keys: RateKeys, now: number, count: number): void {
    for (const { scope, buckets } of this.limits) {
      buckets.sweep(now);
      buckets.take(keys[scope], now, count);
    }
  }
}
