import { type ErrorBody, type Hello, limits } from "@agent-reach/protocol";
import { Backoff, type ReconnectOptions } from "./backoff.js";
import { failure, toError } from "./failure.js";
import { sayHello } from "./hello.js";
import { Incoming } from "./incoming.js";
import { sdkLimits } from "./limits.js";
import type { Logger } from "./logger.js";
import { Outgoing } from "./outgoing.js";
import { Ask, type Pending } from "./pending.js";
import type { Platform } from "./platform.js";
import { Probe } from "./probe.js";
import { Requests, tooMany } from "./requests.js";
import { Socket } from "./socket.js";
import type { Dial } from "./transport.js";
import { Wheel } from "./wheel.js";

/*
 *            open()               opened, hello answered, prepared
 *   idle ────────────▶ dialing ─────────────────────────────────▶ online
 *                        ▲  │ refused, late, lost                   │ lost
 *                        │  ▼                                       ▼
 *                        waiting (full-jitter backoff) ◀────────────┘
 *   any ── close() ──▶ closed          any ── close code 4001 ──▶ superseded
 */
type Phase =
  | { name: "idle" | "closed" | "superseded" }
  | { name: "dialing" | "online"; socket: Socket }
  | { name: "waiting"; cancel: () => void; untilMs: number; held: boolean };

export type ConnectionState = Phase["name"];

export interface ConnectionOptions {
  readonly urls: readonly string[];
  readonly token: string | undefined;
  readonly client: { name: string; version: string; language: string };
  readonly reconnect: ReconnectOptions;
  readonly connectTimeoutMs: number;
  readonly dial: Dial;
  readonly platform: Platform;
  readonly logger: Logger;
}

/** Who else wants to know. All are called synchronously, in the order of the frames. */
export interface ConnectionListener {
  /** The connection's state changed; `error` says why it went down. */
  changed?(state: ConnectionState, error: ErrorBody | undefined): void;
  /** Between hello and everything else: calls `done` when requests may go out (an agent registers first). */
  prepare?(done: () => void): void;
  /** A session stands; pending requests are repeated after this. */
  ready?(resumed: boolean): void;
}

/**
 * One socket's life after another, and the requests that outlive them.
 *
 * N1  The backoff begins anew only after a session that was stable; an opened socket or an answered hello is not enough.
 * N2  A request is repeated in a new session only as far as it lives: a call that was sent only in a resumed one.
 * N3  After 4001 it never dials again.
 */
export class Connection {
  readonly options: ConnectionOptions;
  readonly wheel: Wheel;
  readonly incoming: Incoming;
  readonly outgoing = new Outgoing(this);
  readonly listeners = new Set<ConnectionListener>();
  hello: Hello | undefined;
  lastError: ErrorBody | undefined;
  /** Counts the sockets, so that an answer is not given on another one than its request came from. */
  generation = 0;
  readonly #requests: Requests;
  readonly #backoff: Backoff;
  readonly #probe: Probe;
  #phase: Phase = { name: "idle" };
  #onlineSinceMs = 0;
  #holds = 0;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.wheel = new Wheel(options.platform.system);
    this.#backoff = new Backoff(options.reconnect, options.platform.system);
    this.#probe = new Probe(this);
    this.#requests = new Requests(this.wheel, () => this.#holdChanged());
    this.incoming = new Incoming(this, this.#requests);
  }

  get state(): ConnectionState {
    return this.#phase.name;
  }

  get online(): boolean {
    return this.#phase.name === "online";
  }

  get ended(): boolean {
    return this.#phase.name === "closed" || this.#phase.name === "superseded";
  }

  /** Whether there is a socket, be it not yet in use for ordinary requests. */
  get hasSocket(): boolean {
    return "socket" in this.#phase;
  }

  /** The id of the next request: an answer to it, or to a later one, was made after everything sent until now had arrived. */
  get nextId(): number {
    return this.#requests.nextId;
  }

  get where(): string {
    return this.options.urls.join(", ");
  }

  get bufferedBytes(): number {
    return this.#phase.name === "online" ? this.#phase.socket.transport.bufferedBytes : 0;
  }

