import { type InstanceState, ReachError } from "@agent-reach/protocol";
import type { System } from "../ports/system.js";
import { AgentTexts, stateOf } from "./agent-text.js";
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

/** The directory as people and programs read it: agents with their instances, by page. Its answers are JSON texts. */
export class Directory {
  private readonly texts = new AgentTexts();

  constructor(
    private readonly registry: Registry,
    private readonly system: System,
    private readonly pageMax: number,
  ) {}

  list(tenant: string, filter: AgentFilter): string {
    // Who asks for more gets a full page and a cursor, as at the end of any other page.
    const limit = Math.min(filter.limit ?? 100, this.pageMax);
    const after = filter.cursor === undefined ? undefined : decode(filter.cursor);
    const { view } = this.registry;
    const candidates =
      filter.capability === undefined ? view.agents.values() : this.offering(tenant, filter.capability);
    const found = [...candidates]
      .filter((a) => a.record.tenant === tenant && (after === undefined || a.record.agentId > after) && fits(a, filter))
      .sort((a, b) => (a.record.agentId < b.record.agentId ? -1 : 1));
    const page = found.slice(0, limit);
    const now = this.system.monotonic();
    const agents = page.map((agent) => this.texts.of(agent, now)).join(",");
    const cursor = found.length > limit ? `,"cursor":"${encode(page[limit - 1]!.record.agentId)}"` : "";
    return `{"agents":[${agents}]${cursor}}`;
  }

  /** A promise only for a version that has to be looked up. */
  get(tenant: string, agentId: string, version?: number): string | Promise<string> {
    const agent = this.registry.view.agent(tenant, agentId);
    if (agent === undefined)
      throw new ReachError("NOT_FOUND", `no agent ${agentId} has registered in the last 24 h.`, { path: "agentId" });
    const now = this.system.monotonic();
    if (version === undefined) return this.texts.of(agent, now, this.registry.warningsOf(agent.record.card, true));
    return this.registry
      .version(tenant, agentId, version)
      .then((card) => this.texts.ofVersion(agent, version, JSON.stringify(card), this.system.monotonic()));
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
}

function encode(agentId: string): string {
  return Buffer.from(agentId).toString("base64url");
}

function decode(cursor: string): string {
  const agentId = Buffer.from(cursor, "base64url").toString();
  if (encode(agentId) === cursor && agentId !== "") return agentId;
  throw new ReachError("INVALID_REQUEST", "that cursor is not one of ours; start over without it.", { path: "cursor" });
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
