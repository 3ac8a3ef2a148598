import { expect, test } from "vitest";
import { plants } from "./plants.js";
import { simulate } from "./run.js";

/** So many seeds a bug may hide from. */
const SEEDS_MAX = 150;

test.each(plants)(
  "DLV-9: $name is caught",
  async (plant) => {
    for (let seed = plant.from; seed < plant.from + SEEDS_MAX; seed++) {
      const { wrongs } = await simulate(seed, { plant });
      const wrong = wrongs.find(({ invariant }) => plant.breaks.includes(invariant));
      if (wrong === undefined) continue;
      console.log(`${plant.name}: caught by seed ${seed}: ${wrong.invariant}: ${wrong.what}`);
      return;
    }
    expect.fail(`${plant.name} was planted, and ${SEEDS_MAX} seeds from ${plant.from} on did not notice`);
  },
  120_000,
);
