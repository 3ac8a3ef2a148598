import type { ErrorBody, JournalEvent, ReachError, SubmitEnvelope, SubmitResult, Task } from "@agent-reach/protocol";
import { type Calls, type ProgressListener, tooLarge } from "./calls.js";
import type { Connection } from "./connection.js";
import { type Prepared, prepare } from "./envelope.js";
import { Keyed } from "./keyed.js";
import { sdkLimits } from "./limits.js";
import { isSettled, SubmitOutcome, TaskOutcome } from "./outcome.js";
import { Pending } from "./pending.js";
import { Waiter } from "./wheel.js";

/** A task under way: durable, so that it goes on without this process too. */
export interface TaskHandle<T = unknown> {
  readonly messageId: string;
  readonly traceId: string;
  /** Resolves when the node has it on disk, or with the failure; never rejects. */
  readonly accepted: Promise<SubmitOutcome>;
  /** Waits until it is settled, or `waitMs` at most; then `done` is false, and the task goes on. Never rejects. */
  result(waitMs?: number): Promise<TaskOutcome<T>>;
  /** Called once, when the task is settled or was not accepted. */
  onResult(listener: (outcome: TaskOutcome<T>) => void): TaskHandle<T>;
  onProgress(listener: ProgressListener): TaskHandle<T>;
  /** The task as the node sees it now. Throws a ReachError. */
  status(): Promise<Task>;
  /** Throws a ReachError. */
  cancel(reason?: string): Promise<Task>;
  /** What happened to it, after the event id `after`. `gap`: older ones are no longer kept. Throws a ReachError. */
  events(after?: number): Promise<{ events: JournalEvent[]; gap?: unknown }>;
}

/** Tasks over one connection. */
export class Tasks {
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #followed = new Keyed<TaskState>();
  /** Told of every update, also of tasks that nobody here follows (results that outlived their submitter). */
  readonly listeners = new Set<(task: Task) => void>();

  constructor(connection: Connection, calls: Calls) {
    this.#connection = connection;
    this.#calls = calls;
    // An update sent while nobody was connected may have gone elsewhere: after a reconnect nobody waits for it, all ask.
    connection.listeners.add({
      ready: () => {
        for (const state of this.#followed.values()) state.askNow();
      },
    });
    connection.incoming.requests.set("task.update", (id, params) => {
      const task = params as unknown as Task;
      const followed = this.#followed.get(task.messageId);
      if (followed && isSettled(task.state)) followed.settle(task);
      connection.outgoing.respond(id, "{}");
      for (const listener of this.listeners) listener(task);
    });
  }

  submit<T>(envelope: SubmitEnvelope): TaskHandle<T> {
    const prepared = prepare(envelope, this.#connection.options.platform.system.newId);
    const state = new TaskState(prepared, this.#connection, () => {
      this.#followed.delete(prepared.messageId);
      this.#calls.unlisten(prepared.messageId);
    });
    this.#follow(prepared.messageId, state);
    const error = prepared.error ?? (this.#connection.fits(prepared.rest) ? undefined : tooLarge(this.#connection));
    const pending = new PendingSubmit(prepared, state);
    if (error) pending.failed(error);
    else this.#connection.send(pending, prepared.timeoutMs ?? sdkLimits.requestTimeoutMs);
    return this.#handle<T>(state);
  }

  /** Follows a task which another process submitted. */
  follow<T>(id: string): TaskHandle<T> {
    const messageId = id.toLowerCase();
    const prepared: Prepared = { messageId, traceId: "", timeoutMs: undefined, rest: "", error: undefined };
    const state = new TaskState(prepared, this.#connection, () => this.#followed.delete(messageId));
    this.#follow(messageId, state);
    state.accept(new SubmitOutcome(messageId, "", { duplicate: true }, undefined));
    return this.#handle<T>(state);
  }

  #follow(messageId: string, state: TaskState): void {
    this.#followed.set(messageId, state);
    if (this.#followed.size <= sdkLimits.followedMax) return;
    // The oldest is no longer told by the node's update; whoever waits for it still asks.
    for (const oldest of this.#followed.keys()) {
      this.#followed.delete(oldest);
      break;
    }
  }

  #handle<T>(state: TaskState): TaskHandle<T> {
    const connection = this.#connection;
    const messageId = () => state.messageId;
    const handle: TaskHandle<T> = {
      messageId: state.messageId,
      traceId: state.traceId,
      accepted: state.accepted,
      result: (waitMs) => state.result(waitMs) as Promise<TaskOutcome<T>>,
      onResult: (listener) => {
        void state.result(undefined).then((outcome) => listener(outcome as TaskOutcome<T>));
        return handle;
      },
      onProgress: (listener) => {
        this.#calls.listen(state.messageId, listener);
        return handle;
      },
      status: () => connection.ask("task.get", { messageId: messageId() }),
      cancel: (reason) => connection.ask("task.cancel", { messageId: messageId(), reason }),
      events: (after) => connection.ask("task.events", { messageId: messageId(), after }),
    };
    return handle;
  }
}

/** What one handle knows. The result comes by whichever is first: the node's `task.update`, or an answer to `task.result`. */
class TaskState {
  readonly accepted: Promise<SubmitOutcome>;
  messageId: string;
  readonly traceId: string;
  readonly #connection: Connection;
  readonly #onSettled: () => void;
  readonly #settled: Promise<TaskOutcome>;
  #pauses: Pause[] = [];
  #outcome: TaskOutcome | undefined;
  #resolveAccepted!: (outcome: SubmitOutcome) => void;
  #resolveSettled!: (outcome: TaskOutcome) => void;

  constructor(prepared: Prepared, connection: Connection, onSettled: () => void) {
    this.messageId = prepared.messageId;
    this.traceId = prepared.traceId;
    this.#connection = connection;
    this.#onSettled = onSettled;
    this.accepted = new Promise((resolve) => {
      this.#resolveAccepted = resolve;
    });
    this.#settled = new Promise((resolve) => {
      this.#resolveSettled = resolve;
    });
  }

