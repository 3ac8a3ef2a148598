import type { Connection } from "./connection.js";
import { failure, failureOf, type RpcError } from "./failure.js";
import type { Requests } from "./requests.js";

export type RequestHandler = (id: number | string, params: Record<string, unknown>) => void;
export type NotificationHandler = (params: Record<string, unknown>) => void;

/** A JSON-RPC message as it may come: any of its parts may be missing. */
interface Frame {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: RpcError;
}

/** What the node says, told to whom it concerns: answers to our requests, requests and notifications of its own. */
export class Incoming {
  /** Methods that the node may ask for, and notifications it may send. */
  readonly requests = new Map<string, RequestHandler>();
  readonly notifications = new Map<string, NotificationHandler>();
  /** Told the id of every answer, before whoever waited for it: what the answer makes us send next finds them up to date. */
  readonly onAnswer: ((id: number) => void)[] = [];
  readonly #connection: Connection;
  readonly #asked: Requests;

  constructor(connection: Connection, asked: Requests) {
    this.#connection = connection;
    this.#asked = asked;
    this.requests.set("ping", (id) => connection.outgoing.respond(id, "{}"));
  }

  /** Never throws: neither nonsense of the node nor a fault of a listener may take the socket with it. */
  received(text: string, url: string): void {
    const { logger } = this.#connection.options;
    let frame: Frame;
    try {
      frame = JSON.parse(text);
      if (typeof frame !== "object" || frame === null) throw new Error("not an object");
    } catch {
      logger.warn("the node sent a frame that is not JSON-RPC; ignored", { url });
      return;
    }
    try {
      if (frame.method === undefined) this.#answer(frame.id, frame.result, frame.error);
      else if (frame.id !== undefined && frame.id !== null) this.#request(frame.id, frame.method, frame.params ?? {});
      else this.notifications.get(frame.method)?.(frame.params ?? {});
    } catch (error) {
      logger.error("handling a frame failed", { error: String(error), method: frame.method });
    }
  }

  #answer(id: number | string | null | undefined, result: unknown, error: RpcError | undefined): void {
    if (typeof id !== "number") {
      if (error)
        this.#connection.options.logger.warn("the node could not read a frame of ours", { error: error.message });
      return;
    }
    const pending = this.#asked.get(id);
    for (const tell of this.onAnswer) tell(id);
    if (!pending || !this.#asked.forget(pending)) return;
    if (error) pending.failed(failureOf(error));
    else pending.answered(result);
  }

  #request(id: number | string, method: string, params: Record<string, unknown>): void {
    const handler = this.requests.get(method);
    if (handler) {
      handler(id, params);
      return;
    }
    const text = `this client does not know the method ${method}`;
    this.#connection.outgoing.refuse(id, failure("INVALID_REQUEST", text), -32601);
  }
}
