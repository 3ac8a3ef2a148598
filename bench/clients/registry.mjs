// The registry's daily work, 8 sockets with a population of 320 agents: of 20 operations 8 are heartbeats, 4 look
// an agent up, 4 discover by name, 2 change a card, 1 registers a new agent and 1 takes one away again.
import { closedLoop } from "../lib/load.mjs";
import { servePart } from "../lib/part.mjs";
import { connect, enlist } from "../lib/wire.mjs";

const socketCount = 8;
const agentsPerSocket = 40;

const card = (agentId, version) => ({
  agentId,
  heartbeatIntervalSec: 15,
  labels: { version: String(version) },
  capabilities: [{ name: `skill_${agentId.slice(-1)}`, idempotent: true, description: "One of ten" }],
});

const sockets = [];
const agents = [];
const extra = [];
let turn = 0;
let lastNumber = 0;

const next = () => agents[turn % agents.length];
const operations = {
  heartbeat: (done) => {
    const { socket, instanceId } = next();
    socket.request("heartbeat", { instanceId, load: { running: turn % 8, queued: 0 } }, done);
  },
  get: (done) => next().socket.request("agents.get", { agentId: agents[(turn * 7) % agents.length].agentId }, done),
  discover: (done) => next().socket.request("discover", { capability: `skill_${turn % 10}` }, done),
  update: (done) => {
    const { socket, agentId, instanceId } = next();
    socket.request("register", { card: card(agentId, turn), instanceId }, done);
  },
  register: (done) => {
    const { socket } = next();
    const agentId = `bench-new-${++lastNumber}`;
    socket.request("register", { card: card(agentId, 0) }, (error, result) => {
      if (!error) extra.push({ socket, instanceId: result.instanceId });
      done(error);
    });
  },
  deregister: (done) => {
    const oldest = extra.shift();
    if (oldest === undefined) operations.heartbeat(done);
    else oldest.socket.request("deregister", { instanceId: oldest.instanceId }, done);
  },
};

const mix = ["heartbeat", "get", "heartbeat", "discover", "heartbeat", "register", "get", "heartbeat", "discover"]
  .concat(["update", "heartbeat", "get", "heartbeat", "discover", "deregister", "heartbeat", "get", "discover"])
  .concat(["heartbeat", "update"])
  .map((name) => operations[name]);
const lookups = [operations.get, operations.discover];

const cycle = (list) => (done) => {
  turn += 1;
  list[turn % list.length](done);
};

/** One agent that changes its card 50 times a second, until `stop`. */
function restless() {
  const { socket, agentId, instanceId } = agents[0];
  let version = 0;
  const timer = setInterval(() => {
    socket.request("register", { card: card(agentId, `r${++version}`), instanceId }, () => {});
  }, 20);
  return () => clearInterval(timer);
}

servePart({
  /** `hello: false` speaks to the echo yardstick, which knows neither hello nor agents but answers all the same. */
  async open({ url, hello = true }) {
    for (let s = 0; s < socketCount; s++) sockets.push(await connect(url, { hello }));
    for (let n = 0; n < socketCount * agentsPerSocket; n++) {
      const socket = sockets[n % socketCount];
      const agentId = `bench-agent-${n}`;
      const { instanceId } = await enlist(socket, card(agentId, 0), { heartbeatMs: hello ? 5_000 : 0 });
      agents.push({ socket, agentId, instanceId });
    }
  },
  run: (options) => closedLoop(options, cycle(mix)),
  async lookups({ updating, ...options }) {
    const stop = updating ? restless() : () => {};
    try {
      return await closedLoop(options, cycle(lookups));
    } finally {
      stop();
    }
  },
});
