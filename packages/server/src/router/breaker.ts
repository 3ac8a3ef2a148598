import { type BreakerRecord, OUTCOMES_KEPT, WINDOW_MS } from "../registry/breaker-record.js";

/**
 * The circuit breaker of one offer, as pure functions: time is passed in, and nobody is told (RES-1).
 *
 *            over half of the recent outcomes failed             the cool-down is over
 *    closed ───────────────────────────────────────────▶ open ─────────────────────────▶ half-open
 *      ▲                                                  ▲                               │   │
 *      │                                                  └────── the probe failed ───────┘   │
 *      └────────────────────── the probe succeeded, or a new epoch began ─────────────────────┘
 *
 * B1  It opens upon technical failures alone; who says no in time is well (a success), and who was not asked to the end
 *     (canceled, refused for want of room) leaves it as it is.
 * B2  While it is open nothing is sent; while it is half-open one message at a time is, the probe.
 * B3  Attempts that were sent before it opened last say nothing: they are from before, however late they end.
 * B4  A probe that is never heard of again keeps others back for `PROBE_MS` and no longer.
 *
 * The idea is M. Nygard's (Release It!, 2007), the threshold of one half the usual one (Hystrix, resilience4j). The window
 * is counted in outcomes and not in seconds, since an instance that hangs yields few failures a second, as many as it has
 * slots per time-out, and in a window of seconds they would drown in the thousands of successes from before. Sixteen, so
 * that one round of time-outs at the default capacity of ten is over half of it.
 */

/** Outcomes below which nothing is concluded (Hystrix waits for 20 in 10 s; agents are asked less often than services). */
const VOLUME_MIN = 10;
/**
 * The cool-down is an eighth of how long the outage has lasted, within these bounds. So an outage is over for the callers
 * at most an eighth after it is over for the instance (after 30 s of it: 4 s), and one that lasts costs a probe a minute.
 * Doubling, the usual rule, would overshoot by up to the whole length of the outage.
 */
const COOL_DOWN_SHARE = 1 / 8;
export const COOL_DOWN_MIN_MS = 2000;
export const COOL_DOWN_MAX_MS = 60_000;
/** As long as a call may take by default. A task may work for longer: then another probe may go out beside it. */
export const PROBE_MS = 30_000;

/** Why a breaker changed its state. */
export type BreakerTrigger = "failures" | "cool_down_over" | "probe_failed" | "probe_succeeded" | "new_epoch";

/** Whether a message may go there now. */
export function admits(breaker: BreakerRecord, now: number): boolean {
  return breaker.state === "closed" || (breaker.state === "half_open" && breaker.probeAt <= now);
}

/** `sentAt` and `now`: monotonic ms, here and below. Answers why the state changed, if it did. */
export function succeeded(breaker: BreakerRecord, sentAt: number, now: number): BreakerTrigger | undefined {
  if (sentAt < breaker.countsFrom) return undefined;
  if (breaker.state !== "closed") return close(breaker, now, "probe_succeeded");
  note(breaker, now);
  return undefined;
}

/** `code` says what ended the attempt. */
export function failed(breaker: BreakerRecord, sentAt: number, code: string, now: number): BreakerTrigger | undefined {
  if (sentAt < breaker.countsFrom) return undefined;
  breaker.lastFailure = code;
  if (breaker.state !== "closed") return open(breaker, now, "probe_failed");
  note(breaker, -now);
  count(breaker, now);
  const isBroken = breaker.volume >= VOLUME_MIN && breaker.failures * 2 > breaker.volume;
  return isBroken ? open(breaker, now, "failures") : undefined;
}

/** Time has passed. */
export function coolDownOver(breaker: BreakerRecord, now: number): BreakerTrigger | undefined {
  if (breaker.state !== "open" || now < breaker.probeAt) return undefined;
  breaker.state = "half_open";
  breaker.probeAt = 0;
  return "cool_down_over";
}

/** A message is on its way there. Answers whether it is the probe. */
export function sent(breaker: BreakerRecord, now: number): boolean {
  if (breaker.state !== "half_open") return false;
  breaker.probeAt = now + PROBE_MS;
  return true;
}

/** An attempt gave its slot back: if it was the probe and said nothing, the next message is the probe (B1). */
export function over(breaker: BreakerRecord, sentAt: number): void {
  if (breaker.state === "half_open" && sentAt >= breaker.countsFrom) breaker.probeAt = 0;
}

/**
 * A new epoch: another run of the agent, or the same over another connection. It begins closed, since the failures were
 * those of the run or of the connection that is gone; whoever comes and goes too often is held back elsewhere (LIVE-6).
 */
export function renew(breaker: BreakerRecord, now: number): BreakerTrigger | undefined {
  const trigger = breaker.state === "closed" ? undefined : close(breaker, now, "new_epoch");
  breaker.outcomes.fill(0);
  breaker.countsFrom = now;
  breaker.closedAt = Number.NEGATIVE_INFINITY;
  return trigger;
}

function note(breaker: BreakerRecord, outcome: number): void {
  breaker.outcomes[breaker.next] = outcome;
  breaker.next = (breaker.next + 1) % OUTCOMES_KEPT;
}

function count(breaker: BreakerRecord, now: number): void {
  breaker.failures = 0;
  breaker.volume = 0;
  for (const outcome of breaker.outcomes) {
    if (outcome === 0 || Math.abs(outcome) < now - WINDOW_MS) continue;
    breaker.volume++;
    if (outcome < 0) breaker.failures++;
  }
}

function open(breaker: BreakerRecord, now: number, trigger: BreakerTrigger): BreakerTrigger {
  // One that opens again soon after it closed was not well yet: it is the same outage.
  if (breaker.state === "closed" && now - breaker.closedAt > WINDOW_MS) breaker.brokenSince = now;
  const waitMs = (now - breaker.brokenSince) * COOL_DOWN_SHARE;
  breaker.state = "open";
  breaker.probeAt = now + Math.min(Math.max(waitMs, COOL_DOWN_MIN_MS), COOL_DOWN_MAX_MS);
  // Until then nothing is sent, so what counts is what is sent from then on.
  breaker.countsFrom = breaker.probeAt;
  return trigger;
}

function close(breaker: BreakerRecord, now: number, trigger: BreakerTrigger): BreakerTrigger {
  breaker.state = "closed";
  breaker.closedAt = now;
  breaker.probeAt = 0;
  breaker.outcomes.fill(0);
  return trigger;
}
