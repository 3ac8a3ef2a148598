import type { Chance } from "./chance.js";
import type { ClientHost } from "./clients.js";
import { FAIR, type Weather } from "./network.js";
import type { Universe } from "./universe.js";
import { addAgent } from "./workload.js";

/** When faults begin and by when all are over, ms. */
const FIRST_MS = 500;
const LAST_MS = 9_000;
export const QUIET_MS = 14_000;

/** Plans what goes wrong in a run. Whatever began is over when it gets quiet. */
export function planFaults(universe: Universe, chance: Chance): void {
  const { world } = universe;
  // Not everything breaks in every run: what a rare fault does shows best where few others hide it (Groce et al., "Swarm
  // Testing", 2012).
  const kinds = FAULTS.filter(() => chance.in(0.4));
  const count = kinds.length === 0 ? 0 : chance.int(0, 8);
  for (let i = 0; i < count; i++) {
    const fault = chance.weighted(kinds);
    world.at(chance.between(FIRST_MS, LAST_MS), () => fault(universe, chance));
  }
  world.at(QUIET_MS, () => quiet(universe));
}

type Fault = (universe: Universe, chance: Chance) => void;

const anyClient = ({ clients }: Universe, chance: Chance): ClientHost => chance.pick(clients);
const anyAgent = ({ clients }: Universe, chance: Chance): ClientHost =>
  chance.pick(clients.filter(({ host }) => host.startsWith("agent")));

/** How long something lasts, ms: a moment, or longer than a lease. */
const aWhile = (chance: Chance): number => chance.pick([chance.between(20, 500), chance.between(500, 12_000)]);

const crashNode: Fault = ({ node, world, ledger }, chance) => {
  if (!node.up) return;
  const silently = chance.in(0.3);
  const downMs = aWhile(chance) / 2;
  ledger.fault("node", `${silently ? "loses its power" : "is killed"}, back after ${Math.round(downMs)} ms`);
  node.crash(silently);
  world.in(downMs, () => void node.boot());
};

const restartNode: Fault = ({ node, world, ledger }, chance) => {
  if (!node.up) return;
  ledger.fault("node", "is stopped in order, and started again");
  const run = node.run;
  const downMs = chance.between(10, 1_000);
  void node.stop().then(() => {
    node.crash(false);
    world.in(downMs, () => node.run === run && void node.boot());
  });
};

const crashClient: Fault = (universe, chance) => {
  const { world, ledger } = universe;
  const host = anyClient(universe, chance);
  if (!host.up || host.retired) return;
  const silently = chance.in(0.3);
  const downMs = aWhile(chance) / 2;
  ledger.fault(host.host, `${silently ? "loses its power" : "is killed"}, back after ${Math.round(downMs)} ms`);
  host.crash(silently);
  world.in(downMs, () => host.boot());
};

const replaceAgent: Fault = (universe, chance) => {
  const { ledger, world } = universe;
  const host = anyAgent(universe, chance);
  const { card } = host.settings;
  if (!host.up || host.retired || card === undefined) return;
  const first = chance.in(0.5);
  ledger.fault(host.host, `drains, its replacement comes ${first ? "before" : "after"} it`);
  const capabilities = (card.capabilities ?? []) as { name: string; idempotent: boolean }[];
  const next = addAgent(universe, chance, `${host.host}b`, card.agentId, capabilities);
  if (first) next.boot();
  else world.in(chance.between(10, 1_000), () => next.boot());
  host.process!.enter(() => void host.leave(chance.pick([300, 5_000])));
};

const pause: Fault = (universe, chance) => {
  const { world, ledger, node } = universe;
  const forMs = aWhile(chance);
  const process = chance.in(0.4) ? node.process : anyClient(universe, chance).process;
  if (process === undefined || !process.alive || process.paused) return;
  ledger.fault(process.name, `is stopped for ${Math.round(forMs)} ms`);
  process.pause();
  world.in(forMs, () => process.resume());
};

const jumpClock: Fault = (universe, chance) => {
  const { ledger, node } = universe;
  const process = chance.in(0.6) ? node.process : anyClient(universe, chance).process;
  const byMs = chance.pick([3_600_000, 7_000, 300, -300, -4_000]);
  if (process === undefined || !process.alive) return;
  ledger.fault(process.name, `its wall clock jumps by ${byMs} ms`);
  process.wall.offsetMs += byMs;
};

const cut: Fault = (universe, chance) => {
  const { network, ledger } = universe;
  const { host } = anyClient(universe, chance);
  ledger.fault(host, "its connections are reset");
  for (const link of network.linksOf(host)) link.cut();
};

const halfOpen: Fault = (universe, chance) => {
  const { network, ledger } = universe;
  const { host } = anyClient(universe, chance);
  const [up, down] = chance.pick([
    [true, true],
    [true, false],
    [false, true],
  ] as const);
  ledger.fault(
    host,
    `its connections are half open: lost is what it ${up ? "says" : ""}${up && down ? " and " : ""}${down ? "hears" : ""}`,
  );
  for (const link of network.linksOf(host)) link.halfOpen(up, down);
};

const weather = (
  what: string,
  change: (universe: Universe, chance: Chance, forMs: number) => Partial<Weather>,
): Fault => {
  return (universe, chance) => {
    const { network, ledger, world } = universe;
    const { host } = anyClient(universe, chance);
    const forMs = aWhile(chance);
    ledger.fault(host, `${what} for ${Math.round(forMs)} ms`);
    Object.assign(network.weatherOf(host), change(universe, chance, forMs));
    world.in(forMs, () => Object.assign(network.weatherOf(host), FAIR));
  };
};

const slowLink = weather("its link is slow", (_, chance) => ({ minMs: 50, maxMs: chance.pick([300, 1_500]) }));
const thinLink = weather("its link is thin", (_, chance) => ({ bytesPerMs: chance.pick([0.2, 2]) }));
const awayLink = weather("its link is away", ({ world }, _, forMs) => ({ awayUntil: world.now + forMs }));
const blackLink = weather("its link is a black hole", () => ({ black: true }));

const fullDisk: Fault = ({ disk, ledger, world }, chance) => {
  const forMs = aWhile(chance) / 2;
  ledger.fault("disk", `is full for ${Math.round(forMs)} ms`);
  disk.health.full = true;
  world.in(forMs, () => {
    disk.health.full = false;
  });
};

const slowDisk: Fault = ({ disk, ledger, world }, chance) => {
  const forMs = aWhile(chance);
  disk.health.slowMs = chance.pick([50, 600]);
  ledger.fault("disk", `takes up to ${disk.health.slowMs} ms to write, for ${Math.round(forMs)} ms`);
  world.in(forMs, () => {
    disk.health.slowMs = 2;
  });
};

const FAULTS: readonly (readonly [number, Fault])[] = [
  [3, crashNode],
  [1, restartNode],
  [4, crashClient],
  [3, replaceAgent],
  [3, pause],
  [2, jumpClock],
  [3, cut],
  [1, halfOpen],
  [2, slowLink],
  [1, thinLink],
  [2, awayLink],
  [0.5, blackLink],
  [1, fullDisk],
  [1, slowDisk],
];

/** Everything works again, and everybody is there. */
function quiet(universe: Universe): void {
  const { node, clients, network, disk, ledger } = universe;
  ledger.fault("world", "gets quiet: nothing is broken from now on");
  disk.health.full = false;
  disk.health.slowMs = 2;
  for (const { host } of clients) Object.assign(network.weatherOf(host), FAIR);
  node.process?.resume();
  for (const host of clients) host.process?.resume();
}
