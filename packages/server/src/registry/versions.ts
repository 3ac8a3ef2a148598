import { hash } from "node:crypto";
import { type Card, ReachError } from "@agent-reach/protocol";
import type { AgentRecord, InstanceRecord, RegistryPut, RegistryStore } from "../ports/registry-store.js";
import type { AgentEntry } from "./view.js";

const KEPT_MS = 86_400_000;
/** Old contents whose number comes back when they are registered again. */
const RECENT_MAX = 8;
/** Contents kept readable per agent, whatever the time: an agent that updates itself 50 times a second must not fill the disk. */
const KEPT_MAX = 1000;
const PAGE = 64;
const VERSION_DIGITS = 10;

/** A card's content, and the number that it has among those of its agent. */
export interface Content {
  card: Card;
  hash: string;
  version: number;
}

/**
 * The contents of an agent's card, by number (REG-3).
 *
 * N1  A content that is remembered keeps its number; a new one gets a number above all that were given before.
 * N2  The agent's record holds the content that was brought last. An instance that merely comes back with what it already
 *     ran changes that only if nobody runs the other: a reconnect in the middle of a rolling update is no roll-back.
 * N3  A content stays readable while an instance has it, and for 24 h from the moment when it was replaced.
 */
export class Versions {
  /** What is known of an agent's old contents: until when all of them may stay, and the lowest number among them. */
  private readonly kept = new Map<string, { until: number; oldest: number }>();

  constructor(private readonly store: RegistryStore) {}

  contentOf(agent: AgentRecord | undefined, card: Card): Content {
    const name = nameOf(card);
    let highest = 0;
    for (const { version, hash } of agent?.recent ?? []) {
      if (hash === name) return { card, hash, version };
      if (version > highest) highest = version;
    }
    return { card, hash: name, version: highest + 1 };
  }

  /** What to write when an instance registers with this content. `before` is the instance as it was, if it was known. */
  puts(
    agent: AgentEntry | undefined,
    tenant: string,
    { card, hash, version }: Content,
    before: InstanceRecord | undefined,
    now: number,
  ): RegistryPut[] {
    const key = `${tenant}/${card.agentId}`;
    const kept = (version: number, card: Card): RegistryPut => ({
      record: { kind: "version", key: versionKey(key, version), revision: 0, card, until: now + KEPT_MS },
    });
    const puts: RegistryPut[] = [];
    const moves = before !== undefined && before.cardVersion !== version;
    if (moves) puts.push(kept(before.cardVersion, before.card));
    const current = agent?.record;
    if (current !== undefined) {
      const comesBack = before !== undefined && !moves;
      if (current.version === version || (comesBack && runs(agent!, current.version))) return puts;
      if (current.version !== before?.cardVersion) puts.push(kept(current.version, current.card));
    }
    // Newest last, so that what is forgotten is what was not used for longest.
    const recent = [...(current?.recent ?? []).filter((r) => r.version !== version), { version, hash }];
    puts.push({
      record: {
        kind: "agent",
        key,
        revision: 0,
        tenant,
        agentId: card.agentId,
        card,
        version,
        recent: recent.slice(-RECENT_MAX),
        changedAt: now,
        ...(current?.topics !== undefined && { topics: current.topics }),
      },
      expected: current?.revision ?? 0,
    });
    return puts;
  }

  async read({ record, instances }: AgentEntry, version: number, now: number): Promise<Card> {
    if (record.version === version) return record.card;
    for (const live of instances) if (live.record.cardVersion === version) return live.record.card;
    const old = await this.store.get("version", versionKey(record.key, version));
    if (old !== undefined && old.until >= now) return old.card;
    throw new ReachError(
      "NOT_FOUND",
      `${record.agentId} has no version ${version} that is still kept (24 h); its newest is at agents.get without a version.`,
      { path: "version" },
    );
  }

  /**
   * Forgets what is outdated (N3). It comes by every minute for every agent, so it reads only when something may be due, and
   * from the oldest on: what follows a page of which all may stay was kept later still.
   */
  async purge({ record, instances }: AgentEntry, now: number): Promise<void> {
    if (record.recent.length <= 1) return;
    const newest = Math.max(...record.recent.map((r) => r.version));
    const known = this.kept.get(record.key);
    if (known !== undefined && now <= known.until && newest - known.oldest <= KEPT_MAX) return;
    const inUse = new Set([...instances].map((live) => versionKey(record.key, live.record.cardVersion)));
    let until = now + KEPT_MS;
    let oldest = newest;
    let after = "";
    for (;;) {
      const page = await this.store.list("version", { prefix: `${record.key}/`, after, limit: PAGE });
      const outdated: Promise<boolean>[] = [];
      let staying = 0;
      for (const old of page) {
        if (inUse.has(old.key)) continue;
        const version = Number(old.key.slice(-VERSION_DIGITS));
        if (old.until < now || newest - version > KEPT_MAX)
          outdated.push(this.store.remove("version", old.key, old.revision));
        else {
          staying++;
          until = Math.min(until, old.until);
          oldest = Math.min(oldest, version);
        }
      }
      await Promise.all(outdated);
      if (page.length < PAGE || (outdated.length === 0 && staying > 0)) break;
      after = page[page.length - 1]!.key;
    }
    this.kept.set(record.key, { until, oldest });
  }

  /** Forgets everything of an agent that is no more. */
  async forget(agent: AgentRecord): Promise<void> {
    this.kept.delete(agent.key);
    const all = await this.store.list("version", { prefix: `${agent.key}/` });
    for (const { key, revision } of all) await this.store.remove("version", key, revision);
  }
}

function runs(agent: AgentEntry, version: number): boolean {
  for (const { record } of agent.instances)
    if (record.cardVersion === version && record.state !== "offline") return true;
  return false;
}

function versionKey(agentKey: string, version: number): string {
  return `${agentKey}/${String(version).padStart(VERSION_DIGITS, "0")}`;
}

const HINTS = new Set(["status", "version", "load", "healthy"]);
/** Of the hash's 43 characters: 132 bits are plenty, and an agent's record holds several. */
const HASH_LENGTH = 22;

/** What counts as content: the card without hints and runtime facts, in one spelling and one order. */
function nameOf(card: Card): string {
  let text = "";
  for (const key of Object.keys(card).sort()) {
    if (!HINTS.has(key)) text += `,${JSON.stringify(key)}:${canonical(card[key as keyof Card])}`;
  }
  return hash("sha256", text, "base64url").slice(0, HASH_LENGTH);
}

/** JSON with keys in order, so that equal contents are equal texts. */
function canonical(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  let text = "";
  if (Array.isArray(value)) {
    for (const each of value) text += `,${canonical(each)}`;
    return `[${text.slice(1)}]`;
  }
  for (const key of Object.keys(value).sort())
    text += `,${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`;
  return `{${text.slice(1)}}`;
}
