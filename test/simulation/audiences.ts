import type { RegistryChange } from "../../packages/server/src/ports/registry-store.js";

/** Somebody who belongs to an audience from one moment to another. */
interface Stay {
  readonly from: number;
  to: number;
  /** Records of the store for whose sake it does. */
  readonly by: Set<string>;
}

/** By agent. */
type Members = Map<string, Stay[]>;

/** Who subscribes to what, and who offers what, as the disk has had it from one moment to the next. */
export class Audiences {
  readonly #audiences = new Map<string, Members>();
  /** For what an agent or instance stands in which audiences, by its key in the store. */
  readonly #records = new Map<string, { agentId: string; names: readonly string[] }>();
  /** Agents that have ever asked to leave a topic. */
  readonly #leaving = new Set<string>();
  /** Subscriptions that went, and nobody had asked for that. */
  readonly vanished: string[] = [];

  /** The store tells everything anew to each run of the node. */
  heard(change: RegistryChange, now: number): void {
    if (change.type === "removed") {
      const known = this.#records.get(change.key);
      if (known !== undefined) this.#move(change.key, known.agentId, known.names, [], now);
      this.#records.delete(change.key);
      return;
    }
    const { record } = change;
    const names =
      record.kind === "agent"
        ? (record.topics ?? []).map(ofTopic)
        : (record.card.capabilities ?? []).map(({ name }) => ofCapability(name));
    const { agentId, key } = record;
    const before = this.#records.get(key)?.names ?? [];
    if (names.length === 0 && before.length === 0) return;
    this.#records.set(key, { agentId, names });
    const left = this.#move(key, agentId, before, names, now);
    for (const name of left)
      if (record.kind === "agent" && !this.#leaving.has(`${agentId} ${name}`))
        this.vanished.push(`${agentId}, ${name}`);
  }

  asksToLeave(agentId: string, topic: string): void {
    this.#leaving.add(`${agentId} ${ofTopic(topic)}`);
  }

  askedToLeave(agentId: string, topic: string): boolean {
    return this.#leaving.has(`${agentId} ${ofTopic(topic)}`);
  }

  /** Who belonged to it all the time, and who at any time, between two moments. */
  between(name: string, from: number, to: number): { always: string[]; ever: Set<string> } {
    const always: string[] = [];
    const ever = new Set<string>();
    for (const [agentId, stays] of this.#audiences.get(name) ?? []) {
      for (const stay of stays) {
        if (stay.from > to || stay.to < from) continue;
        ever.add(agentId);
        if (stay.from < from && stay.to > to) always.push(agentId);
      }
    }
    return { always, ever };
  }

  /** Answers what it left. */
  #move(key: string, agentId: string, before: readonly string[], after: readonly string[], now: number): string[] {
    const left = before.filter((name) => !after.includes(name));
    for (const name of left) {
      const stay = this.#audiences.get(name)?.get(agentId)?.at(-1);
      stay?.by.delete(key);
      if (stay?.by.size === 0) stay.to = now;
    }
    for (const name of after) {
      if (before.includes(name)) continue;
      const members: Members = this.#audiences.get(name) ?? new Map();
      this.#audiences.set(name, members);
      const stays = members.get(agentId) ?? [];
      members.set(agentId, stays);
      const last = stays.at(-1);
      if (last !== undefined && last.by.size > 0) last.by.add(key);
      else stays.push({ from: now, to: Number.POSITIVE_INFINITY, by: new Set([key]) });
    }
    return left;
  }
}

export function ofTopic(topic: string): string {
  return `topic ${topic}`;
}

export function ofCapability(name: string): string {
  return `capability ${name}`;
}
