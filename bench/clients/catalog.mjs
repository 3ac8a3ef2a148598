// A catalog that grows while it is asked: agents with their capabilities, then new cards at a steady rate and, beside them,
// requests by meaning, each for what has just been registered and was not found yet.
import { servePart } from "../lib/part.mjs";
import { Latencies, quantile } from "../lib/stats.mjs";
import { capabilityOf, nameOf, requestOf } from "../lib/trades.mjs";
import { connect } from "../lib/wire.mjs";

const socketCount = 250;
const openAtOnce = 64;
const tickMs = 5;
const heartbeatIntervalSec = 60;
/** So soon a new card should be found; one that is not by then is given up, so that others have their turn. */
const patienceMs = 1_000;

const sockets = [];
const agents = [];
let capabilities = 0;

/** The next agent, with the next so many capabilities. */
async function register(count) {
  const agentId = `agent-${agents.length}`;
  const socket = sockets[agents.length % socketCount];
  const agent = { socket };
  agents.push(agent);
  const first = capabilities;
  capabilities += count;
  const list = Array.from({ length: count }, (_, i) => capabilityOf(first + i));
  const { instanceId } = await socket.ask("register", { card: { agentId, heartbeatIntervalSec, capabilities: list } });
  agent.instanceId = instanceId;
  return first;
}

/** The beats of all agents, spread over the interval. */
function beat() {
  let sent = 0;
  let startedAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    const due = ((now - startedAt) / 1000) * (agents.length / heartbeatIntervalSec);
    for (; sent < due; sent++) {
      const { socket, instanceId } = agents[sent % agents.length];
      if (instanceId !== undefined) socket.request("heartbeat", { instanceId }, () => {});
    }
    // The fleet grew meanwhile.
    if (sent >= agents.length) [sent, startedAt] = [0, now];
  }, tickMs).unref();
}

/** Calls `act` so many times a second, for so long, and catches up when a tick is late; resolves when all are done. */
function atRate(perSec, seconds, act) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const acts = [];
    const timer = setInterval(() => {
      const due = Math.min(seconds, (performance.now() - startedAt) / 1000) * perSec;
      while (acts.length < Math.floor(due)) acts.push(act());
      if (acts.length < perSec * seconds) return;
      clearInterval(timer);
      Promise.all(acts).then(() => resolve({ tookSec: (performance.now() - startedAt) / 1000 }), reject);
    }, tickMs);
  });
}

/** Whether a request by meaning finds the capability of this number. */
async function finds(socket, number) {
  const { verdict, candidates, misses } = await socket.ask("discover", { intent: requestOf(number) });
  const name = nameOf(number);
  return verdict !== "no_match" && [...candidates, ...misses].some(({ capability }) => capability === name);
}

servePart({
  async open({ url, agents: count, capabilitiesEach }) {
    for (let s = 0; s < socketCount; s++) sockets.push(await connect(url));
    const worker = async () => {
      while (agents.length < count) await register(capabilitiesEach);
    };
    await Promise.all(Array.from({ length: openAtOnce }, worker));
    beat();
  },

  /** How many of so many that have long been there are found. */
  async known({ count }) {
    let found = 0;
    for (let i = 0; i < count; i++) if (await finds(sockets[0], (i * 7_919) % capabilities)) found++;
    return { found };
  },

  async run({ seconds, cardsPerSec, requestsPerSec }) {
    const registering = new Latencies();
    const asking = new Latencies();
    const foundAfter = [];
    let notFound = 0;
    let latest;
    let wanted;
    const card = async () => {
      const startedAt = performance.now();
      const number = await register(1);
      const at = performance.now();
      registering.add(at - startedAt);
      latest = { number, at };
    };
    const request = async () => {
      wanted ??= latest;
      const asked = wanted;
      if (asked === undefined) return;
      const startedAt = performance.now();
      const found = await finds(sockets[0], asked.number);
      const now = performance.now();
      asking.add(now - startedAt);
      // Two requests for the same one may be under way.
      if (asked !== wanted) return;
      if (found) foundAfter.push(now - asked.at);
      else if (now - asked.at > patienceMs) notFound++;
      else return;
      wanted = undefined;
    };
    const requests = atRate(requestsPerSec, seconds, request);
    const { tookSec } = await atRate(cardsPerSec, seconds, card);
    await requests;
    foundAfter.sort((a, b) => a - b);
    const registered = registering.summary();
    return {
      cardsPerSec: registered.count / tookSec,
      registerP50Ms: registered.p50Ms,
      registerP99Ms: registered.p99Ms,
      requests: asking.summary(),
      found: {
        count: foundAfter.length,
        share: foundAfter.length / (foundAfter.length + notFound),
        p50Ms: quantile(foundAfter, 0.5),
        p99Ms: quantile(foundAfter, 0.99),
        maxMs: foundAfter.at(-1),
      },
    };
  },
});
