import { SocketAgent } from "../kit/agents.js";
import type { ReachNode } from "../kit/node.js";
import { type Json, newId, Wire } from "../kit/wire.js";
import { eventually } from "../kit/within.js";

/**
 * An agent that stays alive while its node dies, as an SDK's would: it keeps every result until it is recorded and
 * repeats it by `complete` after each reconnect; a key that it did once it does not do again.
 */
export class StubbornAgent {
  readonly card: Json;
  readonly #node: ReachNode;
  /** Results by idempotencyKey, kept for ever. */
  readonly results = new Map<string, Json>();
  /** Results that nobody has confirmed yet. */
  readonly #outbox = new Map<string, Json>();
  /** Keys whose success the node confirmed with `recorded: true`. */
  readonly recorded = new Set<string>();
  /** Deliveries of keys whose success was recorded before: there must be none. */
  readonly broken: string[] = [];
  #agent: SocketAgent | undefined;
  #identity: { instanceId?: string; instanceKey?: string } = {};
  #stopped = false;
  #life: Promise<void> = Promise.resolve();

  constructor(node: ReachNode, card: Json) {
    this.#node = node;
    this.card = card;
  }

  async start(): Promise<void> {
    await this.#join();
    this.#life = this.#stayConnected();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#agent?.cut();
    await this.#life;
  }

  get instanceId(): string | undefined {
    return this.#identity.instanceId;
  }

  async #join(): Promise<void> {
    this.#agent = await SocketAgent.join(
      this.#node.url,
      this.card,
      (delivery) => this.#work(delivery.envelope, delivery.attempt),
      this.#identity,
    );
    this.#identity = this.#agent.identity;
    for (const [key, params] of this.#outbox) void this.#handIn(params, key);
  }

  async #stayConnected(): Promise<void> {
    while (!this.#stopped) {
      await this.#agent?.wire.closed;
      if (this.#stopped) return;
      await eventually(
        () =>
          this.#join().then(
            () => true,
            () => this.#stopped,
          ),
        (joined) => joined,
        "the agent to be connected again",
        120_000,
      );
    }
  }

  #work(envelope: Json, attempt: number): Json {
    const key: string = envelope.idempotencyKey;
    if (this.recorded.has(key)) this.broken.push(key);
    if (!this.results.has(key)) this.results.set(key, { done: envelope.input });
    const params = {
      messageId: envelope.messageId,
      instanceId: this.#identity.instanceId ?? envelope.target.instanceId,
      attempt,
      status: "completed",
      data: this.results.get(key),
    };
    this.#outbox.set(key, params);
    // Every other result goes as the answer itself; it stays in the outbox all the same, and is repeated after a reconnect.
    if (this.results.size % 2 === 0) return { status: "completed", data: params.data };
    void this.#handIn(params, key);
    return { status: "accepted" };
  }

  async #handIn(params: Json, key: string): Promise<void> {
    try {
      const { recorded } = await this.#agent!.wire.request("complete", params, 30_000);
      if (recorded === true) this.recorded.add(key);
      this.#outbox.delete(key);
    } catch {
      // The connection ended before the answer: the outbox keeps it for the next one.
    }
  }
}

/** Submits tasks without end, repeating the unanswered ones with the same messageId on the next connection. */
export class StubbornSubmitter {
  readonly #node: ReachNode;
  readonly #capability: string;
  /** messageIds whose submit was answered. */
  readonly answered = new Set<string>();
  #stopped = false;
  #waiting: { count: number; resolve: () => void }[] = [];
  #life: Promise<unknown> = Promise.resolve();

  constructor(node: ReachNode, capability: string) {
    this.#node = node;
    this.#capability = capability;
  }

  start(lanes: number): void {
    this.#life = Promise.all(Array.from({ length: lanes }, () => this.#lane()));
  }

  /** Resolves when so many more submits were answered. */
  more(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ count: this.answered.size + count, resolve }));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#life;
  }

  async #lane(): Promise<void> {
    let wire: Wire | undefined;
    let messageId = newId();
    while (!this.#stopped) {
      try {
        wire ??= await Wire.open(this.#node.url);
        await wire.request("submit", { messageId, capability: this.#capability, input: { for: messageId } }, 30_000);
        this.#answered(messageId);
        messageId = newId();
      } catch (error) {
        // Only a lost connection is a reason to try again; a refusal of a good submit is a failure of the test.
        if (
          error instanceof Error &&
          error.name === "WireError" &&
          (error as Json).code !== "NOT_READY" &&
          (error as Json).code !== "DRAINING"
        )
          throw error;
        wire?.cut();
        wire = undefined;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    wire?.cut();
  }

  #answered(messageId: string): void {
    this.answered.add(messageId);
    for (const waiter of this.#waiting) if (this.answered.size >= waiter.count) waiter.resolve();
    this.#waiting = this.#waiting.filter((waiter) => this.answered.size < waiter.count);
  }
}
