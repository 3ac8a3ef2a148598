import type {
  CallEnvelope,
  DeliveredEnvelope,
  ErrorBody,
  Params,
  PublishEnvelope,
  Published,
  ReachError,
  Registered,
  SubmitEnvelope,
} from "@agent-reach/protocol";
import type { Channel } from "./channel.js";
import type { ConnectionListener } from "./connection.js";
import type { Delivery, DeliveryHost, Handler } from "./delivery.js";
import { failure, toError } from "./failure.js";
import type { GroupHandle } from "./groups.js";
import { Inbox } from "./inbox.js";
import { toJson } from "./json.js";
import { sdkLimits } from "./limits.js";
import type { Logger } from "./logger.js";
import { Outbox } from "./outbox.js";
import type { CallOutcome } from "./outcome.js";
import { Ask } from "./pending.js";
import type { IdentityStore } from "./platform.js";
import { type CardInput, Registration, type WireCard } from "./registration.js";
import { healthBy, Sampler, type SelfCheck } from "./sampler.js";
import type { TaskHandle } from "./tasks.js";
import { Topics } from "./topics.js";
import { Alarm } from "./wheel.js";

/** What the agent says about itself with its next heartbeat. */
export interface SelfReport {
  /** 0 (do not use me) to 1. */
  readonly health?: number;
  readonly facts?: Record<string, unknown>;
}

export interface AgentOptions {
  readonly ackAfterMs: number;
  readonly heartbeatIntervalSec: number | undefined;
  readonly samplesPerHeartbeat: number;
  readonly selfCheck: SelfCheck | undefined;
  readonly identities: IdentityStore | undefined;
  readonly onRegistered: (registered: Registered) => void;
  readonly onError: (error: ErrorBody) => void;
}

/**
 * One registered instance on a connection of its own.
 *
 * A1  Heartbeats come from the wheel: they do not wait for a handler that is awaiting something.
 */
export class Agent implements ConnectionListener, DeliveryHost {
  readonly logger: Logger;
  readonly handlers = new Map<string, Handler>();
  readonly topics: Topics;
  readonly inbox: Inbox;
  readonly #channel: Channel;
  readonly #options: AgentOptions;
  readonly #registration: Registration;
  readonly #outbox: Outbox;
  readonly #heartbeat: Alarm;
  readonly #look: Alarm;
  readonly #sampler = new Sampler();
  #checking = false;
  #card: CardInput;
  #report: SelfReport = {};
  #started = false;
  #leaving = false;
  #release: () => void = () => {};
  #onQuiet: () => void = () => {};

