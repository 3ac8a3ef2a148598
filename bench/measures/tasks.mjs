import { inTurns, ratioFigure } from "../lib/figure.mjs";
import { scratch, startPart } from "../lib/processes.mjs";
import { medians, openOurs, openYardstick } from "../lib/trio.mjs";

const inFlight = 256;
const pick = (results, field) => results.map((result) => result[field]);

/**
 * `submit` answered, which means on disk, against SQLite alone. The agent that is meant is known and away, so the
 * tasks stay where they are: execution is the other measure.
 */
export async function submit(context) {
  const inserts = startPart("yardsticks/grouped-inserts.mjs");
  await inserts.ask("open", { dir: scratch() });
  const ours = await openOurs("bare", { ...context, agentRole: "absent-agent" });
  const results = await inTurns(context, {
    inserts: (seconds) => inserts.ask("run", { seconds, inFlight }),
    ours: (seconds) => ours.run({ operation: "submit", seconds, inFlight }),
  });
  return [
    ratioFigure({
      name: "submit",
      title: `submit answered, ${inFlight} in flight`,
      against: "grouped inserts",
      unit: "/s",
      ours: pick(results.ours, "perSec"),
      yardstick: pick(results.inserts, "perSec"),
      wanted: { atLeast: 0.25 },
      detail: { ours: medians(results.ours) },
    }),
  ];
}

/** Submit, executed, completed and told to the submitter, against the bare pipeline that does the same. */
export const tasks = (clients) => async (context) => {
  const pipeline = await openYardstick("yardsticks/pipeline.mjs", { dir: scratch() });
  const ours = await openOurs(clients, context);
  const results = await inTurns(context, {
    pipeline: (seconds) => pipeline.run({ seconds, inFlight }),
    ours: (seconds) => ours.run({ operation: "task", seconds, inFlight }),
  });
  return [
    ratioFigure({
      name: `tasks-${clients}`,
      title: `tasks completed, ${inFlight} in flight, ${clients} clients`,
      against: "pipeline",
      unit: "/s",
      ours: pick(results.ours, "perSec"),
      yardstick: pick(results.pipeline, "perSec"),
      wanted: { atLeast: 0.4, aim: 0.6 },
      detail: { ours: medians(results.ours), pipeline: medians(results.pipeline) },
    }),
  ];
};
