import type { CallEnvelope, Capability, Card, ErrorBody, Registered, SubmitEnvelope } from "@agent-reach/protocol";
import type { Channel } from "./channel.js";
import type { ConnectionListener } from "./connection.js";
import type { Delivery, DeliveryHost, Handler } from "./delivery.js";
import { failure, toError } from "./failure.js";
import { Inbox } from "./inbox.js";
import { sdkLimits } from "./limits.js";
import { type Logger, withFields } from "./logger.js";
import { Outbox } from "./outbox.js";
import type { CallOutcome } from "./outcome.js";
import { Ask } from "./pending.js";
import type { IdentityStore } from "./platform.js";
import type { TaskHandle } from "./tasks.js";
import { Waiter } from "./wheel.js";

/** A card as `register` takes it: capabilities may be bare names, and unknown fields go through. */
export type CardInput = Omit<Card, "capabilities"> & {
  capabilities?: (Capability | string)[];
  [field: string]: unknown;
};

/** What the agent says about itself with its next heartbeat. */
export interface SelfReport {
  /** 0 (do not use me) to 1. */
  readonly health?: number;
  readonly facts?: Record<string, unknown>;
}

export interface AgentOptions {
  readonly ackAfterMs: number;
  readonly heartbeatIntervalSec: number | undefined;
  readonly identities: IdentityStore | undefined;
  readonly onError: (error: ErrorBody) => void;
}

/**
 * One registered instance on a connection of its own.
 *
 * A1  It registers in `start()` and again in every later session, under the same instanceId, before any other request.
 * A2  Heartbeats come from the wheel: they do not wait for a handler that is awaiting something.
 * A3  An instanceId that is not ours to take (any more) is given up for a fresh one, once per attempt.
 */
export class Agent implements ConnectionListener, DeliveryHost {
  readonly logger: Logger;
  readonly handlers = new Map<string, Handler>();
  readonly inbox: Inbox;
  registered: Registered | undefined;
  readonly #channel: Channel;
  readonly #options: AgentOptions;
  readonly #outbox: Outbox;
  readonly #heartbeat: Beat;
  #card: CardInput;
  #report: SelfReport = {};
  #instanceId: string;
  #instanceKey: string | undefined;
  #started = false;
  #release: () => void = () => {};
  #waiting: { resolve: (registered: Registered) => void; reject: (error: Error) => void }[] = [];
  #onQuiet: () => void = () => {};