  accept(outcome: SubmitOutcome): void {
    // A duplicate is the task submitted first, and that one bears another id.
    this.messageId = outcome.messageId;
    this.#resolveAccepted(outcome);
    const error = outcome.toError();
    if (error) this.#end(new TaskOutcome(this.messageId, this.traceId, undefined, error.toBody()));
  }

  settle(task: Task): void {
    this.#end(new TaskOutcome(this.messageId, this.traceId, task, undefined));
  }

  /** Whoever waits for the update no longer does. */
  askNow(): void {
    for (const pause of this.#pauses) {
      this.#connection.wheel.clear(pause);
      pause.onDue();
    }
  }

  /** Whoever waits keeps the process alive, also while the node owes no answer. */
  async result(waitMs: number | undefined): Promise<TaskOutcome> {
    const release = this.#connection.hold();
    try {
      return await this.#result(waitMs);
    } finally {
      release();
    }
  }

  /** The update is awaited for a while before the node is asked, so that most tasks cost no question. */
  async #result(waitMs: number | undefined): Promise<TaskOutcome> {
    const accepted = await this.accepted;
    const system = this.#connection.options.platform.system;
    const untilMs = waitMs === undefined ? Number.POSITIVE_INFINITY : system.monotonic() + waitMs;
    // The update of a duplicate goes to whoever submitted it first.
    let pauseMs: number = accepted.duplicate ? 0 : sdkLimits.taskUpdateMs;
    for (;;) {
      await this.#pause(Math.min(pauseMs, untilMs - system.monotonic()));
      if (this.#outcome) return this.#outcome;
      const leftMs = Math.max(untilMs - system.monotonic(), 0);
      const askMs = Math.ceil(Math.min(leftMs, sdkLimits.taskWaitMs));
      const seen = await Promise.race([this.#settled, this.#look(askMs)]);
      if (seen.done && !(seen.retryable && seen.state === undefined && leftMs > 0)) this.#end(seen);
      if (this.#outcome) return this.#outcome;
      if (askMs >= leftMs) return seen;
      pauseMs = seen.done ? (seen.retryAfterMs ?? sdkLimits.completeRetryMs) : 0;
    }
  }

  /** Waits for the time, or until the task is settled. */
  async #pause(ms: number): Promise<void> {
    if (ms <= 0 || this.#outcome) return;
    const { wheel } = this.#connection;
    const pause = new Pause();
    wheel.set(pause, ms);
    this.#pauses.push(pause);
    await Promise.race([pause.over, this.#settled]);
    this.#pauses = this.#pauses.filter((other) => other !== pause);
    wheel.clear(pause);
  }

  /** One look. What could not be asked is an outcome too; the caller decides whether to ask again. */
  async #look(waitMs: number): Promise<TaskOutcome> {
    const params = { messageId: this.messageId, waitMs };
    try {
      const task = await this.#connection.ask<Task>("task.result", params, waitMs + sdkLimits.requestTimeoutMs);
      return new TaskOutcome(this.messageId, this.traceId, task, undefined);
    } catch (error) {
      return new TaskOutcome(this.messageId, this.traceId, undefined, (error as ReachError).toBody());
    }
  }

  #end(outcome: TaskOutcome): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    this.#resolveSettled(outcome);
    this.#onSettled();
  }
}

/** A wait that the wheel ends, or somebody before it. */
export class Pause extends Waiter {
  readonly over: Promise<void>;
  #end!: () => void;

  constructor() {
    super();
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  onDue(): void {
    this.#end();
  }
}

class PendingSubmit extends Pending {
  readonly lives = "always";
  readonly method = "submit";
  readonly #prepared: Prepared;
  readonly #state: TaskState;

  constructor(prepared: Prepared, state: TaskState) {
    super();
    this.#prepared = prepared;
    this.#state = state;
  }

  frame(): string {
    const { messageId, timeoutMs, rest } = this.#prepared;
    const timeout = timeoutMs === undefined ? "" : `,"timeoutMs":${timeoutMs}`;
    return `{"jsonrpc":"2.0","id":${this.id},"method":"submit","params":{"messageId":"${messageId}"${timeout}${rest}}}`;
  }

  answered(result: unknown): void {
    this.#state.accept(
      new SubmitOutcome(this.#prepared.messageId, this.#prepared.traceId, result as SubmitResult, undefined),
    );
  }

  failed(error: ErrorBody): void {
    this.#state.accept(new SubmitOutcome(this.#prepared.messageId, this.#prepared.traceId, undefined, error));
  }
}
