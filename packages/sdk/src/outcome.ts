import type {
  CallResult,
  ErrorBody,
  ErrorCode,
  Outcome,
  ReachError,
  Receipt,
  Task,
  TaskState,
} from "@agent-reach/protocol";
import { toError } from "./failure.js";

/**
 * What became of a call: the data, or why there is none. Remote failures are values here (SDK-7);
 * `orThrow()` is for those who prefer exceptions.
 */
export class CallOutcome<T = unknown> {
  readonly messageId: string;
  readonly traceId: string;
  /** What the agent answered; undefined when it failed. */
  readonly data: T | undefined;
  /** Undefined when all went well. `AGENT_ERROR` is the agent's own no; its code and data are in `details`. */
  readonly errorCode: ErrorCode | undefined;
  readonly errorMessage: string | undefined;
  /** Whether sending it once more makes sense, and after how many milliseconds at the earliest. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** What may be concluded about side effects. */
  readonly outcome: Outcome;
  readonly path: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly agentId: string | undefined;
  readonly instanceId: string | undefined;
  readonly receipt: Receipt | undefined;
  /** True: a fallback answered, or stale knowledge was used. */
  readonly degraded: boolean;

  constructor(
    messageId: string,
    traceId: string,
    result: Partial<CallResult> | undefined,
    error: ErrorBody | undefined,
  ) {
    this.messageId = messageId;
    this.traceId = result?.traceId ?? traceId;
    this.data = result?.data as T | undefined;
    this.errorCode = error?.code;
    this.errorMessage = error?.message;
    this.retryable = error?.retryable === true;
    this.retryAfterMs = error?.retryAfterMs;
    this.outcome = error ? error.outcome : "executed";
    this.path = error?.path;
    this.details = error?.details;
    this.agentId = result?.agentId;
    this.instanceId = result?.instanceId;
    this.receipt = result?.receipt;
    this.degraded = result?.degraded === true;
  }

  get ok(): boolean {
    return this.errorCode === undefined;
  }

  /** The failure as an exception, or undefined. */
  toError(): ReachError | undefined {
    if (this.errorCode === undefined) return undefined;
    const { errorCode: code, errorMessage: message = "", retryable, outcome, retryAfterMs, path, details } = this;
    const body: ErrorBody = { code, message, retryable, outcome };
    if (retryAfterMs !== undefined) body.retryAfterMs = retryAfterMs;
    if (path !== undefined) body.path = path;
    if (details !== undefined) body.details = details;
    return toError(body);
  }

  /** The data, or throws the failure as a ReachError. */
  orThrow(): T {
    const error = this.toError();
    if (error) throw error;
    return this.data as T;
  }
}

/** The node's answer to `submit`: on disk, or why not. */
export class SubmitOutcome extends CallOutcome<undefined> {
  readonly state: TaskState | undefined;
  /** True: the same key was submitted before, and this is that task. */
  readonly duplicate: boolean;

  constructor(
    messageId: string,
    traceId: string,
    result: { messageId?: string; traceId?: string; state?: TaskState; duplicate?: boolean } | undefined,
    error: ErrorBody | undefined,
  ) {
    super(result?.messageId ?? messageId, result?.traceId ?? traceId, undefined, error);
    this.state = result?.state;
    this.duplicate = result?.duplicate === true;
  }
}

const endStates: readonly TaskState[] = ["completed", "failed", "canceled", "dead"];

/** Terminal for who waits: nothing more comes by itself. A stalled task waits for a person. */
export function isSettled(state: TaskState | undefined): boolean {
  return state !== undefined && endStates.includes(state);
}

/** A task as seen now. While it is not `done` there is neither data nor error: a wait that ended is no failure. */
export class TaskOutcome<T = unknown> extends CallOutcome<T> {
  readonly state: TaskState | undefined;
  readonly done: boolean;
  readonly task: Task | undefined;

  constructor(messageId: string, traceId: string, task: Task | undefined, error: ErrorBody | undefined) {
    const settled = isSettled(task?.state);
    super(
      messageId,
      traceId,
      task as Partial<CallResult> | undefined,
      error ?? (settled ? taskError(task as Task) : undefined),
    );
    this.state = task?.state;
    this.done = settled || error !== undefined;
    this.task = task;
  }

  override orThrow(): T {
    if (this.done) return super.orThrow();
    const message = `[TIMEOUT] task ${this.messageId} is still ${this.state}; it goes on, ask again later`;
    throw toError({ code: "TIMEOUT", message, retryable: true, outcome: "unknown" });
  }
}

function taskError(task: Task): ErrorBody | undefined {
  if (task.state === "completed") return undefined;
  if (task.error) return task.error as ErrorBody;
  const code: ErrorCode = task.state === "canceled" ? "CANCELED" : "INTERNAL";
  return {
    code,
    message: `[${code}] task ${task.messageId} ended as ${task.state}`,
    retryable: false,
    outcome: "unknown",
  };
}
