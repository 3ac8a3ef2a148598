import type { InstanceState } from "@agent-reach/protocol";
import type { AgentRecord, InstanceRecord } from "../ports/registry-store.js";
import type { LiveInstance } from "./instance.js";
import type { AgentEntry } from "./view.js";

const RANK: Record<InstanceState, number> = { online: 0, draining: 1, suspect: 2, offline: 3 };

/**
 * The wire's *Agent* as JSON text. A card may have 256 kB and is asked for far more often than it changes, so what a record
 * says is put into words once per record (records are replaced, never changed), and only the live numbers each time.
 */
export class AgentTexts {
  private readonly heads = new WeakMap<AgentRecord, string>();
  private readonly parts = new WeakMap<InstanceRecord, { head: string; tail: string }>();

  /** `now` is monotonic ms, for the load. `warnings`, if there are any, are those of its card. */
  of(agent: AgentEntry, now: number, warnings: readonly string[] = []): string {
    const { record } = agent;
    let head = this.heads.get(record);
    if (head === undefined) {
      head = headOf(record, record.version, JSON.stringify(record.card));
      this.heads.set(record, head);
    }
    const doubts = warnings.length === 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
    return head + doubts + this.liveOf(agent, now);
  }

  /** The same with another version of its card. */
  ofVersion(agent: AgentEntry, version: number, cardJson: string, now: number): string {
    return headOf(agent.record, version, cardJson) + this.liveOf(agent, now);
  }

  private liveOf(agent: AgentEntry, now: number): string {
    const instances = [...agent.instances];
    if (instances.length > 1) instances.sort((a, b) => RANK[a.record.state] - RANK[b.record.state]);
    const texts = instances.map((live) => this.instance(live, now));
    return `,"state":"${instances[0]?.record.state ?? "offline"}","instances":[${texts.join(",")}]}`;
  }

  private instance(live: LiveInstance, now: number): string {
    const { record } = live;
    let parts = this.parts.get(record);
    if (parts === undefined) {
      parts = partsOf(record);
      this.parts.set(record, parts);
    }
    const beat =
      live.lastHeartbeatAt === undefined ? "" : `"lastHeartbeatAt":"${new Date(live.lastHeartbeatAt).toISOString()}",`;
    const load = Math.round(live.loadScore(now) * 1000) / 1000;
    const broken = brokenOf(live, now);
    const said = live.facts === undefined ? "" : `"selfReported":${JSON.stringify(live.facts)},`;
    return (
      `${parts.head}${beat}"health":${live.healthScore()},"ownHealth":${live.health},"probe":${live.probe}` +
      `,"load":{"running":${live.running + live.otherRunning}` +
      `,"queued":${live.selfQueued},"load":${load}},${broken}${said}${measuredText(live, now)}${flappingText(live, now)}${parts.tail}`
    );
  }
}

/** What callers saw, by capability, apart from what the agent says (LIVE-10). Of many capabilities only those in use. */
function measuredText({ offers }: LiveInstance, now: number): string {
  let text = "";
  for (const { capabilityJson, measured } of offers) {
    const p50Ms = measured.p50Ms();
    const successRate = measured.successRate(now);
    if (p50Ms === undefined && successRate === undefined) continue;
    const p50 = p50Ms === undefined ? "" : `,"p50Ms":${Math.round(p50Ms * 1000) / 1000}`;
    const rate = successRate === undefined ? "" : `,"successRate":${Math.round(successRate * 1000) / 1000}`;
    text += `${text === "" ? "" : ","}{"capability":${capabilityJson}${p50}${rate}}`;
  }
  return text === "" ? "" : `"measured":[${text}],`;
}

/** The mark of one that came and went too often, while it gets no new work for that (LIVE-6). */
function flappingText({ flapping }: LiveInstance, now: number): string {
  if (flapping === undefined || flapping.until <= now) return "";
  const restsUntil = new Date(flapping.restsUntil).toISOString();
  return `"flapping":{"losses":${flapping.losses},"restsUntil":"${restsUntil}"},`;
}

/** An agent is as well as its best instance. */
export function stateOf(agent: AgentEntry): InstanceState {
  let best: InstanceState = "offline";
  for (const { record } of agent.instances) if (RANK[record.state] < RANK[best]) best = record.state;
  return best;
}

function headOf({ agentId, topics }: AgentRecord, version: number, cardJson: string): string {
  const subscribed = topics === undefined ? "" : `,"topics":${JSON.stringify(topics)}`;
  return `{"agentId":${JSON.stringify(agentId)},"version":${version},"card":${cardJson}${subscribed}`;
}

/** Its breakers that are not closed: as a rule, none. */
function brokenOf({ offers, record }: LiveInstance, now: number): string {
  if (record.state === "offline") return "";
  const broken = offers.filter(({ breaker }) => breaker.state !== "closed");
  if (broken.length === 0) return "";
  const facts = broken.map(({ capability: { name }, breaker }) => ({ capability: name, ...breaker.describe(now) }));
  return `"breakers":${JSON.stringify(facts)},`;
}

/** What stands before the live numbers, and after them. */
function partsOf(record: InstanceRecord): { head: string; tail: string } {
  const { instanceId, epoch, state, reason, cardVersion: version, node } = record;
  const since = new Date(record.since).toISOString();
  const endpoint = record.card.transport?.endpoint;
  const head = JSON.stringify({ instanceId, epoch, state, since, reason });
  const tail = JSON.stringify({ version, node, ...(endpoint !== undefined && { address: endpoint }) });
  return { head: `${head.slice(0, -1)},`, tail: tail.slice(1) };
}
