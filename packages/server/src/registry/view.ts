import type { InstanceState } from "@agent-reach/protocol";
import type { AgentRecord, InstanceRecord, RegistryChange } from "../ports/registry-store.js";
import type { Contracts } from "./contract.js";
import { type LeaseTerms, LiveInstance, Offer } from "./instance.js";

export interface AgentEntry {
  record: AgentRecord;
  instances: Set<LiveInstance>;
}

/** Everyone who offers one capability. An entry outlives its offers by 24 h, so that "gone" differs from "unknown". */
export interface CapabilityEntry {
  name: string;
  /** Offers of instances that are not offline. */
  offers: Offer[];
  /** Offers of instances that went offline less than 24 h ago. */
  gone: Offer[];
  /** Wall ms when the last offer was withdrawn by a changed card; undefined while there is any. */
  withdrawnAt: number | undefined;
}

/** What a change of the store meant to the view. */
export interface ViewChange {
  revision: number;
  instance?: LiveInstance;
  agent?: AgentEntry;
  /** State before the change; undefined for a new one. */
  before?: InstanceState | number | undefined;
  removed: boolean;
}

/**
 * The read model that routing asks: by id, by agent, by capability, by tag; all of it constant time (REG-5).
 *
 * V1  It changes only by what the store's watch says, so it never shows what is not committed.
 * V2  Offline instances are out of every index that routing reads, at once (REG-7).
 */
export class View {
  readonly agents = new Map<string, AgentEntry>();
  readonly instances = new Map<string, LiveInstance>();
  readonly capabilities = new Map<string, CapabilityEntry>();
  /** Tag and each of its parents (`a/b/c`, `a/b`, `a`) → names of capabilities, with the number of offers that carry it. */
  readonly tags = new Map<string, Map<string, number>>();
  /** Topic → the agents that subscribe to it. */
  readonly subscribers = new Map<string, Set<AgentEntry>>();
  revision = 0;
  /** Instances that were heard of before their agent, by its key: a store hands over what it has in any order. */
  private readonly early = new Map<string, LiveInstance[]>();

  constructor(
    private readonly contracts: Contracts,
    private readonly termsOf: (record: InstanceRecord) => LeaseTerms,
    private readonly now: () => number,
  ) {}

  /** How many instances have a lease. */
  get fleet(): number {
    let count = 0;
    for (const { record } of this.instances.values()) if (record.state !== "offline") count++;
    return count;
  }

  agent(tenant: string, agentId: string): AgentEntry | undefined {
    return this.agents.get(`${tenant}/${agentId}`);
  }

  apply(change: RegistryChange): ViewChange {
    this.revision = Math.max(this.revision, change.revision);
    if (change.type === "removed") return this.remove(change);
    return change.record.kind === "agent" ? this.putAgent(change.record) : this.putInstance(change.record);
  }

  private putAgent(record: AgentRecord): ViewChange {
    const known = this.agents.get(record.key);
    if (known === undefined) {
      const agent = { record, instances: new Set(this.early.get(record.key)) };
      this.early.delete(record.key);
      this.agents.set(record.key, agent);
      this.subscribe(agent, undefined);
      return { revision: record.revision, agent, before: undefined, removed: false };
    }
    const before = known.record.version;
    const { topics } = known.record;
    known.record = record;
    this.subscribe(known, topics);
    return { revision: record.revision, agent: known, before, removed: false };
  }

  private putInstance(record: InstanceRecord): ViewChange {
    let live = this.instances.get(record.instanceId);
    const before = live?.record.state;
    // What is known of an offer outlives a change of the card, not the run.
    const earlier = live?.record.epoch === record.epoch ? live.offers : [];
    const terms = this.termsOf(record);
    const cardChanged = live === undefined || live.record.cardVersion !== record.cardVersion;
    if (live === undefined) {
      live = new LiveInstance(record, terms);
      this.instances.set(record.instanceId, live);
    } else {
      if (cardChanged || (before === "offline") !== (record.state === "offline")) this.unindex(live);
      live.record = record;
      live.terms = terms;
    }
    this.joinAgent(`${record.tenant}/${record.agentId}`, live);
    if (cardChanged) {
      const instance = live;
      live.offers = (record.card.capabilities ?? []).map((c) => {
        const same = earlier.find(({ capability: { name, version } }) => name === c.name && version === c.version);
        return new Offer(instance, c, this.contracts.of(c), same);
      });
      live.names = live.offers.map((o) => o.capability.name);
    }
    if (cardChanged || (before === "offline") !== (record.state === "offline")) this.index(live);
    return { revision: record.revision, instance: live, before, removed: false };
  }

