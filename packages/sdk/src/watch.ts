import type { Agent, RegistryEvent } from "@agent-reach/protocol";
import type { Connection, ConnectionListener } from "./connection.js";
import { type AgentFilter, Directory } from "./directory.js";
import { toError } from "./failure.js";
import { Ask } from "./pending.js";

export interface WatchFilter {
  readonly agentId?: string;
  readonly capability?: string;
  /** Begin with the change after this revision instead of with the next one. */
  readonly revision?: number;
}

/** A change, or, when the node no longer had the changes in between, the whole list anew. */
export type WatchEvent = RegistryEvent | { type: "relisted"; revision: number; agents: Agent[] };
export type WatchListener = (event: WatchEvent) => void;

export interface Watch {
  /** The last revision that was seen. */
  readonly revision: number;
  close(): void;
}

/**
 * Watches over one connection. Each subscribes again in every new session from its last revision, also in a resumed one:
 * asking twice is harmless, since what is not newer than the last revision is dropped.
 */
export class Watches implements ConnectionListener {
  readonly #connection: Connection;
  readonly #directory: Directory;
  readonly #all = new Set<OneWatch>();
  readonly #byId = new Map<string, OneWatch>();

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#directory = new Directory(connection);
    connection.listeners.add(this);
    connection.incoming.notifications.set("event", (params) => {
      this.#byId.get(params["watchId"] as string)?.event(params as unknown as RegistryEvent);
    });
  }

  /** Resolves when the node confirmed the watch; rejects with a ReachError. */
  add(filter: WatchFilter, listener: WatchListener): Promise<Watch> {
    const release = this.#connection.hold();
    const watch = new OneWatch(filter, listener, () => {
      if (!this.#all.delete(watch)) return;
      release();
      this.#byId.delete(watch.watchId);
      if (watch.watchId !== "" && this.#connection.online) {
        this.#connection.ask("unwatch", { watchId: watch.watchId }).catch(() => {});
      }
    });
    this.#all.add(watch);
    return new Promise((resolve, reject) => {
      watch.onStarted = () => resolve(watch);
      watch.onRefused = (error) => {
        watch.close();
        reject(error);
      };
      this.#connection.open();
      if (this.#connection.online) this.#subscribe(watch);
    });
  }

  ready(): void {
    const old = [...this.#byId.keys()];
    this.#byId.clear();
    for (const watchId of old) this.#connection.ask("unwatch", { watchId }).catch(() => {});
    for (const watch of this.#all) this.#subscribe(watch);
  }

  #subscribe(watch: OneWatch): void {
    const { agentId, capability } = watch.filter;
    const params = { agentId, capability, revision: watch.revision < 0 ? undefined : watch.revision };
    const answer = (result: { watchId: string; revision: number }) => {
      watch.watchId = result.watchId;
      // Before the next frame, which may be the first event.
      this.#byId.set(result.watchId, watch);
      watch.started(result.revision);
    };
    const ask = new Ask("watch", params, "socket", answer, (error) => {
      if (error.code === "REVISION_GONE") this.#relist(watch);
      else if (this.#connection.online) watch.onRefused(toError(error));
    });
    this.#connection.send(ask, undefined);
  }

  /** Watches from now on, then lists; what happens in between comes after the list. */
  #relist(watch: OneWatch): void {
    watch.holdBack();
    watch.revision = -1;
    this.#subscribe(watch);
    this.#directory.agents(watch.filter).then(
      (agents) => watch.relisted(agents),
      () => watch.relisted(undefined),
    );
  }
}

class OneWatch implements Watch {
  readonly filter: WatchFilter & AgentFilter;
  watchId = "";
  revision: number;
  onStarted: () => void = () => {};
  onRefused: (error: Error) => void = () => {};
  readonly close: () => void;
  readonly #listener: WatchListener;
  #held: RegistryEvent[] | undefined;

  constructor(filter: WatchFilter, listener: WatchListener, close: () => void) {
    this.filter = filter;
    this.revision = filter.revision ?? -1;
    this.#listener = listener;
    this.close = close;
  }

  started(revision: number): void {
    if (this.revision < 0) this.revision = revision;
    this.onStarted();
  }

  holdBack(): void {
    this.#held = [];
  }

  event(event: RegistryEvent): void {
    if (event.revision <= this.revision) return;
    this.revision = event.revision;
    if (this.#held) this.#held.push(event);
    else this.#listener(event);
  }

  relisted(agents: Agent[] | undefined): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (agents) this.#listener({ type: "relisted", revision: this.revision, agents });
    for (const event of held) this.#listener(event);
  }
}
