// What agents cost by being there: 1,000 that beat, 10,000 that wait, 10,000 that are looked for.
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { inTurns, valueFigure } from "../lib/figure.mjs";
import { cpuSeconds, openFilesMax, rssBytes, timeWaitCount } from "../lib/host.mjs";
import { collectGarbage, inspectable } from "../lib/inspector.mjs";
import { startNode } from "../lib/node.mjs";
import { scratch, startPart } from "../lib/processes.mjs";
import { median } from "../lib/stats.mjs";

const watchedSec = 20;
const thousands = 10_000;
const ready = { ours: startNode, echo: startEcho };

async function startEcho({ nodeOptions = [] }) {
  const logFile = join(scratch(), "echo.log");
  const output = openSync(logFile, "w");
  const part = startPart("yardsticks/echo.mjs", "", { nodeOptions, output });
  closeSync(output);
  const url = `ws://127.0.0.1:${await part.ask("open")}`;
  return { ...part, url, hello: false, log: () => readFileSync(logFile, "utf8") };
}

async function openCrowd(server, options) {
  const crowd = startPart("clients/crowd.mjs");
  await crowd.ask("open", { url: server.url, hello: server.hello ?? true, ...options });
  return crowd;
}

function needFiles(count) {
  if (openFilesMax() > count + 100) return;
  throw new Error(`${count} sockets need more open files than ${openFilesMax()}: raise the limit (ulimit -Hn)`);
}

/** CPU of a process with 1,000 sockets that heartbeat every 5 s, as a share of one core. */
async function cpuOfHeartbeats(kind, context) {
  const server = await ready[kind](context);
  const crowd = await openCrowd(server, { count: 1_000, heartbeatIntervalSec: 5 });
  await wait(3_000);
  const port = Number(new URL(server.url).port);
  const timeWaitBefore = timeWaitCount(port);
  const before = cpuSeconds(server.pid);
  const startedAt = performance.now();
  await wait(watchedSec * 1000);
  const percent = ((cpuSeconds(server.pid) - before) / ((performance.now() - startedAt) / 1000)) * 100;
  const timeWaitGrowth = timeWaitCount(port) - timeWaitBefore;
  await crowd.stop();
  await server.stop();
  return { percent, timeWaitGrowth };
}

export async function heartbeats(context) {
  const echo = await cpuOfHeartbeats("echo", context);
  const ours = await cpuOfHeartbeats("ours", context);
  return [
    valueFigure({
      name: "heartbeats",
      title: "CPU of one core for 1,000 sockets with a heartbeat every 5 s",
      against: "echo",
      unit: "%",
      ours: [ours.percent],
      yardstick: [echo.percent],
      wanted: { atMost: 10 },
    }),
    valueFigure({
      name: "time-wait",
      title: `growth of sockets in TIME_WAIT in those ${watchedSec} s`,
      unit: "",
      ours: [ours.timeWaitGrowth],
      wanted: { atMost: 0 },
    }),
  ];
}

/** Waits until the memory of a process stays the same, within 1 %, for three seconds. */
async function settledRss(pid) {
  let last = rssBytes(pid);
  let calm = 0;
  for (let second = 0; second < 30 && calm < 3; second++) {
    await wait(1_000);
    const now = rssBytes(pid);
    calm = Math.abs(now - last) < last * 0.01 ? calm + 1 : 0;
    last = now;
  }
  return last;
}

async function memoryOfIdle(kind, context) {
  const server = await ready[kind]({ nodeOptions: [inspectable, ...(context.nodeOptions ?? [])] });
  // A hundred first, so that what the code itself needs once is not counted for every agent.
  const first = await openCrowd(server, { count: 100, prefix: "first" });
  await collectGarbage(server.log());
  const before = await settledRss(server.pid);
  const crowd = await openCrowd(server, { count: thousands });
  const asSeen = await settledRss(server.pid);
  await collectGarbage(server.log());
  const after = await settledRss(server.pid);
  await Promise.all([first.stop(), crowd.stop()]);
  await server.stop();
  const kb = (bytes) => (bytes - before) / thousands / 1000;
  return { perAgentKb: kb(after), asSeenKb: kb(asSeen) };
}

export async function idle(context) {
  needFiles(thousands);
  const echo = await memoryOfIdle("echo", context);
  const ours = await memoryOfIdle("ours", context);
  return [
    valueFigure({
      name: "idle",
      title: "memory for each of 10,000 idle agents, one socket each",
      against: "echo",
      unit: "kB",
      ours: [ours.perAgentKb],
      yardstick: [echo.perAgentKb],
      wanted: { atMost: 20 },
      detail: { beforeCollectionKb: ours.asSeenKb, echoBeforeCollectionKb: echo.asSeenKb },
    }),
  ];
}

/**
 * Discover by name among 50,000 capabilities: the p99 of one caller's round trip less that of a `ping` in the same
 * rounds, since both suffer alike from the way and from whatever else the machine does. What remains is the node's own
 * time and the larger answer's. Of the five names of an agent one is offered by 99 others too.
 */
export async function discover(context) {
  needFiles(thousands);
  const server = await startNode(context);
  const crowd = await openCrowd(server, { count: thousands, capabilities: 5, heartbeatIntervalSec: 60 });
  const probe = (kind) => (seconds) => crowd.ask("probe", { kind, seconds });
  const results = await inTurns(context, { ping: probe("ping"), own: probe("own"), shared: probe("shared") });
  const figure = (kind, offered) =>
    valueFigure({
      name: `discover-${kind}`,
      title: `discover by a name ${offered}, of 50,000 capabilities, p99 above that of a ping`,
      unit: "ms",
      ours: results[kind].map(({ p99Ms }, round) => p99Ms - results.ping[round].p99Ms),
      wanted: { atMost: 1 },
      detail: {
        p50Ms: median(results[kind].map(({ p50Ms }) => p50Ms)),
        p99Ms: median(results[kind].map(({ p99Ms }) => p99Ms)),
        pingP50Ms: median(results.ping.map(({ p50Ms }) => p50Ms)),
        pingP99Ms: median(results.ping.map(({ p99Ms }) => p99Ms)),
      },
    });
  return [figure("own", "that one agent offers"), figure("shared", "that 100 agents offer")];
}
