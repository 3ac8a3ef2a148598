// A large catalog which goes on growing while it is asked by meaning: how fast it takes new
// cards, how soon they are found, and for how long the node's event loop is held meanwhile.
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { valueFigure } from "../lib/figure.mjs";
import { cpuSeconds } from "../lib/host.mjs";
import { evaluate, inspectable } from "../lib/inspector.mjs";
import { startNode } from "../lib/node.mjs";
import { startPart } from "../lib/processes.mjs";

const capabilitiesEach = 10;
const rates = { cardsPerSec: 500, requestsPerSec: 20 };
const runSec = 20;
/** Of those that have long been there, so many are asked for; most must be found before it begins. */
const knownCount = 200;
const knownShare = 0.8;
const watched = ["--import", fileURLToPath(new URL("../lib/loop-watch.mjs", import.meta.url))];

const lookEveryMs = 1_000;

/** How many capabilities the node has not learnt yet. */
async function waiting(node) {
  const text = await (await fetch(`${node.httpUrl}/metrics`)).text();
  return Number(/^agent_reach_capabilities_waiting\{stage="index"\} (\d+)$/m.exec(text)[1]);
}

/** Waits until the node has learnt all its cards; answers which share of some that are asked for is found. */
async function learnt(node, client) {
  while ((await waiting(node)) > 0) await wait(lookEveryMs);
  const { found } = await client.ask("known", { count: knownCount });
  if (found < knownShare * knownCount) throw new Error(`only ${found} of ${knownCount} that it has learnt are found`);
  return found / knownCount;
}

/** Begins with so many agents of ten capabilities each. */
export const catalog = (agents) => (context) => measure({ agents, capabilitiesEach }, context);

async function measure(size, context) {
  const node = await startNode({ nodeOptions: [inspectable, ...watched, ...(context.nodeOptions ?? [])] });
  const client = startPart("clients/catalog.mjs");
  const startedAt = performance.now();
  await client.ask("open", { url: node.url, ...size });
  const registeredAt = performance.now();
  const knownFound = await learnt(node, client);
  const learntAt = performance.now();
  await evaluate(node.log(), "loopWatch.begin()");
  const [cpuBefore, beganAt] = [cpuSeconds(node.pid), performance.now()];
  const run = await client.ask("run", { seconds: runSec, ...rates });
  const cpuPercent = (100 * (cpuSeconds(node.pid) - cpuBefore)) / ((performance.now() - beganAt) / 1000);
  const loop = JSON.parse(await evaluate(node.log(), "loopWatch.read()"));
  const detail = {
    ...run,
    loop,
    cpuPercent,
    knownFoundPercent: 100 * knownFound,
    registeredSec: (registeredAt - startedAt) / 1000,
    learntSec: (learntAt - registeredAt) / 1000,
  };
  const capabilities = size.agents * size.capabilitiesEach;
  const share = (100 * run.found.share) / knownFound;
  const figure = (name, title, unit, value, wanted) =>
    valueFigure({
      name: `catalog-${name}-${capabilities}`,
      title: `${capabilities.toLocaleString("en")} capabilities: ${title}`,
      unit,
      ours: [value],
      wanted,
      detail,
    });
  return [
    figure("register", "new cards taken while it is asked", "/s", run.cardsPerSec, {
      atLeast: 0.98 * rates.cardsPerSec,
    }),
    // Some requests do not find their card however long it has been there, so new ones are held against old ones.
    figure("found", "new cards that a request by meaning finds within a second, of as many old ones", "%", share, {
      atLeast: 90,
    }),
    figure("soon", "from a card's registration until it is found, p99", "ms", run.found.p99Ms, { atMost: 1_000 }),
    figure("loop", "longest time for which the event loop is held meanwhile", "ms", loop.held.maxMs, { atMost: 20 }),
    figure("ask", "discover by meaning meanwhile, p95", "ms", run.requests.p95Ms, { atMost: 100 }),
  ];
}