  constructor(channel: Channel, card: CardInput, options: AgentOptions) {
    const { connection } = channel;
    this.#channel = channel;
    this.#card = card;
    this.#options = options;
    this.#registration = new Registration(connection, card.agentId, {
      identities: options.identities,
      card: () => this.#wireCard(),
      onRegistered: (registered) => {
        connection.wheel.set(this.#heartbeat, this.#intervalMs(registered));
        this.#sampler.begin();
        this.topics.registered((error) => options.onError((error as ReachError).toBody()));
        if (options.samplesPerHeartbeat > 1 || options.selfCheck) this.#lookLater(registered);
        options.onRegistered(registered);
      },
      onError: options.onError,
    });
    this.logger = connection.options.logger;
    this.#heartbeat = new Alarm(() => this.#beat());
    this.#look = new Alarm(() => void this.#lookAtItself());
    const identity = () => ({ instanceId: this.instanceId, epoch: this.registered?.epoch ?? 1 });
    this.#outbox = new Outbox(connection, identity, () => this.#checkQuiet());
    this.topics = new Topics(connection);
    this.inbox = new Inbox(connection, this.#outbox, this, (envelope) => this.#handlerOf(envelope), {
      ackAfterMs: options.ackAfterMs,
      maxConcurrentTasks: () => this.#capacity,
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
    return this.#registration.instanceId;
  }
  get registered(): Registered | undefined {
    return this.#registration.current;
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
      if (connection.online) this.#registration.send();
    }
    const registered =
      this.registered && connection.online ? Promise.resolve(this.registered) : this.#registration.next();
    return this.topics.any ? this.#subscribed(registered) : registered;
  }

  async #subscribed(registering: Promise<Registered>): Promise<Registered> {
    const registered = await registering;
    await this.topics.confirmed;
    return registered;
  }

  #handlerOf({ topic, capability }: DeliveredEnvelope): Handler | undefined {
    return topic === undefined ? this.handlers.get(capability) : this.topics.handlerOf(topic);
  }

  async subscribe(topic: string, handler: Handler): Promise<void> {
    this.topics.add(topic, handler);
    if (this.registered) await this.topics.subscribe(topic);
  }

  /** A changed card: on the wire at once when started, else with `start()`. */
  update(card: CardInput): Promise<Registered | undefined> {
    this.#card = card;
    if (!this.#started) return Promise.resolve(undefined);
    const registered = this.#registration.next();
    if (this.#channel.connection.online) this.#registration.send();
    return registered;
  }

  /** Sent with the next heartbeat, and one is sent now. Throws on what JSON cannot carry: NaN would go out as null. */
  report(report: SelfReport): void {
    const text = toJson(report);
    if (typeof text === "object")
      throw toError(failure("INVALID_REQUEST", `${text.path} is ${text.reason}`, { path: text.path }));
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
    const over = new Alarm(() => this.#onQuiet());
    connection.wheel.set(over, timeoutMs);
    const handback = this.inbox.handBack();
    const params = { instanceId: this.instanceId, reason, handback };
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
    if (!this.#started || this.#leaving) return;
    this.#leaving = true;
    this.inbox.accepting = false;
    this.#channel.connection.wheel.clear(this.#heartbeat);
    this.#channel.connection.wheel.clear(this.#look);
    const { connection } = this.#channel;
    if (connection.online) {
      const params = { instanceId: this.instanceId, reason };
      await connection.ask("deregister", params, sdkLimits.goodbyeTimeoutMs).catch(() => {});
    }
    // Not before: a connection that is lost meanwhile needs a registration, or the node takes no result over the next one.
    this.#started = false;
    this.#leaving = false;
    this.inbox.abortAll("lost");
    this.#release();
  }

  // ---- ConnectionListener ----

  prepare(done: () => void): void {
    if (this.#started) this.#registration.send(done);
    else done();
  }

  /** What it has to say of itself the node must hear again: a new session begins with a clean sheet. */
  ready(): void {
    if (this.#report.health !== undefined || this.#report.facts !== undefined) this.#beat();
  }

  changed(): void {
    const { connection } = this.#channel;
    if (connection.online) return;
    connection.wheel.clear(this.#heartbeat);
    connection.wheel.clear(this.#look);
    if (!connection.ended) return;
    this.#started = false;
    this.inbox.accepting = false;
    this.inbox.abortAll("lost");
    this.#registration.reject(connection.lastError);
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
  publish(envelope: PublishEnvelope): GroupHandle<Published> {
    return this.#channel.groups.publish(envelope);
  }

  progress(delivery: Delivery, progress: object): void {
    const { connection } = this.#channel;
    if (connection.bufferedBytes > sdkLimits.progressBufferBytesMax) return;
    const { messageId, attempt } = delivery.copy;
    const params = { messageId, instanceId: this.instanceId, attempt, ...progress };
    if (connection.online) connection.outgoing.notify("progress", params);
  }

  // ---- what it says of itself ----

  #wireCard(): WireCard {
    const given = (this.#card.capabilities ?? []).map((entry) => (typeof entry === "string" ? { name: entry } : entry));
    const names = new Set(given.map((entry) => entry.name ?? (entry as { id?: string }).id));
    const added = [...this.handlers.keys()].filter((name) => !names.has(name)).map((name) => ({ name }));
    const card = { ...this.#card, capabilities: [...given, ...added] };
    if (card.heartbeatIntervalSec === undefined && this.#options.heartbeatIntervalSec !== undefined) {
      card.heartbeatIntervalSec = this.#options.heartbeatIntervalSec;
    }
    return card;
  }

  #intervalMs(registered: Registered): number {
    return registered.lease.heartbeatIntervalSec * 1000;
  }

  #beat(): void {
    const { connection } = this.#channel;
    if (!this.#started || !this.registered || !connection.online) return;
    connection.wheel.set(this.#heartbeat, this.#intervalMs(this.registered));
    const load = { running: this.inbox.running, queued: this.inbox.queued };
    const sampled = this.#sampler.take();
    const params: Params<"heartbeat"> = { instanceId: this.instanceId, load, ...sampled, ...this.#report };
    // Of two words about its health the worse one counts.
    if (sampled.health !== undefined) params.health = Math.min(sampled.health, this.#report.health ?? 1);
    const answer = ({ state }: { state: string }) => {
      if (state === "unknown" && this.#started) this.#registration.send();
    };
    // A heartbeat that fails is followed by the next one; a lost socket is noticed elsewhere.
    connection.send(new Ask("heartbeat", params, "socket", answer, () => {}), undefined);
  }

  #lookLater(registered: Registered): void {
    const everyMs = this.#intervalMs(registered) / this.#options.samplesPerHeartbeat;
    this.#channel.connection.wheel.set(this.#look, everyMs);
  }

  async #lookAtItself(): Promise<void> {
    const { selfCheck } = this.#options;
    if (!this.#started || !this.registered) return;
    this.#lookLater(this.registered);
    let health: number | undefined;
    if (selfCheck && this.#checking) health = 0;
    else if (selfCheck) {
      this.#checking = true;
      health = await healthBy(selfCheck);
      this.#checking = false;
    }
    const sample = { at: new Date(this.now()).toISOString(), running: this.inbox.running, queued: this.inbox.queued };
    const news = this.#sampler.add({ ...sample, ...(health !== undefined && { health }) }, this.#capacity);
    if (news) this.#beat();
  }

  get #capacity(): number {
    return this.#card.maxConcurrentTasks ?? 10;
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
