/** When a delivery is tried again: pure, with the chance passed in. */

/**
 * Wall ms of the next try after `failures` deliveries were not acknowledged, or undefined when the retries are spent.
 * The waits are those of the settings, each with ±20 % of jitter so that what failed together does not come back together.
 */
export function retryAt(
  failures: number,
  backoffMs: readonly number[],
  now: number,
  random: number,
): number | undefined {
  const wait = backoffMs[failures];
  return wait === undefined ? undefined : Math.round(now + wait * (0.8 + 0.4 * random));
}
