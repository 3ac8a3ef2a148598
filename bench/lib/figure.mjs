// A figure is what one line of the report says. Most are ratios to a yardstick that ran in the same minute, in
// turns with ours (A B A B …), because a machine that is busy with other things is busy for both.
import { median } from "./stats.mjs";

// Long enough for the compiler of the runtime to have seen the product's much longer path, also on a slow machine.
const warmUpSec = 4;

/**
 * Runs the contestants in turns, `rounds` times after one round that only warms them up, and returns their
 * results by name.
 */
export async function inTurns({ rounds, seconds }, contestants) {
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (const run of Object.values(contestants)) await run(warmUpSec);
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) results[name].push(await run(seconds));
  }
  return results;
}

const spread = (values) => ({ median: median(values), min: Math.min(...values), max: Math.max(...values) });

/** `wanted` is `{ atLeast }` or `{ atMost }`, optionally with `aim`. */
const passes = (value, { atLeast, atMost }) => (atLeast === undefined ? value <= atMost : value >= atLeast);

/** A figure judged by its ratio to the yardstick's, round by round. */
export function ratioFigure({ ours, yardstick, wanted, ...about }) {
  const ratio = spread(ours.map((value, round) => value / yardstick[round]));
  const pass = passes(ratio.median, wanted);
  return {
    ...about,
    ours: spread(ours),
    yardstick: spread(yardstick),
    ratio,
    wanted: { of: "ratio", ...wanted },
    pass,
  };
}

/** A figure judged by its own value; a yardstick, where there is one, is there for comparison. */
export function valueFigure({ ours, yardstick, wanted, ...about }) {
  const value = spread(ours);
  const compared = yardstick && {
    yardstick: spread(yardstick),
    ratio: spread(ours.map((one, round) => one / yardstick[round])),
  };
  return { ...about, ours: value, ...compared, wanted: { of: "value", ...wanted }, pass: passes(value.median, wanted) };
}
