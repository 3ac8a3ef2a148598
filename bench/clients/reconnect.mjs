// Who comes back after a restart of the node: a crowd of SDK agents, and a caller with its agent that are back first.
import { AgentReachClient } from "@agent-reach/sdk";
import { servePart } from "../lib/part.mjs";
import { quantile } from "../lib/stats.mjs";

const callEveryMs = 5;
/** So that these two are back before the crowd, and their calls meet it. */
const early = { minMs: 5, maxMs: 20 };
const silent = { debug() {}, info() {}, warn() {}, error: console.error };

let online = 0;
/** Who waits for a number of agents online. */
let awaited = { online: -1, resolve() {} };

/** A thousand agents on the SDK's own defaults, one socket each. */
const crowd = {
  async open({ url, count }) {
    const started = Array.from({ length: count }, (_, number) => {
      const client = new AgentReachClient({ registryUrl: url, logger: silent });
      client.register({ agentId: `crowd-${number}`, capabilities: [{ name: `work_${number}`, idempotent: true }] });
      client.onCapability(`work_${number}`, () => null);
      let isOnline = false;
      client.on("state", ({ state }) => {
        if ((state === "online") === isOnline) return;
        isOnline = !isOnline;
        online += isOnline ? 1 : -1;
        if (online === awaited.online) awaited.resolve();
      });
      return client.start();
    });
    await Promise.all(started);
  },
  /** Answers once so many are online. */
  until: ({ online: wanted }) =>
    new Promise((resolve) => {
      awaited = { online: wanted, resolve };
      if (online === wanted) resolve();
    }),
};

const agent = {
  async open({ url }) {
    const client = new AgentReachClient({ registryUrl: url, reconnect: early, logger: silent });
    client.register({
      agentId: "steady",
      maxConcurrentTasks: 1_000,
      capabilities: [{ name: "ask", idempotent: true }],
    });
    client.onCapability("ask", (input) => input);
    await client.start();
  },
};

let client;
let timer;
let latencies = [];
let errors = [];
const underWay = new Set();

/** Calls at a steady rate. Counted is what was asked while this caller had a session, and answered by its agent. */
const caller = {
  async open({ url }) {
    client = new AgentReachClient({ registryUrl: url, reconnect: early, logger: silent });
    await client.connect();
  },
  begin() {
    latencies = [];
    errors = [];
    let answered = false;
    const call = async () => {
      // Once one is answered the agent is back as well; what was asked before waited for that agent, not for the crowd.
      const counts = answered;
      const startedAt = performance.now();
      const { ok, errorMessage } = await client.callSync({ capability: "ask", input: 1, timeoutMs: 30_000 });
      const tookMs = performance.now() - startedAt;
      if (ok) answered = true;
      if (!counts) return;
      if (ok) latencies.push(tookMs);
      else errors.push(errorMessage);
    };
    timer = setInterval(() => {
      if (client.state !== "online") return;
      const ended = call().finally(() => underWay.delete(ended));
      underWay.add(ended);
    }, callEveryMs);
  },
  async end() {
    clearInterval(timer);
    await Promise.all(underWay);
    const sorted = Float64Array.from(latencies).sort();
    return { count: sorted.length, errors, p99Ms: quantile(sorted, 0.99), maxMs: sorted.at(-1) ?? Number.NaN };
  },
};

servePart({ crowd, agent, caller }[process.argv[2]]);
