import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import WebSocket from "ws";
import { Mailbox } from "./mailbox.js";
import { gate, patienceMs, within } from "./within.js";

// biome-ignore lint/suspicious/noExplicitAny: a bare client reads whatever came, and tests assert on it.
export type Json = any;

/** An error answer as it stood on the wire. */
export class WireError extends Error {
  readonly rpc: number;
  readonly id: Json;
  readonly code: string;
  readonly data: Json;

  constructor(id: Json, error: { code: number; message: string; data?: Json }) {
    super(error.message);
    this.name = "WireError";
    this.id = id;
    this.rpc = error.code;
    this.data = error.data ?? {};
    this.code = this.data.code;
  }
}

export interface Frame {
  text: string;
  json: Json;
}

/** A request of the node. `answer` undefined: the test answers it itself, later or never. */
export type RequestHandler = (params: Json, frame: Frame) => Json | undefined | Promise<Json | undefined>;

/** Thrown by a handler of `deliver`: the message was refused and not executed. */
export class Refusal extends Error {
  readonly code: string;
  readonly rpc: number;
  readonly retryAfterMs: number | undefined;

  constructor(code = "OVERLOADED", rpc = -32013, retryAfterMs?: number) {
    super(code);
    this.code = code;
    this.rpc = rpc;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface WireOptions {
  /** false: open the socket and say nothing. */
  hello?: Record<string, unknown> | false;
  headers?: Record<string, string>;
  /** Leaves pings of the node unanswered, on both levels. */
  deaf?: boolean;
}

/** A WebSocket client that knows the protocol's frames and nothing else: no reconnecting, no repeating. */
export class Wire {
  readonly socket: WebSocket;
  /** Answers which no request of `request` waits for, and everything else that has no method. */
  readonly answers = new Mailbox<Frame>();
  readonly notifications = new Mailbox<{ method: string; params: Json }>();
  /** Requests of the node for which there is no handler. */
  readonly requests = new Mailbox<Frame>();
  readonly closed: Promise<{ code: number; reason: string }>;
  /** The answer to hello. */
  session: Json;
  readonly #waiting = new Map<unknown, (frame: Frame) => void>();
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #deaf: boolean;
  #nextId = 1;

  private constructor(socket: WebSocket, deaf: boolean) {
    this.socket = socket;
    this.#deaf = deaf;
    const end = gate<{ code: number; reason: string }>();
    this.closed = end.opened;
    socket.on("close", (code, reason) => end.open({ code, reason: String(reason) }));
    socket.on("error", () => {});
    socket.on("message", (data) => this.#read(String(data)));
    this.handle("ping", () => (deaf ? undefined : {}));
    this.handle("task.update", (params) => {
      this.notifications.put({ method: "task.update", params });
      return {};
    });
  }

  static async open(url: string, options: WireOptions = {}): Promise<Wire> {
    const deaf = options.deaf ?? false;
    const socket = new WebSocket(url, { perMessageDeflate: false, autoPong: !deaf, headers: options.headers ?? {} });
    const wire = new Wire(socket, deaf);
    const opened = new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    await within(opened, `a socket to ${url}`);
    if (options.hello !== false) await wire.hello(options.hello);
    return wire;
  }

  async hello(params: Record<string, unknown> = {}): Promise<Json> {
    const client = { name: "bare client", version: "1", language: "typescript" };
    this.session = await this.request("hello", { protocol: "1", client, ...params });
    return this.session;
  }

  /** Sends a request and gives its result; an error answer is thrown as WireError. */
  request(method: string, params: Json = {}, ms: number = patienceMs): Promise<Json> {
    const result = this.exchange(method, JSON.stringify(params), ms).then(({ json }) => {
      if (json.error !== undefined) throw new WireError(json.id, json.error);
      return json.result;
    });
    // A test that already failed leaves its requests behind; their end is no news.
    result.catch(() => {});
    return result;
  }

  /** Sends a request whose params are text already, and gives the whole answer, text included. */
  async exchange(method: string, paramsText: string, ms: number = patienceMs): Promise<Frame> {
    const id = this.#nextId++;
    const answered = gate<Frame>();
    this.#waiting.set(id, answered.open);
    this.sendText(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${paramsText}}`);
    const ended = this.closed.then(({ code, reason }) => {
      throw new Error(`the socket closed (${code} ${reason}) before ${method} was answered`);
    });
    ended.catch(() => {});
    return within(Promise.race([answered.opened, ended]), `the answer to ${method}`, ms);
  }

  /** The error that a request ends in; fails if it succeeds. */
  async refused(method: string, params: Json = {}, ms: number = patienceMs): Promise<WireError> {
    try {
      const result = await this.request(method, params, ms);
      throw new Error(`${method} should have been refused, but was answered ${JSON.stringify(result)}`);
    } catch (error) {
      if (error instanceof WireError) return error;
      throw error;
    }
  }

  notify(method: string, params: Json = {}): void {
    this.sendText(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Answers a request of the node. */
  respond(id: Json, result: Json): void {
    this.sendText(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  respondError(id: Json, refusal: Refusal): void {
    const { code, rpc, retryAfterMs, message } = refusal;
    const data = {
      code,
      retryable: true,
      outcome: "not_executed",
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
    this.sendText(JSON.stringify({ jsonrpc: "2.0", id, error: { code: rpc, message, data } }));
  }

  sendText(text: string): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  handle(method: string, handler: RequestHandler): void {
    this.#handlers.set(method, handler);
  }

  /** The next notification of this method, past or coming. */
  async nextNotification(
    method: string,
    fits: (params: Json) => boolean = () => true,
    ms: number = patienceMs,
  ): Promise<Json> {
    const found = await this.notifications.next(
      `a notification ${method}`,
      (n) => n.method === method && fits(n.params),
      ms,
    );
    return found.params;
  }

  /** The next `event` of a watch that has this type and fits. */
  waitFor(type: string, fits: (event: Json) => boolean = () => true, ms: number = patienceMs): Promise<Json> {
    return this.notifications
      .next(`the event ${type}`, (n) => n.method === "event" && n.params.type === type && fits(n.params), ms)
      .then((n) => n.params);
  }

  /** The TCP socket below, for tests that stop reading or send half a frame. */
  get tcp(): Socket {
    return (this.socket as unknown as { _socket: Socket })._socket;
  }

  /** Ends the connection without a word, as a crash does. */
  cut(): void {
    this.socket.terminate();
  }

  async close(): Promise<void> {
    this.socket.close(1000);
    await within(this.closed, "the socket to close");
  }

  #read(text: string): void {
    let json: Json;
    try {
      json = JSON.parse(text);
    } catch {
      throw new Error(`the node sent what is not JSON: ${text.slice(0, 200)}`);
    }
    const frame = { text, json };
    if (json.method === undefined) {
      const waiting = this.#waiting.get(json.id);
      this.#waiting.delete(json.id);
      if (waiting === undefined) this.answers.put(frame);
      else waiting(frame);
    } else if (json.id === undefined) this.notifications.put({ method: json.method, params: json.params });
    else void this.#serve(frame);
  }

  async #serve(frame: Frame): Promise<void> {
    const { id, method, params } = frame.json;
    const handler = this.#handlers.get(method);
    if (handler === undefined) {
      this.requests.put(frame);
      return;
    }
    if (method === "ping" && this.#deaf) return;
    try {
      const answer = await handler(params, frame);
      if (answer !== undefined) this.respond(id, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.respondError(id, error);
    }
  }
}

export function newId(): string {
  return randomUUID();
}