  constructor(channel: Channel, card: CardInput, options: AgentOptions) {
    const { connection } = channel;
    this.#channel = channel;
    this.#card = card;
    this.#options = options;
    const saved = options.identities?.load();
    const known = saved?.agentId === card.agentId ? saved : undefined;
    this.#instanceId = known?.instanceId ?? connection.options.platform.system.newId();
    this.#instanceKey = known?.instanceKey;
    this.logger = connection.options.logger;
    this.#heartbeat = new Beat(() => this.#beat());
    const identity = () => ({ instanceId: this.#instanceId, epoch: this.registered?.epoch ?? 1 });
    this.#outbox = new Outbox(connection, identity, () => this.#checkQuiet());
    this.inbox = new Inbox(connection, this.#outbox, this, this.handlers, {
      ackAfterMs: options.ackAfterMs,
      maxConcurrentTasks: () => this.#card.maxConcurrentTasks ?? 10,
    });
    this.inbox.onIdle = () => this.#checkQuiet();
    connection.listeners.add(this);
    connection.incoming.requests.set("deliver", (id, params) => this.inbox.deliver(id, params));
    connection.incoming.notifications.set("cancel", (params) => this.inbox.cancel(params));
  }

  get agentId(): string {
    return this.#card.agentId;
  }
  get instanceId(): string {
    return this.#instanceId;
  }
  get started(): boolean {
    return this.#started;
  }
  /** Results the node has not confirmed. */
  get unconfirmed(): number {
    return this.#outbox.size;
  }

  start(): Promise<Registered> {
    const { connection } = this.#channel;
    if (!this.#started) {
      this.#started = true;
      this.inbox.accepting = true;
      this.#release = connection.hold();
      for (const { name } of this.#wireCard().capabilities) {
        if (!this.handlers.has(name))
          this.logger.warn(`no handler for ${name} of ${this.agentId}; its messages will be refused`);
      }
      connection.open();
      if (connection.online) this.#register(undefined);
    }
    return this.#registration();
  }

  /** A changed card: on the wire at once when started, else with `start()`. */
  update(card: CardInput): Promise<Registered | undefined> {
    this.#card = card;
    if (!this.#started) return Promise.resolve(undefined);
    const registration = new Promise<Registered>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    if (this.#channel.connection.online) this.#register(undefined);
    return registration;
  }

  /** Sent with the next heartbeat, and one is sent now. */
  report(report: SelfReport): void {
    this.#report = report;
    if (this.registered) this.#beat();
  }

  /**
   * Leaves in order: no new work, what is not started goes back, what runs is finished and handed over, then goodbye.
   * After `timeoutMs` whatever still runs is aborted with the reason `drain` and left to the node's redelivery.
   */
  async drain(timeoutMs: number, reason: string): Promise<void> {
    const { connection } = this.#channel;
    if (!this.#started) return;
    this.inbox.accepting = false;
    const over = new Beat(() => this.#onQuiet());
    connection.wheel.set(over, timeoutMs);
    const handback = this.inbox.handBack();
    const params = { instanceId: this.#instanceId, reason, handback };
    await connection.ask("drain", params, timeoutMs).catch((error) => {
      this.logger.warn("drain was not confirmed", { error: String(error) });
    });
    if (over.dueTick >= 0 && !this.#quiet) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve;
        this.#outbox.confirm();
      });
    }
    connection.wheel.clear(over);
    if (!this.#quiet) this.inbox.abortAll("drain");
    await this.leave(reason);
  }

  /** Says goodbye without waiting for work. */
  async leave(reason: string): Promise<void> {
    if (!this.#started) return;
    this.#started = false;
    this.inbox.accepting = false;
    this.#channel.connection.wheel.clear(this.#heartbeat);
    const { connection } = this.#channel;
    if (connection.online) {
      const params = { instanceId: this.#instanceId, reason };
      await connection.ask("deregister", params, sdkLimits.goodbyeTimeoutMs).catch(() => {});
    }
    this.inbox.abortAll("lost");
    this.#release();
  }

  // ---- ConnectionListener ----

  prepare(done: () => void): void {
    if (this.#started) this.#register(done);
    else done();
  }

  changed(): void {
    const { connection } = this.#channel;
    if (connection.online) return;
    connection.wheel.clear(this.#heartbeat);
    if (!connection.ended) return;
    this.#started = false;
    this.inbox.accepting = false;
    this.inbox.abortAll("lost");
    this.#reject(connection.lastError ?? failure("CANCELED", "the client was closed"));
    this.#onQuiet();
  }

  // ---- DeliveryHost ----

  monotonic(): number {
    return this.#channel.connection.options.platform.system.monotonic();
  }
  now(): number {
    return this.#channel.connection.options.platform.system.now();
  }
  due(delivery: Delivery): void {
    this.inbox.due(delivery);
  }
  call<T>(envelope: CallEnvelope): Promise<CallOutcome<T>> {
    return this.#channel.calls.call<T>(envelope);
  }
  submit<T>(envelope: SubmitEnvelope): TaskHandle<T> {
    return this.#channel.tasks.submit<T>(envelope);
  }

  progress(delivery: Delivery, progress: object): void {
    const { connection } = this.#channel;
    if (connection.bufferedBytes > sdkLimits.progressBufferBytesMax) return;
    const { messageId, attempt } = delivery.copy;
    const params = { messageId, instanceId: this.#instanceId, attempt, ...progress };
    if (connection.online) connection.notify("progress", params);
  }

  // ---- registration ----

  #registration(): Promise<Registered> {
    if (this.registered && this.#channel.connection.online) return Promise.resolve(this.registered);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #register(done: (() => void) | undefined, fresh = false): void {
    const { connection } = this.#channel;
    const { generation } = connection;
    const params = { card: this.#wireCard(), instanceId: this.#instanceId, instanceKey: this.#instanceKey };
    const answer = (registered: Registered) => {
      this.#accept(registered);
      done?.();
      // After `done`, so that whoever waited for `start()` finds the connection online.
      for (const { resolve } of this.#waiting.splice(0)) resolve(registered);
    };
    const refused = (error: ErrorBody) => {
      // Lost with its socket: the next session registers again.
      if (connection.generation !== generation || !connection.hasSocket) return;
      if (error.code === "FORBIDDEN" && !fresh) {
        this.logger.warn("the instance is not ours to take over; registering a new one", {
          instanceId: this.#instanceId,
        });
        this.#instanceId = connection.options.platform.system.newId();
        this.#instanceKey = undefined;
        return this.#register(done, true);
      }
      if (error.retryable) {
        const again = new Beat(() => connection.generation === generation && this.#register(done, fresh));
        return connection.wheel.set(again, error.retryAfterMs ?? sdkLimits.completeRetryMs);
      }
      this.#reject(error);
      this.#options.onError(error);
      done?.();
    };
    connection.send(new Ask("register", params, "socket", answer, refused), undefined);
  }

  #accept(registered: Registered): void {
    this.registered = registered;
    this.#instanceId = registered.instanceId;
    this.#instanceKey = registered.instanceKey;
    const { agentId } = this;
    this.#options.identities?.save({ agentId, instanceId: registered.instanceId, instanceKey: registered.instanceKey });
    const log = withFields(this.logger, { agentId, instanceId: registered.instanceId });
    for (const warning of registered.warnings ?? []) log.warn(warning);
    this.#channel.connection.wheel.set(this.#heartbeat, this.#intervalMs(registered));
  }

  #reject(error: ErrorBody): void {
    for (const { reject } of this.#waiting.splice(0)) reject(toError(error));
  }

  #wireCard(): CardInput & { capabilities: Capability[] } {
    const given = (this.#card.capabilities ?? []).map((entry) => (typeof entry === "string" ? { name: entry } : entry));
    const names = new Set(given.map((entry) => entry.name ?? (entry as { id?: string }).id));
    const added = [...this.handlers.keys()].filter((name) => !names.has(name)).map((name) => ({ name }));
    const card = { ...this.#card, capabilities: [...given, ...added] };
    if (card.heartbeatIntervalSec === undefined && this.#options.heartbeatIntervalSec !== undefined) {
      card.heartbeatIntervalSec = this.#options.heartbeatIntervalSec;
    }
    return card;
  }

  // ---- heartbeat ----

  #intervalMs(registered: Registered): number {
    return registered.lease.heartbeatIntervalSec * 1000;
  }

  #beat(): void {
    const { connection } = this.#channel;
    if (!this.#started || !this.registered || !connection.online) return;
    connection.wheel.set(this.#heartbeat, this.#intervalMs(this.registered));
    const load = { running: this.inbox.running, queued: this.inbox.queued };
    const params = { instanceId: this.#instanceId, load, ...this.#report };
    const answer = ({ state }: { state: string }) => {
      if (state === "unknown" && this.#started) this.#register(undefined);
    };
    // A heartbeat that fails is followed by the next one; a lost socket is noticed elsewhere.
    connection.send(new Ask("heartbeat", params, "socket", answer, () => {}), undefined);
  }

  get #quiet(): boolean {
    return this.inbox.running === 0 && this.inbox.queued === 0 && this.#outbox.size === 0;
  }

  #checkQuiet(): void {
    if (this.inbox.accepting) return;
    if (this.#quiet) this.#onQuiet();
    else if (this.inbox.running === 0) this.#outbox.confirm();
  }
}

class Beat extends Waiter {
  readonly #run: () => void;

  constructor(run: () => void) {
    super();
    this.#run = run;
  }

  onDue(): void {
    this.#run();
  }
}
