import type { Registered } from "@agent-reach/protocol";
import type { SelfReport } from "./agent.js";
import { Client } from "./client.js";
import type { ClientOptions } from "./client-options.js";
import { HeartbeatThread } from "./node/heartbeat-thread.js";
import { nodeHost, nodeHostWithoutContext } from "./node/host.js";
import { IdentityFile } from "./node/identity-file.js";
import { onSignals } from "./node/signals.js";
import type { Context } from "./platform.js";
import type { CardInput } from "./registration.js";

export * from "./exports.js";

export interface NodeClientOptions extends ClientOptions {
  /** Keeps the instance's identity over restarts, so that the same instance comes back. One file per process. */
  readonly stateFile?: string;
  /**
   * Whether `currentContext()` and the client's logger know the message that is being handled, by AsyncLocalStorage;
   * default true. Before Node 24 that costs about a microsecond per message; `ctx.log` knows it without.
   */
  readonly asyncContext?: boolean;
  /**
   * `"worker"`: a thread keeps the instance alive while a handler blocks the event loop, for up to ten minutes. Meanwhile its
   * health is 0, so that it gets no new work. It needs the node's HTTP interface at the same address. `ackAfterMs` is then 0
   * by default.
   */
  readonly heartbeat?: "worker";
}

/** Said with every heartbeat when a thread may have said otherwise in between. */
const fine: SelfReport = { health: 1, facts: {} };

/** The client for Node. See `Client` for what it can do. */
export class AgentReachClient extends Client {
  readonly #thread: HeartbeatThread | undefined;
  #said: SelfReport = {};

  constructor(options: NodeClientOptions) {
    const host = options.asyncContext === false ? nodeHostWithoutContext : nodeHost;
    const blocks = options.heartbeat === "worker";
    const identities = options.stateFile === undefined ? undefined : new IdentityFile(options.stateFile);
    super(blocks ? { ackAfterMs: 0, ...options } : options, host, identities);
    if (!blocks) return;
    const { registryUrl, token } = options;
    const thread = new HeartbeatThread({ registryUrl, token, logger: this.logger });
    this.#thread = thread;
    this.on("registered", (registered) => thread.follow(registered));
    this.on("state", ({ state }) => {
      if (state === "closed" || state === "superseded") thread.stop();
    });
  }

  override register(card: CardInput): Promise<Registered | undefined> {
    const registered = super.register(card);
    if (this.#thread) super.report({ ...fine, ...this.#said });
    return registered;
  }

  override report(report: SelfReport): void {
    this.#said = report;
    this.#thread?.report(report);
    super.report(this.#thread ? { ...fine, ...report } : report);
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
