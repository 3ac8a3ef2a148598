/**
 * How good a candidate is, as one pure function (ROUTE-2). The same numbers are in `spec/vectors`, so that SDKs can
 * rank by themselves and agree.
 */
import type { CostTier } from "@agent-reach/protocol";

export interface Weights {
  latency: number;
  success: number;
  cost: number;
  load: number;
}

export const presets: Record<string, Weights> = {
  realtime: { latency: 0.7, success: 0.3, cost: 0.05, load: 0.1 },
  balanced: { latency: 0.5, success: 0.3, cost: 0.1, load: 0.1 },
  batch: { latency: 0.5, success: 0.3, cost: 0.3, load: 0.1 },
};

/** Latency at or under this is as good as it gets, ms. */
const FAST_MS = 500;
const COST: Record<CostTier, number> = { low: 0, medium: 0.5, high: 1 };

/** `p50Ms` median latency, `successRate` and `load` 0..1. Higher is better; it may be negative. */
export function score(weights: Weights, p50Ms: number, successRate: number, costTier: CostTier, load: number): number {
  const latency = p50Ms <= FAST_MS ? 1 : FAST_MS / p50Ms;
  return (
    weights.latency * latency + weights.success * successRate - weights.cost * COST[costTier] - weights.load * load
  );
}

/** Weights as a request gives them: a preset's name, or some of the four numbers over the node's own. */
export function weightsOf(given: unknown, fallback: Weights): Weights {
  if (given === undefined || given === null) return fallback;
  if (typeof given === "string") return Object.hasOwn(presets, given) ? presets[given]! : fallback;
  return { ...fallback, ...(given as Partial<Weights>) };
}

/** Scores within this share of the best count as equal, so that nobody is flooded for a hair's breadth. */
const NEAR = 0.1;
/** Of near-equals nobody gets nothing at all. */
const LEAST = 0.01;

/** Whoever has less than this is no equal of the best. */
export function nearTo(best: number): number {
  return best - NEAR * Math.abs(best);
}

/**
 * Chance among near-equals: the offer's weight, times the room that is left (0..1), so that a burst spreads at once, times how
 * near it is to the best. By default cost and load together make out less than what counts as near; without the last factor
 * they would decide next to nothing, and with a choice of the best alone everything.
 */
export function shareOf(weight: number, room: number, score: number, best: number): number {
  const floor = nearTo(best);
  const nearness = best > floor ? (score - floor) / (best - floor) : 1;
  return weight * (Math.max(0, room) + LEAST) * (nearness + LEAST);
}
