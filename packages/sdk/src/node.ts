import { Client } from "./client.js";
import type { ClientOptions } from "./client-options.js";
import { nodeHost, nodeHostWithoutContext } from "./node/host.js";
import { IdentityFile } from "./node/identity-file.js";
import { onSignals } from "./node/signals.js";
import type { Context } from "./platform.js";

export * from "./exports.js";

export interface NodeClientOptions extends ClientOptions {
  /** Keeps the instance's identity over restarts, so that the same instance comes back. One file per process. */
  readonly stateFile?: string;
  /**
   * Whether `currentContext()` and the client's logger know the message that is being handled, by AsyncLocalStorage;
   * default true. Before Node 24 that costs about a microsecond per message; `ctx.log` knows it without.
   */
  readonly asyncContext?: boolean;
}

/** The client for Node. See `Client` for what it can do. */
export class AgentReachClient extends Client {
  constructor(options: NodeClientOptions) {
    const host = options.asyncContext === false ? nodeHostWithoutContext : nodeHost;
    super(options, host, options.stateFile === undefined ? undefined : new IdentityFile(options.stateFile));
  }

  /**
   * Drains when the process is told to end (SIGTERM, SIGINT), then lets the signal do its work. A second signal ends at
   * once. Returns the way to take it back.
   */
  drainOnSignals(options: { timeoutMs?: number } = {}): () => void {
    return onSignals((signal) => this.drain({ ...options, reason: signal }));
  }
}

/** Inside a handler and everything it awaits: which message is being handled. */
export function currentContext(): Context | undefined {
  return nodeHost.platform.context.get();
}
