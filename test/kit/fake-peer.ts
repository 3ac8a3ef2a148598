import type { ReachError } from "@agent-reach/protocol";
import { SharedChannels } from "../../packages/sdk/src/channel.js";
import { Client } from "../../packages/sdk/src/client.js";
import type { ClientOptions } from "../../packages/sdk/src/client-options.js";
import type { Handler } from "../../packages/sdk/src/delivery.js";
import type { Logger } from "../../packages/sdk/src/logger.js";
import { type MemoryPeer, memoryDial } from "../../packages/sdk/src/memory-transport.js";
import type { Context, IdentityStore } from "../../packages/sdk/src/platform.js";
import type { Dial } from "../../packages/sdk/src/transport.js";
import { FakeSystem, settle } from "./fake-system.js";

// biome-ignore lint/suspicious/noExplicitAny: frames are whatever the test sends and expects.
type Frame = Record<string, any>;

/** Return a result, throw a ReachError, or return `silence` to leave the request unanswered. */
export const silence = Symbol("no answer");
export type Answer = (params: Frame, session: FakeSession) => unknown;

/** One socket as the node sees it. Speaks the real protocol in text frames. */
export class FakeSession {
  readonly peer: FakePeer;
  readonly wire: MemoryPeer;
  /** Every frame that came, oldest first. */
  readonly frames: Frame[] = [];
  closedWith: number | undefined;
  readonly #waiting: { matches: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = [];
  readonly #answers = new Map<string, (frame: Frame) => void>();
  #next = 1;

  constructor(peer: FakePeer, wire: MemoryPeer) {
    this.peer = peer;
    this.wire = wire;
    wire.onText = (text) => this.#received(JSON.parse(text));
    wire.onClose = (code) => {
      this.closedWith = code;
    };
  }

  /** The frames of a method. */
  of(method: string): Frame[] {
    return this.frames.filter((frame) => frame["method"] === method);
  }

  /** The next frame that matches, from now on. */
  next(matches: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  send(frame: Frame): void {
    this.wire.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));
  }

  notify(method: string, params: Frame): void {
    this.send({ method, params });
  }

  /** A request to the client; resolves with its response. */
  request(method: string, params: Frame): Promise<Frame> {
    const id = `n${this.#next++}`;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.send({ id, method, params });
    });
  }

  close(code: number, reason = ""): void {
    this.wire.close(code, reason);
  }

  #received(frame: Frame): void {
    this.frames.push(frame);
    for (const waiting of [...this.#waiting]) {
      if (!waiting.matches(frame)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve(frame);
    }
    if (frame["method"] === undefined) {
      this.#answers.get(frame["id"])?.(frame);
      this.#answers.delete(frame["id"]);
    } else if (frame["id"] !== undefined) this.#answer(frame);
  }

  #answer(frame: Frame): void {
    const id = frame["id"];
    try {
      const result = this.peer.answers[frame["method"]]?.(frame["params"] ?? {}, this);
      if (result === silence) return;
      if (result instanceof Promise) result.then((value) => this.send({ id, result: value }));
      else this.send({ id, result: result ?? {} });
    } catch (error) {
      this.send({ id, error: (error as ReachError).toRpc() });
    }
  }
}

/** A node that does what the test says. */
export class FakePeer {
  readonly system = new FakeSystem();
  readonly sessions: FakeSession[] = [];
  readonly dials: { url: string; atMs: number }[] = [];
  readonly dial: Dial;
  /** False: connections are refused. */
  up = true;
  /** False: no session is known any more, as after a restart of the node. */
  remembers = true;
  limits = { maxMessageBytes: 1_114_112, maxInputBytes: 1_048_576, resumeSec: 60 };
  readonly answers: Record<string, Answer> = {
    hello: (params) => this.hello(params),
    register: (params) => this.registered(params),
    heartbeat: () => ({ state: "online" }),
    ping: () => ({}),
    drain: () => ({ running: 0 }),
    deregister: () => ({}),
    complete: () => ({ recorded: true }),
  };
  #epoch = 0;
  readonly #shared = new SharedChannels();
  readonly logged: { level: string; message: string; fields: unknown }[] = [];
  context: Context | undefined;

  constructor() {
    this.dial = memoryDial((wire) => {
      this.dials.push({ url: wire.url, atMs: this.system.monotonic() });
      if (!this.up) return false;
      this.sessions.push(new FakeSession(this, wire));
      return undefined;
    });
  }

  get session(): FakeSession {
    return this.sessions.at(-1)!;
  }

  hello(params: Frame): Frame {
    const resumed = this.remembers && params["resume"] !== undefined;
    return {
      sessionId: `session-${this.sessions.length}`,
      nodeId: "node-1",
      tenant: "default",
      resumed,
      limits: this.limits,
      pingIntervalMs: 30_000,
      serverTime: new Date(this.system.now()).toISOString(),
    };
  }

  registered(params: Frame): Frame {
    this.#epoch++;
    return {
      agentId: params["card"].agentId,
      instanceId: params["instanceId"],
      instanceKey: "k".repeat(32),
      epoch: this.#epoch,
      version: 1,
      revision: this.#epoch,
      lease: { heartbeatIntervalSec: 15, ttlSec: 45, graceSec: 30 },
      warnings: [],
    };
  }

  client(options: Partial<ClientOptions> = {}, identities?: IdentityStore): Client {
    const write = (level: string) => (message: string, fields?: unknown) =>
      void this.logged.push({ level, message, fields });
    const logger: Logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
    const platform = {
      language: "typescript/test",
      system: this.system,
      dial: this.dial,
      context: {
        run: <A extends unknown[], T>(_: Context, work: (...args: A) => T, ...args: A) => work(...args),
        get: () => undefined,
      },
      byteLength: (text: string) => Buffer.byteLength(text),
    };
    const host = { platform, shared: this.#shared };
    return new Client({ registryUrl: "node:8800", logger, ...options }, host, identities);
  }

  /** An agent that is online. */
  async agent(handlers: Record<string, Handler>, card: Frame = {}, options: Partial<ClientOptions> = {}) {
    const client = this.client(options);
    await client.register({ agentId: "order-agent-01", ...card });
    for (const [name, handler] of Object.entries(handlers)) client.onCapability(name, handler);
    const registered = await client.start();
    return { client, registered, session: this.session };
  }

  /** Time goes by; promises and timers come to rest. */
  advance(ms: number): Promise<void> {
    return this.system.advanceAsync(ms);
  }

  settle(): Promise<void> {
    return settle();
  }

  /** Drops the socket without a word and lets the client come back. */
  async bounce(code = 1006): Promise<FakeSession> {
    const before = this.sessions.length;
    this.session.close(code);
    await this.settle();
    for (let i = 0; i < 50 && this.sessions.length === before; i++) await this.advance(1_000);
    await this.settle();
    return this.session;
  }

  /** An envelope as `deliver` carries it. */
  envelope(more: Frame = {}): Frame {
    const messageId = more["messageId"] ?? this.system.newId();
    return {
      messageId,
      traceId: "8f3a1c2e9b7d4f1a8f3a1c2e9b7d4f1a",
      kind: "call",
      capability: "query_order",
      input: { order_id: "1" },
      source: { agentId: "pre-sale" },
      target: { agentId: "order-agent-01" },
      idempotencyKey: messageId,
      timestamp: "2026-11-29T10:00:00.000+08:00",
      timeoutMs: 30_000,
      ...more,
    };
  }
}

/** A promise with its handles outside. */
export function gate<T = unknown>() {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}
