import { inTurns, ratioFigure, valueFigure } from "../lib/figure.mjs";
import { startNode } from "../lib/node.mjs";
import { startPart } from "../lib/processes.mjs";

const pick = (results, field) => results.map((result) => result[field]);

async function openClient(options) {
  const client = startPart("clients/registry.mjs");
  await client.ask("open", options);
  return client;
}

/** Registry operations mixed, beside the same frames answered by a server that knows nothing. */
export async function registry(context) {
  const echo = startPart("yardsticks/echo.mjs");
  const echoClient = await openClient({ url: `ws://127.0.0.1:${await echo.ask("open")}`, hello: false });
  const node = await startNode(context);
  const client = await openClient({ url: node.url });
  const results = await inTurns(context, {
    echo: (seconds) => echoClient.ask("run", { seconds, inFlight: 64 }),
    ours: (seconds) => client.ask("run", { seconds, inFlight: 64 }),
  });
  return [
    valueFigure({
      name: "registry",
      title: "registry operations mixed, 64 in flight",
      against: "echo",
      unit: "/s",
      ours: pick(results.ours, "perSec"),
      yardstick: pick(results.echo, "perSec"),
      wanted: { atLeast: 16_000 },
    }),
  ];
}

/** Lookups while one agent changes its card 50 times a second, against the same lookups without it. */
export async function lookups(context) {
  const node = await startNode(context);
  const client = await openClient({ url: node.url });
  const results = await inTurns(context, {
    quiet: (seconds) => client.ask("lookups", { seconds, inFlight: 16, updating: false }),
    updating: (seconds) => client.ask("lookups", { seconds, inFlight: 16, updating: true }),
  });
  return [
    ratioFigure({
      name: "lookups",
      title: "p99 of lookups while an agent updates itself 50 times a second",
      against: "without the updates",
      unit: "ms",
      ours: pick(results.updating, "p99Ms"),
      yardstick: pick(results.quiet, "p99Ms"),
      wanted: { atMost: 1.5 },
    }),
  ];
}
