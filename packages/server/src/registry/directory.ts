import { type Agent, type Instance, type InstanceState, ReachError } from "@agent-reach/protocol";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "./instance.js";
import type { Registry } from "./registry.js";
import type { AgentEntry } from "./view.js";

export interface AgentFilter {
  state?: InstanceState | undefined;
  capability?: string | undefined;
  /** `key` or `key=value`. */
  label?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

const RANK: Record<InstanceState, number> = { online: 0, draining: 1, suspect: 2, offline: 3 };

/** The directory as people and programs read it: agents with their instances, by page. */
export class Directory {
  constructor(
    private readonly registry: Registry,
    private readonly system: System,
    private readonly pageMax: number,
  ) {}

  list(tenant: string, filter: AgentFilter): { agents: Agent[]; cursor?: string } {
    // Who asks for more gets a full page and a cursor, as at the end of any other page.
    const limit = Math.min(filter.limit ?? 100, this.pageMax);
    const after = filter.cursor === undefined ? undefined : decode(filter.cursor);
    const { view } = this.registry;
    const candidates =
      filter.capability === undefined ? view.agents.values() : this.offering(tenant, filter.capability);
    const found = [...candidates]
      .filter((a) => a.record.tenant === tenant && (after === undefined || a.record.agentId > after) && fits(a, filter))
      .sort((a, b) => (a.record.agentId < b.record.agentId ? -1 : 1));
    const agents = found.slice(0, limit).map((a) => this.shape(a));
    return found.length > limit ? { agents, cursor: encode(agents[limit - 1]!.agentId) } : { agents };
  }

  async get(tenant: string, agentId: string, version?: number): Promise<Agent> {
    const agent = this.registry.view.agent(tenant, agentId);
    if (agent === undefined)
      throw new ReachError("NOT_FOUND", `no agent ${agentId} has registered in the last 24 h.`, { path: "agentId" });
    const shape = this.shape(agent);
    if (version === undefined) return shape;
    return { ...shape, version, card: await this.registry.version(tenant, agentId, version) };
  }

  private offering(tenant: string, capability: string): Set<AgentEntry> {
    const entry = this.registry.view.capabilities.get(capability);
    const agents = new Set<AgentEntry>();
    for (const offer of [...(entry?.offers ?? []), ...(entry?.gone ?? [])]) {
      const agent = this.registry.view.agent(tenant, offer.instance.record.agentId);
      if (agent !== undefined) agents.add(agent);
    }
    return agents;
  }

  private shape(agent: AgentEntry): Agent {
    const instances = [...agent.instances]
      .map((i) => this.instanceShape(i))
      .sort((a, b) => RANK[a.state] - RANK[b.state]);
    const { agentId, version, card } = agent.record;
    return { agentId, version, card, state: stateOf(agent), instances };
  }

  private instanceShape(live: LiveInstance): Instance & Record<string, unknown> {
    const { record } = live;
    const load = live.loadScore(this.system.monotonic());
    return {
      instanceId: record.instanceId,
      epoch: record.epoch,
      state: record.state,
      since: new Date(record.since).toISOString(),
      reason: record.reason,
      ...(live.lastHeartbeatAt !== undefined && { lastHeartbeatAt: new Date(live.lastHeartbeatAt).toISOString() }),
      health: live.healthScore(),
      load: {
        running: live.running + live.otherRunning,
        queued: live.selfQueued,
        load: Math.round(load * 1000) / 1000,
      },
      ...(live.facts !== undefined && { selfReported: live.facts }),
      version: record.cardVersion,
      node: record.node,
      ...(record.card.transport?.endpoint !== undefined && { address: record.card.transport.endpoint }),
    };
  }
}

function encode(agentId: string): string {
  return Buffer.from(agentId).toString("base64url");
}

function decode(cursor: string): string {
  const agentId = Buffer.from(cursor, "base64url").toString();
  if (encode(agentId) === cursor && agentId !== "") return agentId;
  throw new ReachError("INVALID_REQUEST", "that cursor is not one of ours; start over without it.", { path: "cursor" });
}

/** An agent is as well as its best instance. */
function stateOf(agent: AgentEntry): InstanceState {
  let best: InstanceState = "offline";
  for (const { record } of agent.instances) if (RANK[record.state] < RANK[best]) best = record.state;
  return best;
}

function fits(agent: AgentEntry, { state, capability, label }: AgentFilter): boolean {
  if (state !== undefined && stateOf(agent) !== state) return false;
  if (
    capability !== undefined &&
    ![...agent.instances].some((i) => i.offers.some((o) => o.capability.name === capability))
  )
    return false;
  if (label === undefined) return true;
  const [key, value] = label.split(/=(.*)/s);
  const has = agent.record.card.labels?.[key!];
  return value === undefined ? has !== undefined : has === value;
}
