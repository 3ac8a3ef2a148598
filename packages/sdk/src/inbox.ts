import { type AgentErrorShape, type DeliveredEnvelope, type ErrorBody, limits } from "@agent-reach/protocol";
import type { AgentError, Overloaded } from "./agent-error.js";
import { Answers, agentError } from "./answer.js";
import type { Connection } from "./connection.js";
import { Dedupe } from "./dedupe.js";
import { type Copy, Delivery, type DeliveryHost, type Handler } from "./delivery.js";
import { executionKey } from "./execution-key.js";
import { failure } from "./failure.js";
import { toJson } from "./json.js";
import { Keyed } from "./keyed.js";
import { sdkLimits } from "./limits.js";
import type { Outbox } from "./outbox.js";

export interface InboxOptions {
  /** 0: before the handler begins. */
  readonly ackAfterMs: number;
  /** Handlers at one time; what comes beyond it waits here, as many again. */
  readonly maxConcurrentTasks: () => number;
}

/**
 * Messages in, answers out.
 *
 * I1  A key that runs is not started again: the newer copy gets the answer. A key that succeeded gets the same answer again.
 * I2  Every `deliver` is answered: with the result if that comes within `ackAfterMs`, else with `accepted`, and then the
 *     result goes through the outbox. A result never depends on the socket that its message came on.
 * I3  A handler can do nothing that leaves its message without an answer, except never return.
 */
export class Inbox {
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #host: DeliveryHost;
  readonly #options: InboxOptions;
  readonly #handlerOf: (envelope: DeliveredEnvelope) => Handler | undefined;
  readonly #dedupe: Dedupe;
  readonly #answers: Answers;
  /** What runs or waits, by its key. */
  readonly #deliveries = new Keyed<Delivery>();
  #queue: Delivery[] = [];
  #running = 0;
  /** Called whenever the last running handler is done. */
  onIdle: () => void = () => {};
  /** False: everything new is refused (before `start`, while draining). */
  accepting = false;

