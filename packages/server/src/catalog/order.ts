/** A document in an order, with its score before and after the factor of its operation. */
export interface Place {
  readonly at: number;
  readonly plain: number;
  readonly score: number;
}

/** The best of all documents that were offered, and what is said of all of them. */
export class Order {
  readonly best: Place[] = [];
  /** How many were offered. */
  count = 0;
  /** Highest and sum of their plain scores. */
  most = 0;
  sum = 0;

  constructor(private readonly limit: number) {}

  offer(at: number, plain: number, score: number): void {
    this.count++;
    this.most = Math.max(this.most, plain);
    this.sum += plain;
    const { best, limit } = this;
    if (best.length === limit && score <= best[limit - 1]!.score) return;
    let i = best.length;
    while (i > 0 && best[i - 1]!.score < score) i--;
    best.splice(i, 0, { at, plain, score });
    if (best.length > limit) best.pop();
  }

  /** From 1; one more than the limit for whoever is not among the best. */
  placeOf(at: number): number {
    const i = this.best.findIndex((place) => place.at === at);
    return i < 0 ? this.limit + 1 : i + 1;
  }
}
