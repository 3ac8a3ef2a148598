import type { CostTier } from "@agent-reach/protocol";

/**
 * What an agent says of itself, by hints on its card or with a heartbeat (LIVE-11). It is shown as its own word, beside what
 * was measured, and steers routing only until enough was measured.
 */

/** As far as routing can reckon with it. */
export interface SelfReport {
  /** Undefined: it did not say. */
  readonly health: number | undefined;
  readonly p50Ms: number | undefined;
  readonly successRate: number | undefined;
  /** Of all that it does, for us and for others, 0..1. */
  readonly load: number | undefined;
  /** Of its capabilities that name none. */
  readonly costTier: CostTier | undefined;
}

export const NOTHING_SAID: SelfReport = Object.freeze({
  health: undefined,
  p50Ms: undefined,
  successRate: undefined,
  load: undefined,
  costTier: undefined,
});

/** `health` is the finer word than `facts.healthy`, but `healthy: false` outweighs it, and `healthy: true` takes that back. */
export function readReport(facts: Record<string, unknown> | undefined, health: number | undefined): SelfReport {
  const { healthy, p50LatencyMs, successRate, load, costTier } = facts ?? {};
  return {
    health: healthy === false ? 0 : (health ?? (healthy === true ? 1 : undefined)),
    p50Ms: numberUpTo(p50LatencyMs, Number.MAX_VALUE),
    successRate: numberUpTo(successRate, 1),
    load: numberUpTo(load, 1),
    costTier: costTier === "low" || costTier === "medium" || costTier === "high" ? costTier : undefined,
  };
}

function numberUpTo(value: unknown, max: number): number | undefined {
  return typeof value === "number" && value >= 0 && value <= max ? value : undefined;
}
