import { Chance } from "./chance.js";
import { planFaults, QUIET_MS } from "./faults.js";
import { invariants } from "./invariants.js";
import { leaksOf } from "./leaks.js";
import type { Ledger, Wrong } from "./ledger.js";
import type { Plant } from "./plants.js";
import { planPublishes } from "./publishing.js";
import { timeline } from "./timeline.js";
import { configFor, Universe } from "./universe.js";
import { makeWishes } from "./wishes.js";
import { plan, populate, WORK_MS } from "./workload.js";

/** What became of one seed. */
export interface Outcome {
  readonly seed: number;
  readonly wrongs: readonly Wrong[];
  /** Of what went wrong, in words, with what happened around it; only when asked for. */
  readonly timeline: string | undefined;
  readonly steps: number;
  /** Fake time that passed, ms. */
  readonly passedMs: number;
  /** One number for all that happened: the same seed gives the same. */
  readonly digest: number;
}

export interface RunOptions {
  /** Keeps what happened, line by line. */
  recording?: boolean;
  /** In the timeline is all of it, not only what belongs to what went wrong. */
  whole?: boolean;
  /** Puts a bug in. */
  plant?: Plant;
}

/** By when everything must have ended: the longest deadline, the patience of everybody, and an hour for clocks that jumped. */
const END_MS = 240_000;
/** How often it is looked whether everything has ended. */
const LOOK_MS = 500;
/** Timers of a node that was stopped run out within this time. */
const LAST_TIMERS_MS = 70_000;

/** Lives through one seed, and looks whether all promises were kept. */
export async function simulate(seed: number, options: RunOptions = {}): Promise<Outcome> {
  const chance = new Chance(seed);
  const universe = new Universe(chance.fork(), configFor(chance), options.recording === true, options.plant);
  const { world, ledger } = universe;
  const unhandled = (error: unknown) =>
    ledger.wrong("nothing unexpected happens", `a promise was left rejected: ${(error as Error)?.stack ?? error}`);
  process.on("unhandledRejection", unhandled);
  const pullUp = options.plant?.everywhere?.() ?? (() => {});
  try {
    await live(universe, chance);
    for (const { name, check } of invariants) check(ledger, (what, job) => ledger.wrong(name, what, job));
    await audit(universe);
  } finally {
    pullUp();
    process.off("unhandledRejection", unhandled);
  }
  const { wrongs } = ledger;
  return {
    seed,
    wrongs,
    timeline:
      options.recording === true ? timeline(ledger, options.whole === true ? undefined : jobsOf(wrongs)) : undefined,
    steps: world.steps,
    passedMs: world.now,
    digest: digestOf(ledger),
  };
}

async function live(universe: Universe, chance: Chance): Promise<void> {
  const { world, node, clients } = universe;
  populate(universe, chance.fork());
  void node.boot();
  for (const client of clients) world.at(chance.between(5, 200), () => client.boot());
  plan(universe, chance.fork());
  planFaults(universe, chance.fork());
  makeWishes(universe, chance.fork());
  planPublishes(universe, chance.fork());
  await world.run(Math.max(QUIET_MS, WORK_MS));
  const untilAllHasEnded = async () => {
    while (world.now < END_MS && !hasEnded(universe)) await world.run(world.now + LOOK_MS);
  };
  await untilAllHasEnded();
  // What was said last is heard, and what was kept for a moment is let go.
  await world.run(world.now + 3_000);
  // Meanwhile somebody may have noticed that his connection is dead, and be about to register over another.
  await untilAllHasEnded();
}

/** Whether nothing is left to happen but heartbeats. */
function hasEnded({ ledger, node, clients }: Universe): boolean {
  if (!node.up || node.house === undefined) return false;
  for (const { up, retired, client } of clients) {
    if (retired ? up : !up || (client!.state !== "online" && client!.state !== "idle")) return false;
  }
  for (const history of ledger.commits.values()) {
    const { state, notify } = history[history.length - 1]!.task;
    if (notify || state === "queued" || state === "delivered" || state === "working") return false;
  }
  for (const job of ledger.jobs) {
    for (const { answer, result, process, what, messageId } of job.sends) {
      if (!process.alive) continue;
      if (what !== "follow" && answer === undefined) return false;
      // Who repeats himself may have to ask for the end, after a while.
      if (what !== "call" && result === undefined && ledger.hasEnded(answer?.messageId ?? messageId)) return false;
    }
  }
  for (const { sends } of ledger.publishes.byGroup.values())
    for (const { process, answer, end } of sends)
      if (process.alive && (answer === undefined || (answer.deliveries !== undefined && end === undefined)))
        return false;
  return leaksOf(node.house, (id) => ledger.hasEnded(id)).length === 0;
}

/** Looks for what is held though everything has ended, and for timers of what was closed. */
async function audit({ node, clients, ledger, world }: Universe): Promise<void> {
  const { house, process } = node;
  const leak = (what: string) => ledger.wrong("nothing is left over", what);
  if (house === undefined || process === undefined || !node.up) return leak("the node is not there");
  const left = () => leaksOf(house, (id) => ledger.hasEnded(id));
  // A lease may end at this very moment, and be written down as ended; what stays is a leak.
  if (left().length > 0) await world.run(world.now + 1_000);
  for (const what of left()) leak(what);
  for (const { client, up } of clients) if (up) void client!.close();
  await world.run(world.now + 4_000);
  for (const client of clients)
    if (client.up && client.process!.timers > 0)
      leak(`${client.process!.timers} timers of ${client.host}, whose client is closed`);
  void node.stop();
  await world.run(world.now + LAST_TIMERS_MS);
  if (process.timers > 0) leak(`${process.timers} timers of the node, which was stopped`);
}

function jobsOf(wrongs: readonly Wrong[]): ReadonlySet<number> | undefined {
  const jobs = wrongs.flatMap(({ job }) => (job === undefined ? [] : [job]));
  return jobs.length === 0 ? undefined : new Set(jobs);
}

/** FNV-1a (Fowler, Noll, Vo) over what was stored and executed, and when. */
function digestOf(ledger: Ledger): number {
  let hash = 0x811c9dc5;
  const add = (value: number) => {
    hash = Math.imul(hash ^ Math.floor(value * 1_000), 0x01000193);
  };
  for (const { at, job, attempt } of ledger.executions) {
    add(at);
    add(job.id);
    add(attempt);
  }
  for (const history of ledger.commits.values())
    for (const { at, task } of history) add(at + task.revision + task.state.length);
  return hash >>> 0;
}
