import type { ErrorBody } from "@agent-reach/protocol";
import type { Connection } from "./connection.js";
import { failure } from "./failure.js";
import { Waiter } from "./wheel.js";

/**
 * How far a request that was sent is repeated after a reconnect: not at all, since it belongs to its socket (hello, register,
 * heartbeat, ping); while the node knows the session, and with it what became of the request (call); or always, since the
 * node knows it from its disk or it changes nothing.
 */
export type Life = "socket" | "session" | "always";

/**
 * A request that waits for its answer. It is its own place on the wheel and makes its own frame, so that one object serves
 * for the whole life of a request, however often it must be sent.
 */
export abstract class Pending extends Waiter {
  id = 0;
  connection: Connection | undefined = undefined;
  /** Whether any socket ever took it: decides what a caller may conclude from silence. */
  sent = false;
  /** Whether it had to wait for a session, so that time went by before its first frame. */
  waited = false;
  /** Characters of the frame last sent. */
  size = 0;
  abstract readonly lives: Life;
  abstract readonly method: string;

  /** The text to send, made anew each time since the time left shrinks. */
  abstract frame(): string;
  abstract answered(result: unknown): void;
  abstract failed(error: ErrorBody): void;

  onDue(): void {
    const connection = this.connection;
    if (!connection?.forget(this)) return;
    const outcome = this.sent ? "unknown" : "not_executed";
    this.failed(
      connection.online
        ? failure("TIMEOUT", `the node did not answer ${this.method} in time; try again`, { outcome, retryable: true })
        : failure(
            "UNAVAILABLE",
            `no connection to ${connection.where} while ${this.method} waited; is the node running?`,
            { outcome },
          ),
    );
  }
}

/** A request of the plain kind, told by two functions. */
export class Ask extends Pending {
  readonly method: string;
  readonly lives: Life;
  readonly #params: unknown;
  readonly #onAnswer: (result: never) => void;
  readonly #onFailure: (error: ErrorBody) => void;

  constructor(
    method: string,
    params: unknown,
    lives: Life,
    onAnswer: (result: never) => void,
    onFailure: (error: ErrorBody) => void,
  ) {
    super();
    this.method = method;
    this.#params = params;
    this.lives = lives;
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
  }

  frame(): string {
    return JSON.stringify({ jsonrpc: "2.0", id: this.id, method: this.method, params: this.#params });
  }

  answered(result: unknown): void {
    this.#onAnswer(result as never);
  }

  failed(error: ErrorBody): void {
    this.#onFailure(error);
  }
}
