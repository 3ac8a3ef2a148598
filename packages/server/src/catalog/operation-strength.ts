/**
 * How much the operation should count in a catalog, learnt from the catalog itself. Where cards are one object each under many
 * operations, the verb decides; at a help desk, where people tell what went wrong, it is often read into a text that names none.
 */

/** A text of a card, and where it met the cards that it could be taken for, its own among them. Empty if its own came too far behind. */
export interface Contest {
  readonly own: Contestant | undefined;
  readonly all: readonly Contestant[];
}

export interface Contestant {
  /** The score before the operation. */
  readonly plain: number;
  /** What to multiply it with if the operation counts in full. */
  readonly factor: number;
}

/** In full first. Not less than the least, since requests that differ in nothing but the operation are rare among examples. */
export const STRENGTHS = [1, 0.7, 0.4] as const;
/** How many points of score make one capability e times as likely as another. Requests of the development sets say so. */
const HEAT = 1 / 12;
/** What has to be gained by a strength other than in full, as a logarithm of likelihood: few texts change nothing. */
const WORTH = 1;

/** The strength that makes it most likely that texts find their own cards. */
export function strengthOf(contests: readonly Contest[]): number {
  let best: number = STRENGTHS[0];
  let least = Number.POSITIVE_INFINITY;
  for (const strength of STRENGTHS) {
    const lost = contests.reduce(
      (sum, contest) => sum + lossOf(contest, strength),
      strength === STRENGTHS[0] ? 0 : WORTH,
    );
    if (lost < least) {
      least = lost;
      best = strength;
    }
  }
  return best;
}

/** Minus the logarithm of how likely the own card is. */
function lossOf({ own, all }: Contest, strength: number): number {
  if (own === undefined) return 0;
  const scoreOf = ({ plain, factor }: Contestant): number => plain * factor ** strength;
  const score = scoreOf(own);
  return Math.log(all.reduce((sum, one) => sum + Math.exp((scoreOf(one) - score) / HEAT), 0));
}
