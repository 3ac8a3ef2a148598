import type { CallEnvelope, CallResult, ErrorBody } from "@agent-reach/protocol";
import type { Connection } from "./connection.js";
import { type Prepared, prepare } from "./envelope.js";
import { failure } from "./failure.js";
import { sdkLimits } from "./limits.js";
import { CallOutcome } from "./outcome.js";
import { Pending } from "./pending.js";

/** Progress or partial output, as the agent sent it. */
export interface Progress {
  readonly messageId: string;
  readonly percent?: number;
  readonly message?: string;
  readonly data?: unknown;
  readonly attempt?: number;
}

export type ProgressListener = (progress: Progress) => void;

/** A call under way. */
export interface CallHandle<T = unknown> {
  readonly messageId: string;
  readonly traceId: string;
  /** Resolves once, with data or with the failure; never rejects. */
  readonly result: Promise<CallOutcome<T>>;
  /** Called with the outcome; at once if it is there already. */
  onResult(listener: (outcome: CallOutcome<T>) => void): CallHandle<T>;
  onProgress(listener: ProgressListener): CallHandle<T>;
  /** The outcome if it is there. */
  poll(): CallOutcome<T> | undefined;
  /** Asks the node to cancel; the outcome then is `CANCELED`, unless the result was faster. */
  cancel(reason?: string): void;
}

/** Calls over one connection. */
export class Calls {
  readonly #connection: Connection;
  readonly #progress = new Map<string, ProgressListener[]>();

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.incoming.notifications.set("progress", (params) => {
      const listeners = this.#progress.get(params["messageId"] as string);
      if (listeners) for (const listener of listeners) listener(params as unknown as Progress);
    });
  }

  call<T>(envelope: CallEnvelope): Promise<CallOutcome<T>> {
    return new Promise((resolve) => {
      this.#send(new PendingCall(this.#prepare(envelope), resolve as (outcome: CallOutcome) => void));
    });
  }

  handle<T>(envelope: CallEnvelope): CallHandle<T> {
    const prepared = this.#prepare(envelope);
    let outcome: CallOutcome<T> | undefined;
    const result = new Promise<CallOutcome<T>>((resolve) => {
      const settle = (value: CallOutcome) => {
        outcome = value as CallOutcome<T>;
        this.#progress.delete(prepared.messageId);
        resolve(outcome);
      };
      this.#send(new PendingCall(prepared, settle));
    });
    const handle: CallHandle<T> = {
      messageId: prepared.messageId,
      traceId: prepared.traceId,
      result,
      onResult: (listener) => {
        void result.then(listener);
        return handle;
      },
      onProgress: (listener) => {
        if (!outcome) this.listen(prepared.messageId, listener);
        return handle;
      },
      poll: () => outcome,
      cancel: (reason) => {
        if (!outcome) this.cancel(prepared.messageId, reason);
      },
    };
    return handle;
  }

  listen(messageId: string, listener: ProgressListener): void {
    const listeners = this.#progress.get(messageId);
    if (listeners) listeners.push(listener);
    else this.#progress.set(messageId, [listener]);
  }

  unlisten(messageId: string): void {
    this.#progress.delete(messageId);
  }

  /** Best effort: what became of the message is told by its own outcome. */
  cancel(messageId: string, reason: string | undefined): void {
    this.#connection.ask("task.cancel", { messageId, reason }).catch(() => {});
  }

  #prepare(envelope: CallEnvelope): Prepared {
    return prepare(envelope, this.#connection.options.platform.system.newId);
  }

  #send(call: PendingCall): void {
    const { error, rest, timeoutMs } = call.prepared;
    if (error) {
      call.failed(error);
      return;
    }
    if (!this.#connection.fits(rest)) {
      call.failed(tooLarge(this.#connection));
      return;
    }
    const nowMs = this.#connection.options.platform.system.monotonic();
    call.begin(nowMs);
    this.#connection.send(call, timeoutMs ?? sdkLimits.requestTimeoutMs, nowMs);
  }
}

export function tooLarge(connection: Connection): ErrorBody {
  const max = connection.hello?.limits.maxMessageBytes;
  return failure(
    "PAYLOAD_TOO_LARGE",
    `the message is over the limit${max ? ` of ${max} bytes` : ""}; send a reference instead`,
  );
}

class PendingCall extends Pending {
  readonly lives = "session";
  readonly method = "call";
  readonly prepared: Prepared;
  readonly #settle: (outcome: CallOutcome) => void;
  #text = "";
  #restAt = 0;
  #startedMs = 0;
  #late = false;

  constructor(prepared: Prepared, settle: (outcome: CallOutcome) => void) {
    super();
    this.prepared = prepared;
    this.#settle = settle;
  }

  begin(nowMs: number): void {
    this.#startedMs = nowMs;
  }

  /**
   * The rest of the envelope is kept inside the last frame, which is one flat text once it was written; as the many pieces
   * it is made of it would be copied by every garbage collection while the call is under way.
   */
  frame(): string {
    const { messageId, timeoutMs } = this.prepared;
    // At first all of it is left, which saves reading the clock once more.
    const leftMs = timeoutMs !== undefined && (this.sent || this.waited) ? this.#leftMs(timeoutMs) : timeoutMs;
    const left = leftMs === undefined ? "" : `,"timeoutMs":${leftMs}`;
    const head = `{"jsonrpc":"2.0","id":${this.id},"method":"call","params":{"messageId":"${messageId}"${left}`;
    const rest = this.#text === "" ? `${this.prepared.rest}}}` : this.#text.slice(this.#restAt);
    this.#restAt = head.length;
    this.#text = head + rest;
    this.prepared.rest = "";
    return this.#text;
  }

  answered(result: unknown): void {
    this.#settle(new CallOutcome(this.prepared.messageId, this.prepared.traceId, result as CallResult, undefined));
  }

  failed(error: ErrorBody): void {
    this.#settle(new CallOutcome(this.prepared.messageId, this.prepared.traceId, undefined, error));
  }

  /**
   * The deadline passed. The node answers an expired call itself, so with a connection its word is awaited a little longer;
   * without one, or when nothing comes, the caller gets an error that says what may be concluded.
   */
  override onDue(): void {
    const connection = this.connection!;
    const { timeoutMs } = this.prepared;
    if (connection.online && this.sent) {
      // No deadline of the caller's own: the node keeps one, and the probe finds a node that died.
      if (timeoutMs === undefined) {
        connection.wheel.set(this, sdkLimits.requestTimeoutMs);
        return;
      }
      if (!this.#late) {
        this.#late = true;
        connection.wheel.set(this, sdkLimits.callGraceMs);
        return;
      }
    }
    if (!connection.forget(this)) return;
    const outcome = this.sent ? "unknown" : "not_executed";
    const waitedMs = timeoutMs ?? sdkLimits.requestTimeoutMs;
    this.failed(
      connection.online
        ? failure("TIMEOUT", `no answer from ${connection.where} within ${waitedMs} ms`, { outcome })
        : failure("UNAVAILABLE", `no connection to ${connection.where} within ${waitedMs} ms; is the node running?`, {
            outcome,
          }),
    );
  }

  #leftMs(timeoutMs: number): number {
    const nowMs = this.connection!.options.platform.system.monotonic();
    return Math.max(1, Math.ceil(timeoutMs - (nowMs - this.#startedMs)));
  }
}
