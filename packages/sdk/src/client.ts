import type {
  Agent as AgentRecord,
  CallEnvelope,
  Discovery,
  PublishEnvelope,
  Published,
  Registered,
  SubmitEnvelope,
  SubmittedMany,
  Task,
} from "@agent-reach/protocol";
import { Agent, type SelfReport } from "./agent.js";
import type { CallHandle } from "./calls.js";
import { type Channel, makeChannel, type SharedChannels } from "./channel.js";
import type { ClientEvents, ClientHost, ClientOptions, ClientState } from "./client-options.js";
import type { ConnectionListener, ConnectionOptions } from "./connection.js";
import type { Handler } from "./delivery.js";
import type { AgentFilter, DiscoverQuery } from "./directory.js";
import { Emitter } from "./emitter.js";
import { failure, toError } from "./failure.js";
import type { GroupHandle } from "./groups.js";
import { sdkLimits } from "./limits.js";
import { consoleLogger, type Logger, withContext } from "./logger.js";
import { untilOnline } from "./online.js";
import type { CallOutcome } from "./outcome.js";
import type { IdentityStore } from "./platform.js";
import type { CardInput } from "./registration.js";
import type { TaskHandle } from "./tasks.js";
import { normalizeUrl } from "./url.js";
import { sdkVersion } from "./version.js";
import type { Watch, WatchFilter, WatchListener } from "./watch.js";

/**
 * The client. Only calling: make it and call. Being reachable: `register`, `onCapability`, `start`.
 *
 * What fails remotely in `callSync`, `callAsync` and `submit` is returned, not thrown. `discover`, `agents`, `agent`, `watch`,
 * `register` and `start` throw a ReachError.
 */
export class Client {
  readonly logger: Logger;
  readonly #options: ClientOptions;
  readonly #connection: ConnectionOptions;
  readonly #shared: SharedChannels;
  readonly #identities: IdentityStore | undefined;
  readonly #events: Emitter<ClientEvents>;
  readonly #handlers = new Map<string, Handler>();
  readonly #topics = new Map<string, Handler>();
  #channel: Channel | undefined;
  #agent: Agent | undefined;
  #release: () => void = () => {};
  #unlisten: () => void = () => {};
  #listened = false;
  #closed = false;
  #draining: Promise<void> | undefined;

