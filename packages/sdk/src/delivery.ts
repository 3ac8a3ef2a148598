import type {
  CallEnvelope,
  DeliveredEnvelope,
  PublishEnvelope,
  Published,
  SubmitEnvelope,
} from "@agent-reach/protocol";
import type { GroupHandle } from "./groups.js";
import { type Logger, withFields } from "./logger.js";
import type { CallOutcome } from "./outcome.js";
import type { Context } from "./platform.js";
import type { TaskHandle } from "./tasks.js";
import { Waiter } from "./wheel.js";

/** What a handler is told about its message, and what it may do with it. */
export interface HandlerContext extends Context {
  readonly kind: "call" | "task";
  readonly sessionRef: string | undefined;
  readonly sequence: number | undefined;
  /** 1 at first; higher when it was delivered before. */
  readonly attempt: number;
  /** Store it with your effect in one transaction, and no redelivery can apply the effect twice. */
  readonly idempotencyKey: string;
  /** Who asks; empty for a caller that never registered. */
  readonly source: { readonly agentId?: string; readonly instanceId?: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly envelope: DeliveredEnvelope;
  /** When the caller stops waiting, and how many milliseconds are left. */
  readonly deadline: Date;
  readonly remainingMs: number;
  /** Aborted with the reason `cancel`, `deadline`, `drain` or `lost`. A result that comes nevertheless is still handed over. */
  readonly signal: AbortSignal;
  /** Tells the caller how far it is, or streams partial output in `data`. Not kept, not confirmed. */
  progress(progress: { percent?: number; message?: string; data?: unknown }): void;
  /** Writes with traceId, messageId, agentId and instanceId. */
  readonly log: Logger;
  /** A call on behalf of this message: same trace, this message as parent, and never longer than what is left. */
  call<T = unknown>(envelope: CallEnvelope): Promise<CallOutcome<T>>;
  /** A task on behalf of this message; it may outlive it. */
  submit<T = unknown>(envelope: SubmitEnvelope): TaskHandle<T>;
  /** The same for all who subscribe to a topic, or offer a capability: one task for each. */
  publish(envelope: PublishEnvelope): GroupHandle<Published>;
}

/** Returns the result, or a promise of it: anything that JSON carries. */
// biome-ignore lint/suspicious/noExplicitAny: the input is whatever the capability's schema says; handlers name its type.
export type Handler<Input = any> = (input: Input, context: HandlerContext) => unknown;

export type AbortReason = "cancel" | "deadline" | "drain" | "lost";

/** What a delivery needs from its agent. */
export interface DeliveryHost {
  readonly agentId: string;
  readonly instanceId: string;
  readonly logger: Logger;
  monotonic(): number;
  now(): number;
  due(delivery: Delivery): void;
  progress(delivery: Delivery, progress: object): void;
  call<T>(envelope: CallEnvelope): Promise<CallOutcome<T>>;
  submit<T>(envelope: SubmitEnvelope): TaskHandle<T>;
  publish(envelope: PublishEnvelope): GroupHandle<Published>;
}

/** One copy of a message: the `deliver` that brought it, and the socket it came on. */
export interface Copy {
  messageId: string;
  attempt: number;
  requestId: number | string;
  generation: number;
  /** Its `deliver` is answered, so that the result goes by `complete`. */
  acknowledged: boolean;
}

/** One execution: context of its handler, place on the wheel, and list of those who wait for its result. */
export class Delivery extends Waiter implements HandlerContext {
  readonly key: string;
  readonly envelope: DeliveredEnvelope;
  readonly copy: Copy;
  /** Other messages with the same idempotencyKey, which get the same answer. */
  others: Copy[] | undefined = undefined;
  started = false;
  startedAtMs = 0;
  aborted: AbortReason | undefined = undefined;
  readonly #host: DeliveryHost;
  readonly #dueMs: number;
  #controller: AbortController | undefined;

  constructor(host: DeliveryHost, key: string, envelope: DeliveredEnvelope, copy: Copy) {
    super();
    this.#host = host;
    this.key = key;
    this.envelope = envelope;
    this.copy = copy;
    this.#dueMs = host.monotonic() + (envelope.timeoutMs ?? Number.POSITIVE_INFINITY);
  }

  get traceId(): string {
    return this.envelope.traceId;
  }
  get messageId(): string {
    return this.envelope.messageId;
  }
  get capability(): string {
    return this.envelope.capability;
  }
  get agentId(): string {
    return this.#host.agentId;
  }
  get instanceId(): string {
    return this.#host.instanceId;
  }
  get kind(): "call" | "task" {
    return this.envelope.kind;
  }
  get sessionRef(): string | undefined {
    return this.envelope.sessionRef;
  }
  get sequence(): number | undefined {
    return this.envelope.sequence;
  }
  get attempt(): number {
    return this.copy.attempt;
  }
  get idempotencyKey(): string {
    return this.envelope.idempotencyKey ?? this.envelope.messageId;
  }
  get source(): { agentId?: string; instanceId?: string } {
    return this.envelope.source ?? {};
  }
  get labels(): Record<string, string> {
    return this.envelope.labels ?? {};
  }
  get remainingMs(): number {
    return this.leftMs(this.#host.monotonic());
  }
  get deadline(): Date {
    return new Date(this.#host.now() + Math.min(this.remainingMs, 8_640_000_000_000));
  }

  /** Most handlers never look; the controller is made for those who do. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(abortError(this.aborted));
    }
    return this.#controller.signal;
  }

  get log(): Logger {
    const { traceId, messageId, capability, attempt } = this;
    const { agentId, instanceId } = this.#host;
    return withFields(this.#host.logger, { traceId, messageId, agentId, instanceId, capability, attempt });
  }

  leftMs(nowMs: number): number {
    return Math.max(this.#dueMs - nowMs, 0);
  }

  abort(reason: AbortReason): void {
    if (this.aborted) return;
    this.aborted = reason;
    this.#controller?.abort(abortError(reason));
  }

  progress(progress: { percent?: number; message?: string; data?: unknown }): void {
    this.#host.progress(this, progress);
  }

  call<T>(envelope: CallEnvelope): Promise<CallOutcome<T>> {
    const leftMs = this.remainingMs;
    const timeoutMs = Math.max(1, Math.floor(Math.min(envelope.timeoutMs ?? leftMs, leftMs)));
    const nested = this.#within(envelope);
    return this.#host.call<T>(Number.isFinite(timeoutMs) ? { ...nested, timeoutMs } : nested);
  }

  submit<T>(envelope: SubmitEnvelope): TaskHandle<T> {
    return this.#host.submit<T>(this.#within(envelope));
  }

  publish(envelope: PublishEnvelope): GroupHandle<Published> {
    return this.#host.publish(this.#within(envelope));
  }

  onDue(): void {
    this.#host.due(this);
  }

  #within<E extends object>(envelope: E) {
    return { ...envelope, traceId: this.traceId, parentId: this.messageId };
  }
}

function abortError(reason: AbortReason): Error {
  const texts = {
    cancel: "the message was canceled",
    deadline: "the deadline of the message has passed",
    drain: "this agent is shutting down",
    lost: "this instance was taken over or closed; its results no longer count",
  };
  const error = new Error(texts[reason]);
  error.name = "AbortError";
  return Object.assign(error, { reason });
}
