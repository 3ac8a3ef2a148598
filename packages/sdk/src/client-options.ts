import type { ErrorBody, Registered, Task } from "@agent-reach/protocol";
import type { SharedChannels } from "./channel.js";
import type { ConnectionState } from "./connection.js";
import type { Logger } from "./logger.js";
import type { Platform } from "./platform.js";
import type { SelfCheck } from "./sampler.js";
import type { Dial } from "./transport.js";

export interface ClientOptions {
  /** `ws://127.0.0.1:8800/registry`, `http://…`, or `host:port`; several are tried in turn. */
  readonly registryUrl: string | readonly string[];
  /** Shown by the node; part of the identity by which clients share a connection. */
  readonly name?: string;
  readonly token?: string;
  /** For agents whose card does not say; default 15. */
  readonly heartbeatIntervalSec?: number;
  /**
   * Looks of the agent at itself per heartbeat; default 1. A heartbeat carries them, and a look is told at once when the load
   * jumped or `selfCheck` says something else than before: so a heartbeat may be rare and bad news are still quick.
   */
  readonly samplesPerHeartbeat?: number;
  /** Asked at each look: how well the agent is, 0 to 1, or whether. One that throws, or takes until the next look, says 0. */
  readonly selfCheck?: SelfCheck;
  /** Bounds of the backoff in milliseconds; default 100 to 8,000. */
  readonly reconnect?: { readonly minMs?: number; readonly maxMs?: number };
  /** For one attempt: opening the socket, hello and registration. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /**
   * A handler that takes longer is acknowledged first, its result follows. Default 50. 0: every message is acknowledged before
   * its handler begins, so that a handler may block; it can then no longer refuse by `Overloaded`.
   */
  readonly ackAfterMs?: number;
  /** Default: one JSON line per entry on the console. */
  readonly logger?: Logger;
  /** Another way to open sockets. */
  readonly transport?: Dial;
}

export type ClientState = ConnectionState | "draining";

export interface ClientEvents {
  /** The state changed. `error` says why a connection went down. */
  state: { state: ClientState; error: ErrorBody | undefined };
  /** The node confirmed the registration: at first, after a reconnect, after a change of the card. */
  registered: Registered;
  /** Something went wrong that no call of yours tells. */
  error: ErrorBody;
  /** The outcome of a task, also of one that another process submitted under the same identity. */
  task: Task;
}

/** What the entry for a runtime gives to every client. */
export interface ClientHost {
  readonly platform: Platform;
  readonly shared: SharedChannels;
}
