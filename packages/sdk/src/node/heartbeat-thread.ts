import { Worker } from "node:worker_threads";
import type { Registered } from "@agent-reach/protocol";
import type { SelfReport } from "../agent.js";
import type { Logger } from "../logger.js";
import { normalizeUrl } from "../url.js";

/** What the thread is told: for whom it may have to speak, and what to say. */
export interface Charge {
  readonly urls: readonly string[];
  readonly token: string | undefined;
  readonly instanceId: string;
  readonly instanceKey: string;
  readonly epoch: number;
  readonly intervalMs: number;
  readonly report: SelfReport;
}

export interface HeartbeatThreadOptions {
  readonly registryUrl: string | readonly string[];
  readonly token: string | undefined;
  readonly logger: Logger;
}

/** The loop says so many times per heartbeat that it turns; the thread looks as often. */
export const looksPerInterval = 3;

/**
 * A thread that keeps the lease while a handler blocks the event loop (LIVE-4). It stands by as long as the loop turns, and
 * then speaks over HTTP, as the protocol lets an instance that has its key: on a connection of its own, since the socket
 * belongs to the loop that is blocked. Its heartbeats say health 0, since a blocked loop can take no new work.
 */
export class HeartbeatThread {
  readonly #options: HeartbeatThreadOptions;
  readonly #turns = new Int32Array(new SharedArrayBuffer(4));
  #report: SelfReport = {};
  #registered: Registered | undefined;
  #worker: Worker | undefined;
  #turning: NodeJS.Timeout | undefined;

  constructor(options: HeartbeatThreadOptions) {
    this.#options = options;
  }

  /** The instance was registered, for the first time or again. */
  follow(registered: Registered): void {
    this.#registered = registered;
    clearInterval(this.#turning);
    const turn = () => Atomics.add(this.#turns, 0, 1);
    turn();
    this.#turning = setInterval(turn, intervalMsOf(registered) / looksPerInterval).unref();
    this.#worker ??= this.#start();
    this.#charge();
  }

  /** What it says of itself beside being blocked. */
  report(report: SelfReport): void {
    this.#report = report;
    this.#charge();
  }

  stop(): void {
    clearInterval(this.#turning);
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#registered = undefined;
  }

  #charge(): void {
    if (this.#registered === undefined) return;
    const { registryUrl, token } = this.#options;
    const { instanceId, instanceKey, epoch } = this.#registered;
    const charge: Charge = {
      urls: (typeof registryUrl === "string" ? [registryUrl] : registryUrl).map(httpUrl),
      token,
      instanceId,
      instanceKey,
      epoch,
      intervalMs: intervalMsOf(this.#registered),
      report: this.#report,
    };
    this.#worker?.postMessage(charge);
  }

  #start(): Worker {
    const { logger } = this.#options;
    const worker = new Worker(new URL("./heartbeat-worker.js", import.meta.url), {
      name: "agent-reach heartbeat",
      workerData: this.#turns,
      execArgv: [],
    });
    worker.unref();
    worker.on("message", (text: string) => logger.warn(text));
    worker.on("error", (error) => {
      logger.error("the heartbeat thread ended; a handler that blocks the loop may now cost the lease", {
        error: String(error),
      });
    });
    return worker;
  }
}

function intervalMsOf({ lease }: Registered): number {
  return lease.heartbeatIntervalSec * 1000;
}

/** Where the node whose socket this is answers HTTP. */
export function httpUrl(registryUrl: string): string {
  const url = new URL(normalizeUrl(registryUrl));
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  return url.href.replace(/(\/registry)?\/?(\?.*)?$/, "");
}