  /** Begins to connect, if nobody did. */
  open(): void {
    if (this.#phase.name === "idle") this.#dial();
  }

  /** Sends a frame that waits for no answer: now, or not at all. */
  write(text: string): void {
    if ("socket" in this.#phase) this.#phase.socket.transport.send(text);
  }

  /** Takes a request on its way: now, or when there is a session. It is answered, failed, or late by `waitMs`; once. */
  send(pending: Pending, waitMs: number | undefined, nowMs?: number): void {
    if (this.ended) {
      pending.failed(this.#endedError("not_executed"));
      return;
    }
    if (this.#requests.size >= sdkLimits.pendingMax) {
      pending.failed(tooMany(this.where));
      return;
    }
    pending.connection = this;
    this.#requests.add(pending);
    if (waitMs !== undefined) this.wheel.set(pending, waitMs, nowMs);
    const phase = this.#phase;
    if (phase.name === "online" || (pending.lives === "socket" && phase.name === "dialing")) {
      this.#write(phase.socket, pending);
      return;
    }
    pending.waited = true;
    if (phase.name === "idle") this.#dial();
  }

  /** A request of the plain kind as a promise; rejects with a ReachError. */
  ask<T>(method: string, params: unknown, waitMs: number = sdkLimits.requestTimeoutMs): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.send(new Ask(method, params, "always", resolve, (error) => reject(toError(error))), waitMs);
    });
  }

  /** No longer waits for the answer. False: it did not any more. */
  forget(pending: Pending): boolean {
    return this.#requests.forget(pending);
  }

  /** Whether the node will take a frame of this text. `room` is kept for what will be put around it. */
  fits(text: string, room = 0): boolean {
    const max = (this.hello?.limits.maxMessageBytes ?? limits.inputBytesMax + limits.envelopeBytesMax) - room;
    return text.length * 3 <= max || (text.length <= max && this.options.platform.byteLength(text) <= max);
  }

