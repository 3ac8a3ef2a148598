import type { Totals } from "./scan.js";

/** A document in an order, with its score before and after the factor of its operation. */
export interface Place {
  readonly at: number;
  readonly plain: number;
  readonly score: number;
  /** How near the fine stage finds it, if it ranks; undefined too of what that has not read yet. */
  readonly near?: number | undefined;
  /** How much of the request's words it says, if it was ranked by that too. */
  readonly covered?: number | undefined;
}

/** A new score, and what it comes of. */
type Rescored = Pick<Place, "score" | "near" | "covered">;

/** The best few documents, and what is said of all. */
export class Order {
  readonly best: Place[] = [];
  /** The best before they were ranked again, if they were. */
  before: readonly Place[] = this.best;
  counted = 0;
  /** Highest and sum of the plain scores of all. */
  most = 0;
  sum = 0;

  constructor(private readonly limit: number) {}

  /** The same documents with other scores; what is said of all stays. */
  again(limit: number, rescored: (place: Place) => Rescored): Order {
    const order = new Order(limit);
    order.countAll(this);
    order.before = this.before;
    for (const place of this.best) order.offer(place.at, place.plain, rescored(place));
    return order;
  }

  countAll({ counted, most, sum }: Totals): void {
    this.counted = counted;
    this.most = most;
    this.sum = sum;
  }

  offer(at: number, plain: number, { score, near, covered }: Rescored): void {
    const { best, limit } = this;
    if (best.length === limit && score <= best[limit - 1]!.score) return;
    let i = best.length;
    while (i > 0 && best[i - 1]!.score < score) i--;
    best.splice(i, 0, { at, plain, score, near, covered });
    if (best.length > limit) best.pop();
  }

  /** From 1; one more than the limit for whoever is not among the best. */
  placeOf(at: number): number {
    const i = this.best.findIndex((place) => place.at === at);
    return i < 0 ? this.limit + 1 : i + 1;
  }
}

/** The score of what is not in question. */
export const LEFT_OUT = -1;
const BINS = 1_024;
/** No score is above this. */
const SCORE_MAX = 2;
const BINS_PER_SCORE = BINS / SCORE_MAX;

/**
 * Which of the first `count` scores are the highest `wanted`, and those that are as good as the last of them: by a histogram, in
 * two looks at each, whatever their number. What scores next to nothing is never among them.
 */
export function highest(scores: Float32Array, count: number, wanted: number): number[] {
  const bins = new Uint32Array(BINS);
  for (let at = 0; at < count; at++) {
    const score = scores[at]!;
    if (score >= 0) bins[binOf(score)]!++;
  }
  let least = BINS - 1;
  for (let above = bins[least]!; least > 1 && above < wanted; ) above += bins[--least]!;
  const found: number[] = [];
  // Most are below, which one comparison tells.
  const worst = least / BINS_PER_SCORE;
  for (let at = 0; at < count; at++) if (scores[at]! >= worst) found.push(at);
  return found;
}

/** Scores are not negative, so that cutting off is rounding down; the class of the highest takes what is above it. */
function binOf(score: number): number {
  return Math.min(BINS - 1, (score * BINS_PER_SCORE) | 0);
}
