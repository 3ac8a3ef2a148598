import type { System } from "../ports/system.js";
import type { BreakerFacts, BreakerState } from "../registry/breaker-record.js";
import type { LiveInstance, Offer } from "../registry/instance.js";
import { type BreakerTrigger, coolDownOver, failed, over, PROBE_MS, renew, sent, succeeded } from "./breaker.js";

/** What made a breaker change, and how things stood at that moment. */
export interface BreakerChange extends BreakerFacts {
  capability: string;
  trigger: BreakerTrigger;
}

/** One delivery, as far as it matters here. `sentAt`: monotonic ms. */
export interface Attempt {
  readonly offer: Offer;
  readonly sentAt: number;
}

/** Refusals that say that the agent is not well; any other is its right, or the caller's mistake, or a want of room. */
const TECHNICAL: ReadonlySet<string> = new Set(["UNAVAILABLE", "INTERNAL", "TIMEOUT", "DELIVERY_TIMEOUT"]);

/**
 * Hears how every attempt ended, keeps what is measured of the offer and its breaker, wakes the breaker when its cool-down
 * is over, and tells of every change. One timer per opening and per probe, none per message.
 */
export class Breakers {
  /** How often a breaker came to each state. */
  readonly counts: Record<BreakerState, number> = { closed: 0, open: 0, half_open: 0 };
  private readonly listeners: ((instance: LiveInstance, change: BreakerChange) => void)[] = [];
  private wake: (instance: LiveInstance) => void = () => {};

  constructor(
    private readonly system: System,
    private readonly enabled: boolean,
  ) {}

  onChange(listener: (instance: LiveInstance, change: BreakerChange) => void): void {
    this.listeners.push(listener);
  }

  /** Called when whoever waits for an instance is to be looked at again: to try it, or to be told that it is broken. */
  onRoom(wake: (instance: LiveInstance) => void): void {
    this.wake = wake;
  }

  /** An answer came, be it a business error: technically all is well. `sentAt` and `now`: monotonic ms. */
  succeeded(offer: Offer, sentAt: number, now: number): void {
    offer.measured.success(now - sentAt, now);
    if (!this.enabled) return;
    const trigger = succeeded(offer.breaker, sentAt, now);
    if (trigger === undefined) return;
    // What failed during the outage would keep its health down, and so all work away, long after it.
    offer.measured.forgive();
    this.changed(offer, trigger, now);
  }

  /** A technical failure; `code` says which. */
  failed(offer: Offer, sentAt: number, code: string, now: number): void {
    offer.measured.failure(now);
    if (!this.enabled) return;
    const trigger = failed(offer.breaker, sentAt, code, now);
    if (trigger !== undefined) this.changed(offer, trigger, now);
  }

  /**
   * Nothing was heard in time. If it was the sender who set the time (`hasty`), that is a failure only of an instance that
   * got as long as it usually takes, by the median: given that long, one that is well answers at least every second time,
   * and so is never taken for broken because of hasty senders. Answers whether it counted.
   */
  overdue({ offer, sentAt }: Attempt, code: string, now: number, hasty: boolean): boolean {
    const usualMs = hasty ? offer.measured.p50Ms() : undefined;
    if (usualMs !== undefined && now - sentAt < usualMs) return false;
    this.failed(offer, sentAt, code, now);
    return true;
  }

  /**
   * The way to the instance broke while it had the message. Where that way is a connection, the instance is `suspect` from
   * now on and comes back under a new epoch, so there is nothing to hold back; where each message has its own request, it
   * is a failure like any other.
   */
  lost(offer: Offer, sentAt: number, now: number): void {
    if (offer.instance.link === undefined) offer.measured.failure(now);
    else this.failed(offer, sentAt, "LOST", now);
  }

  refused(offer: Offer, sentAt: number, code: string, retryAfterMs: number | undefined): void {
    if (retryAfterMs === undefined && TECHNICAL.has(code)) this.failed(offer, sentAt, code, this.system.monotonic());
  }

  /** A message is about to go there. */
  sent(offer: Offer, now: number): void {
    const { breaker, instance } = offer;
    if (!sent(breaker, now)) return;
    const until = breaker.probeAt;
    // It may never be heard of again, and somebody may wait for the next chance (B4).
    this.system.after(PROBE_MS + 1, () => {
      if (breaker.state === "half_open" && breaker.probeAt === until) this.wake(instance);
    });
  }

  /** An attempt gave its slot back. */
  over(offer: Offer, sentAt: number): void {
    over(offer.breaker, sentAt);
  }

  /** The instance registered under a new epoch. */
  renewed(instance: LiveInstance): void {
    const now = this.system.monotonic();
    for (const offer of instance.offers) {
      const trigger = renew(offer.breaker, now);
      if (trigger !== undefined) this.changed(offer, trigger, now);
    }
  }

  private changed(offer: Offer, trigger: BreakerTrigger, now: number): void {
    const { breaker, instance } = offer;
    this.counts[breaker.state]++;
    if (breaker.state === "open") this.system.after(breaker.probeAt - now + 1, () => this.lookAgain(offer));
    const change = { capability: offer.capability.name, trigger, ...breaker.describe(now) };
    for (const listener of this.listeners) listener(instance, change);
    this.wake(instance);
  }

  private lookAgain(offer: Offer): void {
    const { breaker, instance } = offer;
    // Gone, or no longer offered: then there is nothing to tell of it.
    if (instance.record.state === "offline" || !instance.hasBreaker(breaker)) return;
    const now = this.system.monotonic();
    const trigger = coolDownOver(breaker, now);
    if (trigger !== undefined) this.changed(offer, trigger, now);
  }
}