  constructor(
    connection: Connection,
    outbox: Outbox,
    host: DeliveryHost,
    handlerOf: (envelope: DeliveredEnvelope) => Handler | undefined,
    options: InboxOptions,
  ) {
    this.#connection = connection;
    this.#outbox = outbox;
    this.#host = host;
    this.#handlerOf = handlerOf;
    this.#options = options;
    this.#dedupe = new Dedupe(connection.options.platform.system);
    this.#answers = new Answers(connection);
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** A `deliver` of the node. */
  deliver(requestId: number | string, params: Record<string, unknown>): void {
    const envelope = params["envelope"] as DeliveredEnvelope | undefined;
    if (typeof envelope?.messageId !== "string" || typeof envelope.capability !== "string") {
      this.#connection.outgoing.refuse(
        requestId,
        failure("INVALID_REQUEST", "deliver without an envelope", { path: "envelope" }),
      );
      return;
    }
    const attempt = typeof params["attempt"] === "number" ? params["attempt"] : 1;
    const { generation } = this.#connection;
    const copy: Copy = { messageId: envelope.messageId, attempt, requestId, generation, acknowledged: false };
    const key = executionKey(envelope);
    const delivery = this.#deliveries.get(key);
    if (delivery) {
      this.#attach(delivery, copy);
      return;
    }
    const success = this.#dedupe.find(key);
    if (success) {
      this.#hand(copy, this.#answers.completed(success.data, success.startedAtMs, success.finishedAtMs));
      return;
    }
    const handler = this.#handlerOf(envelope);
    const refusal = this.#refusal(envelope.capability, handler !== undefined);
    if (refusal) {
      this.#connection.outgoing.refuse(requestId, refusal);
      return;
    }
    const fresh = new Delivery(this.#host, key, envelope, copy);
    if (this.#running < this.#options.maxConcurrentTasks()) {
      this.#start(fresh, handler!);
      return;
    }
    this.#deliveries.set(key, fresh);
    this.#queue.push(fresh);
    this.#watch(fresh);
  }

  /** A `cancel` of the node. Words about an older attempt change nothing. */
  cancel(params: Record<string, unknown>): void {
    const { messageId, attempt } = params;
    for (const delivery of this.#deliveries.values()) {
      if (delivery.copy.messageId !== messageId || delivery.others) continue;
      if (typeof attempt === "number" && attempt < delivery.copy.attempt) continue;
      delivery.abort("cancel");
      if (!delivery.started) this.#drop(delivery, { code: "CANCELED", message: "canceled before it was started" });
    }
  }

  /** The wheel came to a delivery: it is time to acknowledge it, or its deadline has passed. */
  due(delivery: Delivery): void {
    if (!delivery.copy.acknowledged) {
      this.#acknowledge(delivery.copy);
      this.#watch(delivery);
    } else if (delivery.started) delivery.abort("deadline");
    else
      this.#drop(delivery, { code: "DEADLINE", message: "the deadline passed before it was started", retryable: true });
  }

  /** Gives back what is not started: refused if it can be, else returned for the `drain` message. */
  handBack(): { messageId: string; attempt: number }[] {
    const back: { messageId: string; attempt: number }[] = [];
    for (const delivery of this.#queue) {
      this.#settle(delivery);
      for (const copy of [delivery.copy, ...(delivery.others ?? [])]) {
        if (this.#answerable(copy)) this.#connection.outgoing.refuse(copy.requestId, leaving());
        else back.push({ messageId: copy.messageId, attempt: copy.attempt });
      }
    }
    this.#queue = [];
    return back;
  }

  abortAll(reason: "drain" | "lost"): void {
    for (const delivery of this.#deliveries.values()) delivery.abort(reason);
  }

  #refusal(capability: string, known: boolean): ErrorBody | undefined {
    if (!this.accepting) return leaving();
    if (!known) return failure("NO_ROUTE", `${this.#host.agentId} has no handler for ${capability}`);
    if (this.#outbox.size >= sdkLimits.outboxMax) {
      const text = `${this.#host.agentId} waits for the node to confirm ${sdkLimits.outboxMax} results`;
      return failure("OVERLOADED", text, { retryAfterMs: sdkLimits.confirmAfterMs });
    }
    if (this.#queue.length >= Math.max(this.#options.maxConcurrentTasks(), 16)) {
      return failure("OVERLOADED", `${this.#host.agentId} already has more than it may run`, {
        retryAfterMs: 100,
      });
    }
    return undefined;
  }

  #attach(delivery: Delivery, copy: Copy): void {
    const current = delivery.copy;
    if (copy.messageId !== current.messageId) {
      this.#acknowledge(copy);
      delivery.others = (delivery.others ?? []).filter((other) => other.messageId !== copy.messageId);
      delivery.others.push(copy);
      return;
    }
    if (copy.attempt < current.attempt) {
      this.#acknowledge(copy);
      return;
    }
    if (!current.acknowledged) this.#acknowledge(current);
    Object.assign(current, copy);
    this.#watch(delivery);
  }

  #start(delivery: Delivery, handler: Handler): void {
    delivery.started = true;
    delivery.startedAtMs = this.#host.now();
    this.#running++;
    if (this.#options.ackAfterMs > 0) {
      this.#run(delivery, handler);
      return;
    }
    // Begun when the acknowledgement has left, which a handler that blocks the loop would keep back.
    this.#deliveries.set(delivery.key, delivery);
    this.#acknowledge(delivery.copy);
    this.#watch(delivery);
    this.#connection.options.platform.system.after(0, () => this.#run(delivery, handler));
  }

