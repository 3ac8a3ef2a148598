import { inTurns, ratioFigure } from "../lib/figure.mjs";
import { medians, openOurs, openYardstick } from "../lib/trio.mjs";

const throughput = { atLeast: 0.6, aim: 0.75 };
const levels = [256, 64, 1];

const pick = (results, field) => results.map((result) => result[field]);

/** Calls through the node against the bare relay, with `clients` (bare or sdk) on both sides of ours. */
export const calls = (clients) => async (context) => {
  const relay = await openYardstick("yardsticks/relay.mjs");
  const ours = await openOurs(clients, context);
  const figures = [];
  for (const inFlight of levels) {
    const results = await inTurns(context, {
      relay: (seconds) => relay.run({ seconds, inFlight }),
      ours: (seconds) => ours.run({ operation: "call", seconds, inFlight }),
    });
    const field = inFlight === 1 ? "p50Ms" : "perSec";
    figures.push(
      ratioFigure({
        name: `calls-${clients}-${inFlight}`,
        title: `calls, ${inFlight} in flight, ${clients} clients${inFlight === 1 ? ", p50" : ""}`,
        against: "relay",
        unit: inFlight === 1 ? "ms" : "/s",
        ours: pick(results.ours, field),
        yardstick: pick(results.relay, field),
        wanted: inFlight === 1 ? { atMost: 2 } : throughput,
        detail: { ours: medians(results.ours), relay: medians(results.relay) },
      }),
    );
  }
  return figures;
};
