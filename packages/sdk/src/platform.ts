import type { Dial } from "./transport.js";

/** Time, ids and chance. Tests pass their own; nothing else in the SDK reads a clock. */
export interface SdkSystem {
  /** Milliseconds since the epoch; for display only, it may jump. */
  now(): number;
  /** Milliseconds since some moment; every duration is measured on it. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`; the returned function takes it back. `hold`: keep the process alive for it. */
  after(delayMs: number, run: () => void, hold?: boolean): () => void;
  /** A UUID of version 7. */
  newId(): string;
  /** Uniform in [0, 1). */
  random(): number;
}

/** What `currentContext()` knows of the message that is being handled. */
export interface Context {
  readonly traceId: string;
  readonly messageId: string;
  readonly agentId: string;
  readonly instanceId: string;
  readonly capability: string;
}

/** Carries the context through a handler's promises, where the runtime can. */
export interface ContextCarrier {
  run<Args extends unknown[], T>(context: Context, work: (...args: Args) => T, ...args: Args): T;
  get(): Context | undefined;
}

/** An instance's identity, kept across restarts. */
export interface SavedIdentity {
  readonly agentId: string;
  readonly instanceId: string;
  readonly instanceKey: string;
}

export interface IdentityStore {
  load(): SavedIdentity | undefined;
  save(identity: SavedIdentity): void;
}

/** What Node and browsers do differently. */
export interface Platform {
  readonly language: string;
  readonly system: SdkSystem;
  readonly dial: Dial;
  readonly context: ContextCarrier;
  /** Bytes of a text in UTF-8. */
  byteLength(text: string): number;
}
