import type { Agent, Instance } from "@agent-reach/protocol";
import { printable } from "./evaluation.js";
import { shortId } from "./id.js";
import { type Paint, paintState } from "./paint.js";
import { renderFields, renderTable, shorten } from "./table.js";
import { formatAge, formatDuration } from "./time.js";

export function renderAgents(agents: readonly Agent[], now: number, paint: Paint): string {
  if (agents.length === 0) return "No agents are registered.\n";
  const rows = agents.map((agent) => [
    paint.name(agent.agentId),
    paintState(agent.state, paint) + brokenMark(agent.instances, paint),
    String(agent.instances.length),
    `${sum(agent.instances, (each) => each.load.running)}/${sum(agent.instances, (each) => each.load.queued)}`,
    formatAge(lastHeartbeat(agent.instances), now),
    shorten((agent.card.capabilities ?? []).map((capability) => capability.name).join(", ") || "-", 60),
  ]);
  return renderTable(["AGENT", "STATE", "INSTANCES", "RUNNING/QUEUED", "HEARTBEAT", "CAPABILITIES"], rows, paint);
}

export function renderAgent(agent: Agent, now: number, paint: Paint): string {
  const { card } = agent;
  const labels = Object.entries(card.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const head = renderFields(
    [
      [
        "agent",
        `${paint.name(agent.agentId)}${card.name === undefined || card.name === agent.agentId ? "" : ` (${card.name})`}`,
      ],
      ["state", paintState(agent.state, paint)],
      ["about", card.description],
      ["card", `version ${agent.version}`],
      [
        "transport",
        card.transport === undefined
          ? undefined
          : [card.transport.type, card.transport.endpoint].filter(Boolean).join(" "),
      ],
      ["labels", labels.length === 0 ? undefined : labels.join(", ")],
      ["topics", agent.topics?.join(", ")],
      ["at once", card.maxConcurrentTasks === undefined ? undefined : `${card.maxConcurrentTasks} tasks`],
    ],
    paint,
  );
  return `${head}\n${renderCapabilities(agent, paint)}${renderWarnings(agent, paint)}\n${renderInstances(agent.instances, now, paint)}${renderBreakers(agent.instances, paint)}`;
}

/** REG-12: what may keep its capabilities from being found. */
function renderWarnings({ warnings = [] }: Agent, paint: Paint): string {
  return warnings.map((text) => `${paint.doubt("warning:")} ${printable(text)}\n`).join("");
}

function renderCapabilities({ card }: Agent, paint: Paint): string {
  const rows = (card.capabilities ?? []).map((capability) => [
    paint.name(capability.name),
    capability.version ?? "-",
    capability.idempotent === undefined ? "-" : capability.idempotent ? "yes" : "no",
    (capability.tags ?? []).join(", ") || "-",
    shorten(capability.description ?? "-", 60),
  ]);
  return rows.length === 0
    ? "It offers nothing.\n"
    : renderTable(["CAPABILITY", "VERSION", "IDEMPOTENT", "TAGS", "ABOUT"], rows, paint);
}

function renderInstances(instances: readonly Instance[], now: number, paint: Paint): string {
  const rows = instances.map((instance) => [
    instance.instanceId,
    paintState(instance.state, paint),
    formatAge(instance.since, now),
    formatAge(instance.lastHeartbeatAt, now),
    String(instance.epoch),
    `${instance.load.running}/${instance.load.queued}`,
    instance.health.toFixed(2),
    instance.node,
  ]);
  if (rows.length === 0) return "No instance is registered.\n";
  const table = renderTable(
    ["INSTANCE", "STATE", "SINCE", "HEARTBEAT", "EPOCH", "RUNNING/QUEUED", "HEALTH", "NODE"],
    rows,
    paint,
  );
  return table + instances.map(renderFlapping).join("");
}

function renderFlapping({ instanceId, flapping }: Instance): string {
  if (flapping === undefined) return "";
  return `${instanceId} lost its lease ${flapping.losses} times in two minutes: no new work until ${flapping.restsUntil}.\n`;
}

function brokenMark(instances: readonly Instance[], paint: Paint): string {
  const count = sum(instances, (each) => each.breakers?.length ?? 0);
  return count === 0 ? "" : paint.bad(`, ${count} broken`);
}

/** RES-1: what is held back from whom, and when it is tried again. */
function renderBreakers(instances: readonly Instance[], paint: Paint): string {
  const rows = instances.flatMap(({ instanceId, breakers = [] }) =>
    breakers.map((each) => [
      shortId(instanceId),
      paint.name(each.capability),
      paint.bad(each.state.replace("_", "-")),
      `${each.failures} of ${each.outcomes} failed, last ${each.lastFailure ?? "unknown"}`,
      formatDuration(each.brokenForMs),
      formatDuration(each.probeInMs),
    ]),
  );
  if (rows.length === 0) return "";
  return `\n${renderTable(["INSTANCE", "CAPABILITY", "BREAKER", "BECAUSE", "FOR", "NEXT PROBE IN"], rows, paint)}`;
}

const sum = (instances: readonly Instance[], of: (instance: Instance) => number): number =>
  instances.reduce((total, each) => total + of(each), 0);

function lastHeartbeat(instances: readonly Instance[]): string | undefined {
  const times = instances.flatMap((instance) => instance.lastHeartbeatAt ?? []);
  return times.sort((a, b) => Date.parse(b) - Date.parse(a))[0];
}
