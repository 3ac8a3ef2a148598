import type { Connection } from "./connection.js";
import type { Handler } from "./delivery.js";

/**
 * What an agent subscribes to. The node keeps it, so once would do; it is said again after each registration all the same,
 * since a node that lost its store, or forgot the agent, has forgotten this too.
 */
export class Topics {
  /** Resolves when the node knows all that was subscribed to at the last registration. */
  confirmed: Promise<unknown> = Promise.resolve();
  readonly #connection: Connection;
  readonly #subscribed = new Set<string>();
  /** They stay when a subscription ends, for what is on its way. */
  readonly #handlers = new Map<string, Handler>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get any(): boolean {
    return this.#subscribed.size > 0;
  }

  handlerOf(topic: string): Handler | undefined {
    return this.#handlers.get(topic);
  }

  add(topic: string, handler: Handler): void {
    this.#subscribed.add(topic);
    this.#handlers.set(topic, handler);
  }

  /** The instance is registered (again). `onError` hears of a subscription that the node refused. */
  registered(onError: (error: unknown) => void): void {
    this.confirmed = Promise.all([...this.#subscribed].map((topic) => this.subscribe(topic)));
    this.confirmed.catch(onError);
  }

  subscribe(topic: string): Promise<void> {
    return this.#connection.ask("subscribe", { topic });
  }

  unsubscribe(topic: string): Promise<void> {
    this.#subscribed.delete(topic);
    return this.#connection.ask("unsubscribe", { topic });
  }
}
