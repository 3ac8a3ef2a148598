import type { RegistryEvent, RegistryEventType } from "@agent-reach/protocol";
import { ReachError } from "@agent-reach/protocol";
import type { System } from "../ports/system.js";
import type { Registry } from "../registry/registry.js";
import type { AgentEntry, ViewChange } from "../registry/view.js";

export interface WatchFilter {
  agentId?: string | undefined;
  capability?: string | undefined;
}

interface Kept {
  event: RegistryEvent;
  capabilities: readonly string[];
}

/** Registry events kept for watchers that come back. */
const KEPT_MAX = 10_000;

/** Turns changes of the registry into the events of the wire, and hands them to watchers in order of revision (REG-6). */
export class Feed {
  private kept: Kept[] = [];
  /** Watchers from before this revision would miss something. */
  private oldest = 0;
  private readonly watchers = new Set<{ filter: WatchFilter; hear: (event: RegistryEvent) => void }>();

  constructor(
    private readonly registry: Registry,
    private readonly system: System,
  ) {
    registry.onChange((change) => this.changed(change));
  }

  /** Everything from here on is kept. */
  start(): void {
    this.kept = [];
    this.oldest = this.registry.view.revision;
  }

  get revision(): number {
    return this.registry.view.revision;
  }

  /** Hears everything after `revision`, or from now on. Throws REVISION_GONE if that is no longer kept. */
  watch(revision: number | undefined, filter: WatchFilter, hear: (event: RegistryEvent) => void): () => void {
    if (revision !== undefined) {
      if (revision < this.oldest || revision > this.revision) {
        throw new ReachError(
          "REVISION_GONE",
          `revision ${revision} is not kept any more (the oldest is ${this.oldest}, the newest ${this.revision}); list the agents again and watch from there.`,
          {
            details: { oldest: this.oldest, revision: this.revision },
          },
        );
      }
      for (const { event, capabilities } of this.kept)
        if (event.revision > revision && fits(filter, event, capabilities)) hear(event);
    }
    const watcher = { filter, hear };
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private changed(change: ViewChange): void {
    const type = typeOf(change);
    const agentId = change.instance?.record.agentId ?? change.agent?.record.agentId;
    if (type === undefined || agentId === undefined) return;
    const event: RegistryEvent = {
      revision: change.revision,
      type,
      agentId,
      ...(change.instance !== undefined && { instanceId: change.instance.record.instanceId }),
      at: new Date(this.system.now()).toISOString(),
    };
    const capabilities = change.instance?.names ?? namesOf(change.agent!);
    this.kept.push({ event, capabilities });
    if (this.kept.length > KEPT_MAX * 1.1) {
      this.kept = this.kept.slice(-KEPT_MAX);
      this.oldest = this.kept[0]!.event.revision - 1;
    }
    for (const watcher of this.watchers) if (fits(watcher.filter, event, capabilities)) watcher.hear(event);
  }
}

/** What an agent's instances offer, and what its card has. */
function namesOf({ record, instances }: AgentEntry): readonly string[] {
  const names = new Set((record.card.capabilities ?? []).map(({ name }) => name));
  for (const live of instances) for (const name of live.names) names.add(name);
  return [...names];
}

function typeOf(change: ViewChange): RegistryEventType | undefined {
  if (change.instance !== undefined) {
    if (change.removed) return undefined;
    const { state } = change.instance.record;
    return change.before === state ? "instance.updated" : `instance.${state}`;
  }
  if (change.removed) return "agent.removed";
  return change.before === undefined ? "agent.registered" : "agent.updated";
}

function fits(filter: WatchFilter, event: RegistryEvent, capabilities: readonly string[]): boolean {
  if (filter.agentId !== undefined && filter.agentId !== event.agentId) return false;
  return filter.capability === undefined || capabilities.includes(filter.capability);
}