  /** What the agent subscribed to before has become what its record says now. */
  private subscribe(agent: AgentEntry, before: readonly string[] | undefined): void {
    const { topics } = agent.record;
    if (topics === before) return;
    for (const topic of before ?? []) if (topics?.includes(topic) !== true) this.unsubscribe(agent, topic);
    for (const topic of topics ?? []) {
      const agents = this.subscribers.get(topic) ?? new Set();
      agents.add(agent);
      this.subscribers.set(topic, agents);
    }
  }

  private unsubscribe(agent: AgentEntry, topic: string): void {
    const agents = this.subscribers.get(topic);
    agents?.delete(agent);
    if (agents?.size === 0) this.subscribers.delete(topic);
    for (const live of agent.instances) live.forgetTopic(topic);
  }

  private joinAgent(key: string, live: LiveInstance): void {
    const agent = this.agents.get(key);
    if (agent !== undefined) agent.instances.add(live);
    else this.early.set(key, [...(this.early.get(key) ?? []), live]);
  }

  private remove(change: Extract<RegistryChange, { type: "removed" }>): ViewChange {
    if (change.kind === "agent") {
      const agent = this.agents.get(change.key);
      this.agents.delete(change.key);
      for (const topic of agent?.record.topics ?? []) this.unsubscribe(agent!, topic);
      return { revision: change.revision, ...(agent && { agent }), removed: true };
    }
    const instance = this.instances.get(change.key);
    if (instance === undefined) return { revision: change.revision, removed: true };
    this.unindex(instance);
    this.instances.delete(change.key);
    this.agents.get(`${instance.record.tenant}/${instance.record.agentId}`)?.instances.delete(instance);
    return { revision: change.revision, instance, removed: true };
  }

  private index(live: LiveInstance): void {
    const gone = live.record.state === "offline";
    for (const offer of live.offers) {
      const name = offer.capability.name;
      let entry = this.capabilities.get(name);
      if (entry === undefined) {
        entry = { name, offers: [], gone: [], withdrawnAt: undefined };
        this.capabilities.set(name, entry);
      }
      entry.withdrawnAt = undefined;
      (gone ? entry.gone : entry.offers).push(offer);
      if (!gone) for (const tag of withParents(offer.capability.tags)) this.countTag(tag, name, 1);
    }
  }

  private unindex(live: LiveInstance): void {
    const gone = live.record.state === "offline";
    for (const offer of live.offers) {
      const entry = this.capabilities.get(offer.capability.name);
      if (entry === undefined) continue;
      swapOut(gone ? entry.gone : entry.offers, offer);
      if (entry.offers.length + entry.gone.length === 0) entry.withdrawnAt = gone ? live.record.since : this.now();
      if (!gone) for (const tag of withParents(offer.capability.tags)) this.countTag(tag, offer.capability.name, -1);
    }
  }

  /** Forgets a capability that nobody has offered since `before` (wall ms). */
  forgetCapability(name: string, before: number): void {
    const entry = this.capabilities.get(name);
    if (entry?.withdrawnAt !== undefined && entry.withdrawnAt < before) this.capabilities.delete(name);
  }

  private countTag(tag: string, name: string, by: number): void {
    let names = this.tags.get(tag);
    if (names === undefined) {
      names = new Map();
      this.tags.set(tag, names);
    }
    const count = (names.get(name) ?? 0) + by;
    if (count > 0) names.set(name, count);
    else names.delete(name);
    if (names.size === 0) this.tags.delete(tag);
  }
}

/** `data/fetch/sql` → itself, `data/fetch`, `data`; each once over all tags. */
export function withParents(tags: readonly string[] | undefined): Set<string> {
  const all = new Set<string>();
  for (const tag of tags ?? []) {
    const levels = levelsOf(tag);
    for (let n = levels.length; n > 0; n--) all.add(levels.slice(0, n).join("/"));
  }
  return all;
}

/** The levels of a tag, the broadest first, in lower case. A slash of full width is one, and slashes too many are none. */
export function levelsOf(tag: string): string[] {
  const levels = tag.normalize("NFKC").toLowerCase().split("/");
  return levels.map((level) => level.trim()).filter((level) => level !== "");
}

function swapOut<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at < 0) return;
  list[at] = list[list.length - 1]!;
  list.pop();
}
