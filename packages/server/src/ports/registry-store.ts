import type { Card } from "@agent-reach/protocol";

/**
 * Where agents and instances are kept.
 *
 * RS1  `put` writes all of its records or none, each only if the stored revision is the one it expects (0: must be new).
 * RS2  Every record written gets a revision of its own, strictly larger than every revision given before, also across restarts.
 * RS3  `put` and `remove` resolve only when the change is durable, as far as the engine is durable at all.
 * RS4  `watch` first hands over everything that is (in no particular order), then every change in order of revision, none
 *      missed and none twice. The listener is called synchronously, after the commit and before `put` resolves.
 * RS5  A record read later is a copy: changing it changes nothing that is stored. What listeners are handed is for reading
 *      only; it may share its card with what was given to `put`.
 * RS6  A store that cannot write rejects with NOT_READY and has then changed nothing.
 *
 * It does not expire anything, knows no clock, and does not promise that two `get`s see the same moment.
 */
export interface RegistryStore {
  get<K extends RegistryKind>(kind: K, key: string): Promise<RegistryRecordOf<K> | undefined>;
  put(changes: readonly RegistryPut[]): Promise<PutResult>;
  /** Forgets the record if its revision is still this one. Answers whether it did. */
  remove(kind: RegistryKind, key: string, revision: number): Promise<boolean>;
  /** Records of one kind whose key begins with `prefix`, ordered by key. */
  list<K extends RegistryKind>(
    kind: K,
    options?: { prefix?: string; after?: string; limit?: number },
  ): Promise<RegistryRecordOf<K>[]>;
  /** Follows agents and instances, and nothing else. The returned function ends it. */
  watch(listener: (change: RegistryChange) => void): Promise<() => void>;
  /** The largest revision ever given; 0 for a new store. */
  revision(): Promise<number>;
  close(): Promise<void>;
}

export type RegistryKind = "agent" | "instance" | "version" | "fence";

/** What an agent is: one per tenant and agentId. Key: `tenant/agentId`. */
export interface AgentRecord {
  kind: "agent";
  key: string;
  revision: number;
  tenant: string;
  agentId: string;
  /** The card that was brought last. */
  card: Card;
  /** The number of its content; contents are counted from 1. */
  version: number;
  /** Hashes of recent contents, newest last, so that a card seen before gets its old number back. */
  recent: { version: number; hash: string }[];
  changedAt: number;
  /** What it subscribes to, whichever of its instances runs. */
  topics?: readonly string[];
}

/** One run of an agent. Key: `instanceId`. */
export interface InstanceRecord {
  kind: "instance";
  key: string;
  revision: number;
  tenant: string;
  agentId: string;
  instanceId: string;
  /** Who registered it; only the same principal may take it over. */
  principal: string;
  /** SHA-256 of the instanceKey, hex. */
  keyHash: string;
  /** The instanceKey itself, kept only for agents behind an HTTP endpoint: the node signs with it, also after a restart. */
  secret?: string;
  /** Fencing number, from 1, +1 at each takeover. */
  epoch: number;
  state: "online" | "suspect" | "draining" | "offline";
  /** Wall time of the last change of state, ms. */
  since: number;
  /** Why it is in this state, for people. */
  reason: string;
  /** The card as this instance registered it, canonical form, unknown fields kept. */
  card: Card;
  cardVersion: number;
  /** The node that holds its connection. */
  node: string;
}

/** An older content of a card, readable for 24 h. Key: `tenant/agentId/version`, the version padded to ten digits. */
export interface VersionRecord {
  kind: "version";
  key: string;
  revision: number;
  card: Card;
  /** Wall time until which it is kept, ms. */
  until: number;
}

/** The highest epoch of all instances that were forgotten. There is one, under the key `epochs`. */
export interface FenceRecord {
  kind: "fence";
  key: string;
  revision: number;
  epoch: number;
}

export type RegistryRecord = AgentRecord | InstanceRecord | VersionRecord | FenceRecord;
export type RegistryRecordOf<K extends RegistryKind> = Extract<RegistryRecord, { kind: K }>;

export interface RegistryPut {
  /** `revision` in it is ignored; the store sets it. */
  record: RegistryRecord;
  /** The revision that must be stored now; 0: there must be none; undefined: whatever there is. */
  expected?: number;
}

export type PutResult = { ok: true; revisions: number[] } | { ok: false; conflict: string };

export type RegistryChange =
  | { type: "put"; revision: number; record: AgentRecord | InstanceRecord }
  | { type: "removed"; revision: number; kind: "agent" | "instance"; key: string };
