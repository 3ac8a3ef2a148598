import { plants } from "./plants.js";
import { simulate } from "./run.js";

/** One process of `npm run simulate`: lives through its share of the seeds, and tells of each that failed. */
async function main([command, first, count, step, planted]: string[]): Promise<void> {
  if (command === "show") {
    const { wrongs, timeline, steps, passedMs } = await simulate(Number(first), {
      recording: true,
      whole: count === "whole",
    });
    console.log(timeline);
    console.log(`\nseed ${first}: ${steps} steps, ${(passedMs / 1000).toFixed(1)} s of its own time`);
    for (const { invariant, what, job } of wrongs)
      console.log(`✗ ${invariant}: ${what}${job === undefined ? "" : ` (#${job})`}`);
    process.exitCode = wrongs.length === 0 ? 0 : 1;
    return;
  }
  const plant = plants.find(({ name }) => name === planted);
  for (let i = 0, seed = Number(first); i < Number(count); i++, seed += Number(step)) {
    const { wrongs, steps, passedMs } = await simulate(seed, plant === undefined ? {} : { plant });
    // Of a planted bug only what gives it away counts.
    const counted = plant === undefined ? wrongs : wrongs.filter(({ invariant }) => plant.breaks.includes(invariant));
    process.send?.({ seed, wrongs: counted, steps, passedMs });
  }
}

// Whoever asked is gone: nobody hears of any more runs.
const alone = () => process.exit(1);
process.once("disconnect", alone);
await main(process.argv.slice(2));
process.off("disconnect", alone);
process.disconnect?.();
