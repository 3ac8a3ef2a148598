/**
 * An instance that comes and goes is worse than one that is gone: each time it is given work and loses it. So one that lost
 * its lease more than three times in two minutes rests before it gets new work (LIVE-6), as routers do with routes that
 * flap (RFC 2439; here with a plain count in place of a decaying penalty, so that people can reckon it from the events).
 *
 * F1  Only new work stays away. The instance keeps its lease, its context and what it has in hand.
 * F2  What the node did itself is not counted: its start, its stalls, and losses that most of the fleet had with it.
 */
import { isMost, TOGETHER_MS } from "./mass-expiry.js";

const WINDOW_MS = 120_000;
/** So many losses within the window are still forgiven. */
const LOSSES_MAX = 3;
/** Losses of the whole fleet that are remembered; with more than that in two minutes nobody is to blame alone. */
const REMEMBERED_MAX = 10_000;

/** When one instance lost its lease, monotonic ms, oldest first. */
export type LossHistory = number[];

export class Flapping {
  private recent: { at: number; whose: LossHistory }[] = [];
  private excusedUntil = Number.NEGATIVE_INFINITY;

  /** Losses up to this moment are the node's own doing. */
  excuse(until: number): void {
    this.excusedUntil = until;
  }

  lost(history: LossHistory, now: number): void {
    if (now <= this.excusedUntil) return;
    while (history.length > 0 && (history[0]! <= now - WINDOW_MS || history.length > 4 * LOSSES_MAX)) history.shift();
    history.push(now);
    this.recent.push({ at: now, whose: history });
    if (this.recent.length > REMEMBERED_MAX) {
      const young = this.recent.filter(({ at }) => at > now - WINDOW_MS);
      this.recent = young.slice(-REMEMBERED_MAX / 2);
    }
  }

  /**
   * It is back. How many losses it has to answer for, if that is too many; else undefined. `fleet`: how many instances have
   * a lease; asked for only when it matters.
   */
  tooOften(history: LossHistory, fleet: () => number, now: number): number | undefined {
    const mine = history.filter((at) => at > now - WINDOW_MS);
    if (mine.length <= LOSSES_MAX) return undefined;
    const all = fleet();
    const own = mine.filter((at) => !isMost(this.togetherWith(at), all)).length;
    return own > LOSSES_MAX ? own : undefined;
  }

  /** How many instances lost their lease about then. */
  private togetherWith(moment: number): number {
    const who = new Set<LossHistory>();
    for (const { at, whose } of this.recent) if (Math.abs(at - moment) <= TOGETHER_MS) who.add(whose);
    return who.size;
  }
}
