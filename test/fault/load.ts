import { AgentReachClient, type CallOutcome } from "@agent-reach/sdk";
import { afterEach } from "vitest";
import { patienceMs, within } from "../kit/within.js";

export const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Clients that a test made; they go with it. */
export function useClients(): (registryUrl: string) => AgentReachClient {
  const made: AgentReachClient[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((client) => client.close()));
  });
  return (registryUrl) => {
    const client = new AgentReachClient({ registryUrl, logger: quiet, reconnect: { minMs: 20, maxMs: 200 } });
    made.push(client);
    return client;
  };
}

export interface Done {
  key: string;
  outcome: CallOutcome;
}

/**
 * Callers that ask one thing after another until they are stopped. Each message has a key of its own, and nothing is
 * repeated by them: what they are told is what a user would have been told.
 */
export class Load {
  readonly done: Done[] = [];
  readonly #ask: (key: string) => Promise<CallOutcome>;
  readonly #name: string;
  readonly #life: Promise<unknown>;
  #asked = 0;
  #stopped = false;
  #waiting: { count: number; resolve: () => void }[] = [];

  constructor(name: string, lanes: number, ask: (key: string) => Promise<CallOutcome>) {
    this.#name = name;
    this.#ask = ask;
    this.#life = Promise.all(Array.from({ length: lanes }, () => this.#lane()));
  }

  static calls(client: AgentReachClient, capability: string, lanes: number, timeoutMs = 30_000): Load {
    return new Load(`call-${capability}`, lanes, (key) =>
      client.callSync({ capability, input: { key }, idempotencyKey: key, timeoutMs }),
    );
  }

  static tasks(client: AgentReachClient, capability: string, lanes: number): Load {
    return new Load(`task-${capability}`, lanes, (key) =>
      client.submit({ capability, input: { key }, idempotencyKey: key }).result(),
    );
  }

  /** Resolves when so many more outcomes are there. */
  more(count: number, ms: number = 2 * patienceMs): Promise<void> {
    const coming = new Promise<void>((resolve) => this.#waiting.push({ count: this.done.length + count, resolve }));
    return within(coming, `${count} more outcomes of ${this.#name}, after ${this.done.length}`, ms);
  }

  /** Asks nothing new, and resolves when everything that was asked is answered. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await within(this.#life, `what ${this.#name} still waits for`, 40_000);
  }

  get failures(): Done[] {
    return this.done.filter(({ outcome }) => !outcome.ok);
  }

  async #lane(): Promise<void> {
    while (!this.#stopped) {
      const key = `${this.#name}-${++this.#asked}`;
      this.done.push({ key, outcome: await this.#ask(key) });
      for (const waiter of this.#waiting) if (this.done.length >= waiter.count) waiter.resolve();
      this.#waiting = this.#waiting.filter(({ count }) => this.done.length < count);
    }
  }
}

/** A failure in a line, for messages of tests. */
export function told({ key, outcome }: Done): string {
  const { errorCode, retryable, outcome: known, errorMessage } = outcome;
  return `${key}: ${errorCode}, ${known}, ${retryable ? "retryable" : "final"}: ${errorMessage}`;
}
