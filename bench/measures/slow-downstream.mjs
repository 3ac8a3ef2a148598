// An agent at the end of a chain of three stops answering while 500 calls a second arrive at the first: what the others
// notice of it, how soon its own callers are told, and how soon all is well again. With the bulkhead, and without.
import { setTimeout as wait } from "node:timers/promises";
import { valueFigure } from "../lib/figure.mjs";
import { startNode } from "../lib/node.mjs";
import { startPart, stopEverything } from "../lib/processes.mjs";
import { quantile } from "../lib/stats.mjs";

const rates = { front: 500, beside: 100, apart: 100 };
const warmUpSec = 5;
const beforeSec = 20;
const stallSec = 30;
const afterSec = 15;
/** Long enough for everybody to know: what comes later in the outage should fail at once. */
const knownAfterMs = 2_000;
const fastMs = 100;
const unlimited = [
  "--limits-in-flight-calls-max",
  "1000000",
  "--limits-in-flight-calls-min",
  "1000000",
  "--breaker-enabled",
  "false",
];

async function outage(context, args) {
  const node = await startNode({ ...context, args });
  const parts = {};
  for (const role of ["leaf", "middle", "front", "apart", "caller"]) {
    parts[role] = startPart("clients/chain.mjs", role);
    await parts[role].ask("open", { url: node.url });
  }
  await parts.caller.ask("run", { seconds: warmUpSec, rates });
  const running = parts.caller.ask("run", { seconds: beforeSec + stallSec + afterSec, rates });
  await wait(beforeSec * 1000);
  // As a process that hangs: its connection is there and takes what is sent, and nothing comes back.
  process.kill(parts.leaf.pid, "SIGSTOP");
  const stoppedAt = performance.timeOrigin + performance.now();
  await wait(stallSec * 1000);
  process.kill(parts.leaf.pid, "SIGCONT");
  const resumedAt = performance.timeOrigin + performance.now();
  const records = await running;
  await stopEverything();
  return judge(records, stoppedAt, resumedAt);
}

function judge(records, stoppedAt, resumedAt) {
  const during = (list, from, to) => list.filter(([at]) => at >= from && at < to);
  const times = (list) => list.map(([, took]) => took).sort((a, b) => a - b);
  const p99 = (list) => quantile(times(list), 0.99);
  const outage = during(records.front, stoppedAt + knownAfterMs, resumedAt);
  const failures = outage.filter(([, , code]) => code !== null);
  const lastFailed = Math.max(
    resumedAt,
    ...during(records.front, resumedAt, Infinity)
      .filter(([, , code]) => code !== null)
      .map(([at]) => at),
  );
  const other = (name) => {
    const [calm, slow] = [during(records[name], 0, stoppedAt), during(records[name], stoppedAt, resumedAt)];
    return {
      ratio: p99(slow) / p99(calm),
      beforeMs: p99(calm),
      duringMs: p99(slow),
      errors: slow.filter(([, , code]) => code !== null).length,
    };
  };
  const codes = {};
  for (const [, , code] of failures) codes[code] = (codes[code] ?? 0) + 1;
  return {
    beside: other("beside"),
    apart: other("apart"),
    fastPercent: (100 * outage.filter(([, took]) => took <= fastMs).length) / outage.length,
    failP50Ms: quantile(times(failures), 0.5),
    failP99Ms: quantile(times(failures), 0.99),
    codes,
    recoverySec: (lastFailed - resumedAt) / 1000,
  };
}

export async function slowDownstream(context) {
  const ours = await outage(context, []);
  const without = await outage(context, unlimited);
  const figure = (name, title, unit, wanted, read) =>
    valueFigure({
      name: `slow-downstream-${name}`,
      title: `an agent hangs: ${title}`,
      against: "without bulkhead",
      unit,
      ours: [read(ours)],
      yardstick: [read(without)],
      wanted,
      detail: { ours, without },
    });
  return [
    figure(
      "beside",
      "p99 of calls to another capability of an agent in the chain, against before",
      "x",
      { atMost: 2 },
      (r) => r.beside.ratio,
    ),
    figure(
      "apart",
      "p99 of calls to an agent that has nothing to do with it, against before",
      "x",
      { atMost: 2 },
      (r) => r.apart.ratio,
    ),
    figure("fast", `share of its callers who are told within ${fastMs} ms`, "%", { atLeast: 90 }, (r) => r.fastPercent),
    figure("recovery", "last failed call after it answers again", "s", { atMost: 5 }, (r) => r.recoverySec),
  ];
}
