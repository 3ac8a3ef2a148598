// Caller, router and agent, opened together.
import { cpuSeconds } from "./host.mjs";
import { startNode } from "./node.mjs";
import { startPart } from "./processes.mjs";
import { median } from "./stats.mjs";

/** Runs the caller and adds what CPU time of each process one operation cost, which noise disturbs least. */
async function runWithCpu({ caller, ...others }, options) {
  const pids = Object.entries({ caller, ...others }).map(([role, { pid }]) => [`${role}CpuUs`, pid]);
  const before = pids.map(([, pid]) => cpuSeconds(pid));
  const result = await caller.ask("run", options);
  const used = pids.map(([name, pid], i) => [name, ((cpuSeconds(pid) - before[i]) * 1e6) / result.count]);
  return { ...result, ...Object.fromEntries(used) };
}

/** A yardstick with the roles `router`, `agent` and `caller`. */
export async function openYardstick(script, options = {}) {
  const [router, agent, caller] = ["router", "agent", "caller"].map((role) => startPart(script, role));
  const port = await router.ask("open", options);
  await agent.ask("open", { port });
  await caller.ask("open", { port });
  return { run: (runOptions) => runWithCpu({ caller, router, agent }, runOptions) };
}

/** A node with one agent (`agentRole`) and one caller, both from `clients/NAME.mjs`. */
export async function openOurs(clients, { nodeOptions, agentRole = "agent" }) {
  const node = await startNode({ nodeOptions });
  const agent = startPart(`clients/${clients}.mjs`, agentRole);
  const caller = startPart(`clients/${clients}.mjs`, "caller");
  const where = { url: node.url, agentId: "order-agent-01" };
  await agent.ask("open", where);
  await caller.ask("open", where);
  return { run: (runOptions) => runWithCpu({ caller, router: node, agent }, runOptions) };
}

const detailFields = ["perSec", "p50Ms", "p99Ms", "callerCpuUs", "routerCpuUs", "agentCpuUs"];

/** The medians of what the runs of one contestant have in common. */
export function medians(results) {
  const fields = detailFields.filter((field) => field in results[0]);
  return Object.fromEntries(fields.map((field) => [field, median(results.map((result) => result[field]))]));
}