  constructor(options: ClientOptions, host: ClientHost, identities?: IdentityStore) {
    const { registryUrl, reconnect = {} } = options;
    const urls = (typeof registryUrl === "string" ? [registryUrl] : [...registryUrl]).map(normalizeUrl);
    if (urls.length === 0)
      throw toError(
        failure("INVALID_REQUEST", "registryUrl is empty; give the node's address", { path: "registryUrl" }),
      );
    this.#options = options;
    this.#shared = host.shared;
    this.#identities = identities;
    this.logger = withContext(options.logger ?? consoleLogger, host.platform.context);
    this.#events = new Emitter((error) => this.logger.error("a listener failed", { error: String(error) }));
    this.#connection = {
      urls,
      token: options.token,
      client: { name: options.name ?? "agent-reach-sdk", version: sdkVersion, language: host.platform.language },
      reconnect: {
        minMs: reconnect.minMs ?? sdkLimits.reconnectMinMs,
        maxMs: reconnect.maxMs ?? sdkLimits.reconnectMaxMs,
      },
      connectTimeoutMs: options.connectTimeoutMs ?? sdkLimits.connectTimeoutMs,
      dial: options.transport ?? host.platform.dial,
      platform: host.platform,
      logger: this.logger,
    };
  }

  /** `idle` before first use, then `dialing`, `online`, `waiting` (for the next attempt), `draining`, `superseded`, `closed`. */
  get state(): ClientState {
    if (this.#closed) return "closed";
    if (this.#draining) return "draining";
    return this.#channel?.connection.state ?? "idle";
  }

  /** The instance this client is registered as. */
  get registered(): Registered | undefined {
    return this.#agent?.registered;
  }

  /** Returns the way to stop listening. */
  on<K extends keyof ClientEvents>(name: K, listener: (event: ClientEvents[K]) => void): () => void {
    this.#listened = true;
    if (this.#channel) this.#listen(this.#channel);
    return this.#events.on(name, listener);
  }

  /**
   * Resolves when a session stands. It tries for ever, unless `timeoutMs` is given; rejects with a ReachError when that has
   * passed, when the node refuses the identity, or when the client is closed. Calling needs no `connect()`.
   */
  async connect(options: { timeoutMs?: number } = {}): Promise<void> {
    return untilOnline(this.#use().connection, options.timeoutMs);
  }

  // ---- being reachable ----

  /**
   * Says who this client is; on the wire with `start()`. Once started, a changed card is sent at once, and the promise
   * waits for the node. A capability that has a handler and is not on the card is added by its name.
   */
  register(card: CardInput): Promise<Registered | undefined> {
    if (this.#agent) return this.#agent.update(card);
    this.#assertOpen();
    const channel = makeChannel(this.#connection);
    this.#release();
    this.#channel = channel;
    this.#release = () => channel.connection.close();
    if (this.#listened) this.#listen(channel);
    this.#agent = new Agent(channel, card, {
      ackAfterMs: this.#options.ackAfterMs ?? sdkLimits.ackAfterMs,
      heartbeatIntervalSec: this.#options.heartbeatIntervalSec,
      samplesPerHeartbeat: Math.max(1, Math.floor(this.#options.samplesPerHeartbeat ?? 1)),
      selfCheck: this.#options.selfCheck,
      identities: this.#identities,
      onRegistered: (registered) => this.#events.emit("registered", registered),
      onError: (error) => this.#events.emit("error", error),
    });
    for (const [name, handler] of this.#handlers) this.#agent.handlers.set(name, handler);
    for (const [topic, handler] of this.#topics) this.#agent.topics.add(topic, handler);
    return Promise.resolve(undefined);
  }

  /** The handler of a capability; a second one replaces the first. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Handler; without it a handler that names no type would get `unknown`.
  onCapability<Input = any>(name: string, handler: Handler<Input>): this {
    this.#handlers.set(name, handler as Handler);
    this.#agent?.handlers.set(name, handler as Handler);
    return this;
  }

  /**
   * Subscribes the agent to a topic, on the wire with `start()`, or at once when that is over; the promise then waits for the
   * node. The subscription is the agent's: it goes on while no instance runs, until `unsubscribe` or until the node forgets
   * the agent. Each message goes to one instance, as a task; a second handler replaces the first.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as in onCapability.
  subscribe<Input = any>(topic: string, handler: Handler<Input>): Promise<void> {
    this.#topics.set(topic, handler as Handler);
    return this.#agent?.subscribe(topic, handler as Handler) ?? Promise.resolve();
  }

  /** Ends the agent's subscription, also one of an earlier run. Resolves when the node confirmed it. */
  unsubscribe(topic: string): Promise<void> {
    this.#topics.delete(topic);
    if (this.#agent?.registered) return this.#agent.topics.unsubscribe(topic);
    return Promise.reject(toError(failure("INVALID_REQUEST", "unsubscribe() before start(); say first who you are")));
  }

  /** Registers and takes work from now on. Resolves when the node confirmed it; rejects when it refuses the card. */
  start(): Promise<Registered> {
    this.#assertOpen();
    if (this.#agent) return this.#agent.start();
    return Promise.reject(toError(failure("INVALID_REQUEST", "start() without register(); say first who you are")));
  }

  /** The agent's own word about itself: `health` 0 to 1, and facts like `{ p50LatencyMs }`. Sent at once. */
  report(report: SelfReport): void {
    this.#agent?.report(report);
  }

  /**
   * Leaves without losing anything: no new work, running handlers finish, what is not started goes back, results are
   * confirmed, then goodbye and close. After `timeoutMs` (10,000) it leaves anyway.
   */
  drain(options: { timeoutMs?: number; reason?: string } = {}): Promise<void> {
    const { timeoutMs = sdkLimits.drainTimeoutMs, reason = "drain" } = options;
    if (this.#closed) return Promise.resolve();
    if (!this.#draining) {
      this.#draining = (async () => {
        await this.#agent?.drain(timeoutMs, reason);
        await this.close();
      })();
      this.#events.emit("state", { state: this.state, error: undefined });
    }
    return this.#draining;
  }

  /** Goodbye at once. Calls under way fail as `CANCELED`, running handlers are aborted; `drain()` is the patient way. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#agent?.leave("closed");
    this.#unlisten();
    this.#release();
    this.#events.emit("state", { state: "closed", error: undefined });
  }

  // ---- finding others ----

  /** Who can do it, best first, with reasons. Finding nobody is an answer. */
  async discover(query: DiscoverQuery): Promise<Discovery> {
    return this.#use().directory.discover(query);
  }

  /** All agents with an instance online that offers the capability. */
  async listOnlineAgentsByCapability(capability: string): Promise<AgentRecord[]> {
    return this.#use().directory.agents({ state: "online", capability });
  }

  async agents(filter: AgentFilter = {}): Promise<AgentRecord[]> {
    return this.#use().directory.agents(filter);
  }

  /** One agent; `version` asks for an older card of the last 24 h. */
  async agent(agentId: string, version?: number): Promise<AgentRecord> {
    return this.#use().directory.agent(agentId, version);
  }

  /** Changes of the registry from now on, over reconnects too. */
  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watch> {
    return this.#use().watches.add(filter, (event) => {
      try {
        listener(event);
      } catch (error) {
        this.logger.error("a watch listener failed", { error: String(error) });
      }
    });
  }

  // ---- calling ----

  /**
   * Sends a call and waits for its outcome. `timeoutMs` is the whole time you are willing to wait. Never
   * rejects; throws only when the client was closed.
   */
  callSync<T = unknown>(envelope: CallEnvelope): Promise<CallOutcome<T>> {
    return this.#use().calls.call<T>(envelope);
  }

  /** Sends a call and returns at once: await `result`, give callbacks, or poll. With `durable` it is a task. */
  callAsync<T = unknown>(envelope: SubmitEnvelope, options: { durable: true }): TaskHandle<T>;
  callAsync<T = unknown>(envelope: CallEnvelope, options?: { durable?: false }): CallHandle<T>;
  callAsync<T = unknown>(envelope: CallEnvelope, options: { durable?: boolean } = {}): CallHandle<T> | TaskHandle<T> {
    return options.durable ? this.submit<T>(envelope) : this.#use().calls.handle<T>(envelope);
  }

  /** Submits durable work: once `accepted` says so, it survives restarts of everybody. Never throws. */
  submit<T = unknown>(envelope: SubmitEnvelope): TaskHandle<T> {
    return this.#use().tasks.submit<T>(envelope);
  }

  /** Submits many tasks in one request: all of them are accepted, or none. Never throws. */
  submitMany(envelopes: readonly SubmitEnvelope[], options: { groupId?: string } = {}): GroupHandle<SubmittedMany> {
    return this.#use().groups.submit(envelopes, options.groupId);
  }

  /** Publishes to all agents that subscribe to a topic, or that offer a capability: one task for each. Never throws. */
  publish(envelope: PublishEnvelope): GroupHandle<Published> {
    return this.#use().groups.publish(envelope);
  }

  /** A handle of a group that was submitted elsewhere. */
  group(groupId: string): GroupHandle<undefined> {
    return this.#use().groups.follow(groupId);
  }

  /** A handle of a task that was submitted elsewhere. */
  task<T = unknown>(messageId: string): TaskHandle<T> {
    return this.#use().tasks.follow<T>(messageId);
  }

  // ---- inside ----

  #assertOpen(): void {
    if (this.#closed)
      throw toError(failure("CANCELED", "this client is closed; make a new one", { outcome: "not_executed" }));
  }

  /** The agent's own connection, or the one that clients of this identity share; made at first use. */
  #use(): Channel {
    this.#assertOpen();
    if (!this.#channel || (this.#channel.connection.state === "closed" && !this.#agent)) {
      const { channel, release } = this.#shared.acquire(this.#connection);
      this.#channel = channel;
      this.#release = release;
      if (this.#listened) this.#listen(channel);
    }
    return this.#channel;
  }

  #listen(channel: Channel): void {
    this.#unlisten();
    const onTask = (task: Task) => this.#events.emit("task", task);
    const listener: ConnectionListener = {
      changed: (_, error) => this.#events.emit("state", { state: this.state, error }),
    };
    channel.connection.listeners.add(listener);
    channel.tasks.listeners.add(onTask);
    this.#unlisten = () => {
      channel.connection.listeners.delete(listener);
      channel.tasks.listeners.delete(onTask);
    };
  }
}
