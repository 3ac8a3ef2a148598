import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { Directory } from "../registry/directory.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Registry } from "../registry/registry.js";
import type { Calls } from "../router/calls.js";
import type { Parent } from "../router/chain.js";
import type { Discoverer } from "../router/discovery.js";
import type { Batches } from "../tasks/batches.js";
import type { Groups } from "../tasks/groups.js";
import type { Publisher } from "../tasks/publisher.js";
import type { Tasks } from "../tasks/tasks.js";
import type { Feed } from "./feed.js";
import type { Notices } from "./notices.js";

export interface GatewaySettings {
  nodeId: string;
  inputBytes: number;
  messageBytes: number;
  pageMax: number;
  resumeSec: number;
  pingIntervalMs: number;
  missedPongsMax: number;
  helloTimeoutMs: number;
  requestTimeoutMs: number;
  slowReaderBytes: number;
  watchesMax: number;
  allowedOrigins: readonly string[];
  allowedHosts: readonly string[];
  host: string;
}

/** The rooms, as the door sees them. */
export interface Rooms {
  readonly system: System;
  readonly settings: GatewaySettings;
  readonly registry: Registry;
  readonly directory: Directory;
  readonly feed: Feed;
  readonly discoverer: Discoverer;
  readonly calls: Calls;
  readonly tasks: Tasks;
  readonly batches: Batches;
  readonly groups: Groups;
  readonly publisher: Publisher;
  readonly journal: Journal;
  readonly notices: Notices;
  /** Capability → how many calls wait for a free instance. */
  readonly waitingCalls: () => ReadonlyMap<string, number>;
  /** An instance can take something: whoever waits for it is tried. */
  readonly onRoom: (instance: LiveInstance) => void;
  /** A message in flight that others may be nested in. */
  readonly parentOf: (messageId: string) => Parent | undefined;
  /** Progress of a task, handed to its submitter. Raw JSON. */
  readonly progress: (messageId: string, instanceId: string | undefined, json: string) => void;
  /** Whether the node takes new work. */
  readonly isDraining: () => boolean;
  readonly onError: (error: unknown) => void;
  /** A connection broke below the protocol: its peer's doing, or the network's. */
  readonly onBroken: (error: unknown) => void;
}