  /** Keeps the process alive while held, also without requests under way. */
  hold(): () => void {
    this.#holds++;
    this.#holdChanged();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      this.#holdChanged();
    };
  }

  close(reason = "closed by the client"): void {
    if (this.ended) return;
    const phase = this.#phase;
    this.#end("closed", failure("CANCELED", reason, { outcome: "unknown" }));
    if (phase.name === "dialing" || phase.name === "online") phase.socket.transport.close(1000, reason);
    if (phase.name === "waiting") phase.cancel();
  }

  /** The socket is taken for dead: half open, or its node does not answer. */
  abandon(why: string): void {
    const phase = this.#phase;
    if (phase.name !== "dialing" && phase.name !== "online") return;
    this.#lost(phase.socket, 1006, why);
    phase.socket.transport.close(1000, why);
  }

  // ---- called by Socket ----

  opened(socket: Socket): void {
    if (!this.#owns(socket)) return;
    sayHello(this, {
      current: () => this.#owns(socket) && this.state === "dialing",
      // At once and not in #ready: a second loss before that would resume this session, and hide that the first is gone.
      forgotten: () => this.#requests.sessionLost(this.where),
      ready: () => this.#ready(socket),
      refused: (error) => {
        if (!this.#owns(socket)) return;
        if (["UNAUTHENTICATED", "FORBIDDEN", "INVALID_REQUEST"].includes(error.code)) this.#requests.failAll(error);
        this.#backoff.atLeast(error.retryAfterMs);
        this.#lost(socket, 1000, error.message, error);
        socket.transport.close(1000, "hello refused");
      },
    });
  }

  received(socket: Socket, text: string): void {
    if (!this.#owns(socket)) return;
    this.#probe.heard = true;
    this.incoming.received(text, socket.url);
  }

  closed(socket: Socket, code: number, reason: string): void {
    if (this.#owns(socket)) this.#lost(socket, code, reason);
  }

  // ---- inside ----

  #owns(socket: Socket): boolean {
    return "socket" in this.#phase && this.#phase.socket === socket;
  }

  #dial(): void {
    const { urls, connectTimeoutMs, platform } = this.options;
    const url = urls[this.#backoff.attempts % urls.length]!;
    const socket = new Socket(this, url);
    this.generation++;
    this.#phase = { name: "dialing", socket };
    socket.giveUp = platform.system.after(
      connectTimeoutMs,
      () => this.#owns(socket) && this.state === "dialing" && this.abandon(`no session within ${connectTimeoutMs} ms`),
      this.#held,
    );
    this.#changed();
    socket.transport = this.options.dial(url, socket);
    socket.transport.hold?.(this.#held);
  }

  #ready(socket: Socket): void {
    socket.giveUp();
    this.#phase = { name: "online", socket };
    this.#onlineSinceMs = this.options.platform.system.monotonic();
    this.lastError = undefined;
    this.#probe.start();
    const waiting = this.#requests.all();
    for (const listener of this.listeners) listener.ready?.(this.hello?.resumed === true);
    for (const pending of waiting) if (this.#requests.get(pending.id)) this.#write(socket, pending);
    this.#changed();
  }

  #lost(socket: Socket, code: number, reason: string, error?: ErrorBody): void {
    const wasOnline = this.#phase.name === "online";
    const system = this.options.platform.system;
    socket.giveUp();
    this.#probe.stop();
    this.lastError =
      error ??
      failure("UNAVAILABLE", `${socket.url} closed the connection (${code} ${reason})`, { outcome: "unknown" });
    if (code === 4001) {
      this.#end("superseded", failure("UNAVAILABLE", supersededText, { outcome: "unknown", retryable: false }));
      return;
    }
    if (wasOnline && system.monotonic() - this.#onlineSinceMs >= sdkLimits.stableMs) this.#backoff.reset();
    const delayMs = this.#backoff.next();
    this.#phase = { name: "waiting", cancel: () => {}, untilMs: system.monotonic() + delayMs, held: false };
    this.#redialAfter(delayMs);
    if (code === 1009) this.#requests.failLargest();
    this.#requests.socketLost(this.lastError);
    this.options.logger.debug("connection lost; dialing again", {
      url: socket.url,
      code,
      reason,
      delayMs: Math.round(delayMs),
    });
    this.#changed();
  }

  #redialAfter(delayMs: number): void {
    if (this.#phase.name !== "waiting") return;
    this.#phase.cancel();
    this.#phase.held = this.#held;
    this.#phase.cancel = this.options.platform.system.after(
      delayMs,
      () => {
        if (this.#phase.name === "waiting") this.#dial();
      },
      this.#held,
    );
  }

  #write(socket: Socket, pending: Pending): void {
    const text = pending.frame();
    if (!this.fits(text)) {
      if (!this.forget(pending)) return;
      const max = this.hello?.limits.maxMessageBytes;
      const advice = `${pending.method} makes a frame over the limit of ${max} bytes; send a reference instead`;
      pending.failed(failure("PAYLOAD_TOO_LARGE", advice, { outcome: pending.sent ? "unknown" : "not_executed" }));
      return;
    }
    pending.sent = true;
    pending.size = text.length;
    socket.transport.send(text);
  }

  #end(name: "closed" | "superseded", error: ErrorBody): void {
    this.#phase = { name };
    this.lastError = error;
    this.#probe.stop();
    this.#requests.failAll(error);
    this.wheel.stop();
    this.#changed();
  }

  #endedError(outcome: ErrorBody["outcome"]): ErrorBody {
    if (this.#phase.name === "superseded") return failure("UNAVAILABLE", supersededText, { outcome, retryable: false });
    return failure("CANCELED", "this client is closed; make a new one", { outcome });
  }

  #changed(): void {
    for (const listener of [...this.listeners]) listener.changed?.(this.state, this.lastError);
  }

  get #held(): boolean {
    return this.#holds > 0 || this.#requests.size > 0;
  }

  #holdChanged(): void {
    if ("socket" in this.#phase) this.#phase.socket.transport.hold?.(this.#held);
    else if (this.#phase.name === "waiting" && this.#held && !this.#phase.held) {
      this.#redialAfter(Math.max(this.#phase.untilMs - this.options.platform.system.monotonic(), 0));
    }
  }
}

const supersededText =
  "another process took over this instance (4001); this one stays away. Start anew to get an instance of your own";
