import type { ErrorBody } from "@agent-reach/protocol";
import type { Connection, ConnectionListener } from "./connection.js";
import { sdkLimits } from "./limits.js";
import { Ask, Pending } from "./pending.js";
import { Alarm } from "./wheel.js";

/** A result to hand over. `answer` is the inside of a JSON object: status, data or error, receipt. */
export interface Result {
  readonly messageId: string;
  readonly attempt: number;
  readonly answer: string;
  /** Given as an answer: the id of the request from which on an answer confirms it. */
  readonly fromId: number;
}

/** Who the results are from; the epoch changes with every registration. */
export interface Identity {
  readonly instanceId: string;
  readonly epoch: number;
}

/**
 * Results that the node may not have.
 *
 * O1  A result given as the answer of `deliver` is kept until the answer to a request that was sent after it came over the
 *     same connection: frames keep their order, and the node answers nothing before it has committed what came earlier.
 * O2  After a lost connection everything kept is repeated by `complete`, and each is repeated until it is answered.
 * O3  Nobody has to send such a later request by chance: the outbox asks with a `ping`, once in a few hundred results.
 */
export class Outbox implements ConnectionListener {
  readonly #connection: Connection;
  readonly #identity: () => Identity;
  readonly #confirm: Alarm;
  readonly #onEmpty: () => void;
  /** Given as answers, oldest first. */
  #given: Result[] = [];
  #head = 0;
  #completing = 0;
  #asking = false;

  constructor(connection: Connection, identity: () => Identity, onEmpty: () => void) {
    this.#connection = connection;
    this.#identity = identity;
    this.#onEmpty = onEmpty;
    this.#confirm = new Alarm(() => this.confirm());
    connection.listeners.add(this);
    connection.incoming.onAnswer.push((id) => this.answered(id));
  }

  /** Results that are not confirmed. */
  get size(): number {
    return this.#given.length - this.#head + this.#completing;
  }

  /** The result was just written as the answer of a `deliver`. */
  given(messageId: string, attempt: number, answer: string): void {
    this.#given.push({ messageId, attempt, answer, fromId: this.#connection.nextId });
    const waiting = this.#given.length - this.#head;
    if (waiting >= sdkLimits.confirmEvery) this.confirm();
    else if (waiting === 1 && !this.#asking) this.#connection.wheel.set(this.#confirm, sdkLimits.confirmAfterMs);
  }

  /** Hands the result over by a request of its own, now or as soon as there is a session. */
  complete(messageId: string, attempt: number, answer: string): void {
    this.#completing++;
    this.#send(new PendingComplete({ messageId, attempt, answer, fromId: 0 }, this.#identity, this));
  }

  /** Asks for a sign that everything given has arrived. */
  confirm(): void {
    if (this.#asking || !this.#connection.online || this.#given.length === this.#head) return;
    this.#asking = true;
    this.#connection.wheel.clear(this.#confirm);
    const over = () => {
      this.#asking = false;
      const waiting = this.#given.length - this.#head;
      if (waiting >= sdkLimits.confirmEvery) this.confirm();
      else if (waiting > 0) this.#connection.wheel.set(this.#confirm, sdkLimits.confirmAfterMs);
    };
    this.#connection.send(new Ask("ping", {}, "socket", over, over), undefined);
  }

  answered(id: number): void {
    const given = this.#given;
    if (this.#head === given.length) return;
    let head = this.#head;
    while (head < given.length && given[head]!.fromId <= id) head++;
    if (head === this.#head) return;
    this.#head = head;
    if (head === given.length) {
      this.#given = [];
      this.#head = 0;
      this.#connection.wheel.clear(this.#confirm);
      if (this.#completing === 0) this.#onEmpty();
    } else if (head > 1024 && head * 2 > given.length) {
      this.#given = given.slice(head);
      this.#head = 0;
    }
  }

  changed(): void {
    if (this.#connection.online || this.#given.length === this.#head) return;
    // The socket is gone, and with it the only way to learn whether these arrived.
    const unsure = this.#given.slice(this.#head);
    this.#given = [];
    this.#head = 0;
    if (this.#connection.ended) return;
    for (const { messageId, attempt, answer } of unsure) this.complete(messageId, attempt, answer);
  }

  /** A `complete` got its answer: recorded or not, the node knows. */
  done(): void {
    this.#completing--;
    if (this.size === 0) this.#onEmpty();
  }

  /** What becomes of a `complete` that was refused. */
  refused(pending: PendingComplete, error: ErrorBody): void {
    if (this.#connection.ended) {
      this.done();
      return;
    }
    if (error.code === "PAYLOAD_TOO_LARGE" && !pending.shrunk) {
      this.#send(pending.shrink(error));
      return;
    }
    if (!error.retryable) {
      const { messageId, attempt } = pending.result;
      this.#connection.options.logger.error("the node refused a result", { messageId, attempt, error: error.message });
      this.done();
      return;
    }
    this.#connection.wheel.set(new Alarm(() => this.#send(pending)), error.retryAfterMs ?? sdkLimits.completeRetryMs);
  }

  #send(pending: PendingComplete): void {
    this.#connection.send(pending, undefined);
  }
}

class PendingComplete extends Pending {
  readonly lives = "always";
  readonly method = "complete";
  readonly #identity: () => Identity;
  readonly #outbox: Outbox;
  result: Result;
  shrunk = false;

  constructor(result: Result, identity: () => Identity, outbox: Outbox) {
    super();
    this.result = result;
    this.#identity = identity;
    this.#outbox = outbox;
  }

  /** A result that no frame can carry is a failure which says so, instead of one that is sent for ever. */
  shrink(error: ErrorBody): PendingComplete {
    const failed = { code: error.code, message: error.message, retryable: false };
    this.shrunk = true;
    this.result = { ...this.result, answer: `"status":"failed","error":${JSON.stringify(failed)}` };
    return this;
  }

  frame(): string {
    const { messageId, attempt, answer } = this.result;
    const { instanceId, epoch } = this.#identity();
    const params = `"messageId":"${messageId}","instanceId":"${instanceId}","epoch":${epoch},"attempt":${attempt},${answer}`;
    return `{"jsonrpc":"2.0","id":${this.id},"method":"complete","params":{${params}}}`;
  }

  answered(): void {
    this.#outbox.done();
  }

  failed(error: ErrorBody): void {
    this.#outbox.refused(this, error);
  }
}
