/** What a decision looks at, taken from a ranking. Pure. */

/** One of the first few capabilities of a ranking. Cosines and scores lie in 0..1. */
export interface Standing {
  /** What it was ranked by, the factors of operation and tags included. */
  readonly score: number;
  /** The same sum without those factors. They tell capabilities apart, and say little of whether any of them serves. */
  readonly plain: number;
  /** Highest cosine of the whole request with one text of its card. */
  readonly nearest: number;
  /** Highest cosine of one clause of the request with one text of its card; `nearest` if the request has but one. */
  readonly nearestPart: number;
  /** How near the fine stage finds it; null without one. */
  readonly fine?: number | null;
}

/**
 * What a request met in the whole catalog: of all capabilities that the hard filters left, not of the first few. It comes from
 * the coarse stage even where a fine one ranks: that one sees a short list, and whether anybody serves is asked of them all.
 */
export interface Field {
  /** How many they were. */
  readonly candidates: number;
  /** Highest plain score among them. The first in the ranking need not have it. */
  readonly best: number;
  /** Sum of their plain scores. */
  readonly sum: number;
  /**
   * How much of what the request says the first few cards say too, word by word. Null if the best one's card is in another language
   * than the request: words are less near there, whatever is meant.
   */
  readonly covered: number | null;
}

/** Six numbers and a count; what `judge` decides from, and what is kept in the record of a decision. */
export interface Evidence {
  readonly candidates: number;
  /** How much the best capability has in common with the request. */
  readonly best: number;
  /** How much the others have on average: high where the request speaks of this catalog's trade at all. */
  readonly others: number;
  readonly covered: number | null;
  /** How much nearer one clause is than the whole request: people tell a story around what they want. */
  readonly part: number;
  /** How far the first is ahead of the second in the ranking. */
  readonly margin: number;
  /** How near the fine stage finds the first; null if it did not look. */
  readonly fine: number | null;
}

/** `top` is sorted by score; the first two are enough. A number that is not finite counts as 0. */
export function evidenceOf(top: readonly Standing[], field: Field): Evidence {
  const candidates = Math.max(0, Math.floor(finite(field.candidates)));
  const [first, second] = top;
  if (candidates === 0 || first === undefined)
    return {
      candidates: 0,
      best: 0,
      others: 0,
      covered: field.covered === null ? null : unit(field.covered),
      part: 0,
      margin: 0,
      fine: null,
    };
  const best = finite(field.best);
  return {
    candidates,
    best,
    others: candidates > 1 ? (finite(field.sum) - best) / (candidates - 1) : 0,
    covered: field.covered === null ? null : unit(field.covered),
    part: unit(finite(first.nearestPart) - finite(first.nearest)),
    margin: Math.max(0, finite(first.score) - (second === undefined ? 0 : finite(second.score))),
    fine: first.fine === undefined || first.fine === null ? null : unit(first.fine),
  };
}

function finite(x: number): number {
  return Number.isFinite(x) ? x : 0;
}

function unit(x: number): number {
  return Math.min(1, Math.max(0, finite(x)));
}