  #run(delivery: Delivery, handler: Handler): void {
    let value: unknown;
    try {
      value = this.#connection.options.platform.context.run(delivery, handler, delivery.envelope.input, delivery);
    } catch (error) {
      this.#failed(delivery, error);
      return;
    }
    if (typeof (value as PromiseLike<unknown> | null)?.then === "function") {
      // Only now: nothing can ask for one that is done before the next frame is read.
      this.#deliveries.set(delivery.key, delivery);
      this.#watch(delivery);
      // Not awaited in an async function: that is one promise more per message, and promises are what handlers cost.
      (value as PromiseLike<unknown>).then(
        (result) => this.#succeeded(delivery, result),
        (error) => this.#failed(delivery, error),
      );
    } else this.#succeeded(delivery, value);
  }

  #succeeded(delivery: Delivery, value: unknown): void {
    const data = toJson(value);
    if (typeof data === "object") {
      const text = `the result of ${delivery.capability} cannot be sent: ${data.path} is ${data.reason}`;
      this.#fail(delivery, {
        code: "RESULT_NOT_SERIALIZABLE",
        message: text,
        data: { path: data.path },
        retryable: false,
      });
      return;
    }
    const bytes = this.#answers.bytes(data);
    const bytesMax = this.#connection.hello?.limits.maxInputBytes ?? limits.inputBytesMax;
    if (bytes > bytesMax) {
      const text = `the result of ${delivery.capability} has ${bytes} bytes, over the limit of ${bytesMax}; send a reference instead`;
      this.#fail(delivery, { code: "PAYLOAD_TOO_LARGE", message: text, retryable: false });
      return;
    }
    const finishedAtMs = this.#host.now();
    this.#dedupe.keep(delivery.key, data, delivery.startedAtMs, finishedAtMs);
    this.#finish(delivery, this.#answers.completed(data, delivery.startedAtMs, finishedAtMs, bytes));
  }

  #failed(delivery: Delivery, error: unknown): void {
    const thrown = (typeof error === "object" && error !== null ? error : { message: String(error) }) as Partial<
      AgentError & Overloaded
    >;
    // Names, not classes: a second copy of this package in the same process must work too.
    if (thrown.name === "Overloaded" && this.#answerable(delivery.copy)) {
      const { retryAfterMs } = thrown;
      const refusal = failure(
        "OVERLOADED",
        thrown.message ?? "too much to do",
        retryAfterMs === undefined ? {} : { retryAfterMs },
      );
      const others = delivery.others;
      delivery.others = undefined;
      this.#connection.outgoing.refuse(delivery.copy.requestId, refusal);
      this.#settle(delivery);
      for (const copy of others ?? []) this.#hand(copy, this.#answers.failed({ code: "OVERLOADED", retryable: true }));
      this.#next();
      return;
    }
    this.#fail(delivery, agentError(thrown, delivery.aborted));
  }

  #fail(delivery: Delivery, error: AgentErrorShape): void {
    this.#finish(delivery, this.#answers.failed(error, delivery.startedAtMs, this.#host.now()));
  }

  /** Ends what never ran. */
  #drop(delivery: Delivery, error: AgentErrorShape): void {
    this.#queue = this.#queue.filter((other) => other !== delivery);
    this.#finish(delivery, this.#answers.failed(error));
  }

  #finish(delivery: Delivery, answer: string): void {
    this.#settle(delivery);
    this.#hand(delivery.copy, answer);
    if (delivery.others) for (const copy of delivery.others) this.#hand(copy, answer);
    this.#next();
  }

  #settle(delivery: Delivery): void {
    this.#deliveries.delete(delivery.key);
    this.#connection.wheel.clear(delivery);
    if (delivery.started) this.#running--;
  }

  #next(): void {
    while (this.#queue.length > 0 && this.#running < this.#options.maxConcurrentTasks()) {
      const delivery = this.#queue.shift()!;
      this.#start(delivery, this.#handlerOf(delivery.envelope)!);
    }
    if (this.#running === 0 && this.#queue.length === 0) this.onIdle();
  }

  /** The result goes as the answer of `deliver` where that still waits on this very socket, else by `complete`. */
  #hand(copy: Copy, answer: string): void {
    if (this.#answerable(copy)) {
      copy.acknowledged = true;
      this.#connection.outgoing.respond(copy.requestId, `{${answer}}`);
      this.#outbox.given(copy.messageId, copy.attempt, answer);
    } else this.#outbox.complete(copy.messageId, copy.attempt, answer);
  }

  #acknowledge(copy: Copy): void {
    if (this.#answerable(copy)) this.#connection.outgoing.respond(copy.requestId, '{"status":"accepted"}');
    copy.acknowledged = true;
  }

  #answerable(copy: Copy): boolean {
    return !copy.acknowledged && copy.generation === this.#connection.generation && this.#connection.hasSocket;
  }

  /** Sets the next moment at which somebody must look at it. */
  #watch(delivery: Delivery): void {
    const nowMs = this.#host.monotonic();
    const leftMs = delivery.leftMs(nowMs);
    const nextMs = delivery.copy.acknowledged ? leftMs : Math.min(this.#options.ackAfterMs, leftMs);
    if (nextMs < limits.waitMsMax) this.#connection.wheel.set(delivery, nextMs, nowMs);
  }
}

function leaving(): ErrorBody {
  return failure("DRAINING", "this instance takes no work at the moment; ask another one");
}
