import type {
  ErrorBody,
  Group,
  PublishEnvelope,
  Published,
  ReachError,
  SubmitEnvelope,
  SubmittedMany,
} from "@agent-reach/protocol";
import { tooLarge } from "./calls.js";
import type { Connection } from "./connection.js";
import { prepare } from "./envelope.js";
import { failure } from "./failure.js";
import { toJson } from "./json.js";
import { sdkLimits } from "./limits.js";
import { CallOutcome } from "./outcome.js";
import { Ask } from "./pending.js";
import { Pause } from "./tasks.js";

/** Tasks under one groupId: submitted together, or one for each agent that something was published to. */
export interface GroupHandle<T = unknown> {
  readonly groupId: string;
  /** Resolves when all of them are on disk, or with the failure, after which none is; never rejects. */
  readonly accepted: Promise<CallOutcome<T>>;
  /** How many are in each state. Throws a ReachError. */
  counts(): Promise<Group>;
  /** Resolves when all of them have ended, however they ended. Throws a ReachError if they were not accepted. */
  done(): Promise<Group>;
  /** Cancels what has not ended; answers how many that were. Throws a ReachError. */
  cancel(reason?: string): Promise<number>;
  /** Tries again what failed or is dead; answers how many those are. Throws a ReachError. */
  requeue(): Promise<number>;
}

/** Many tasks at once, over one connection. */
export class Groups {
  readonly #connection: Connection;
  /** Who waits for an end, by group. */
  readonly #waiting = new Map<string, Set<Pause>>();

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.incoming.notifications.set("group.update", ({ groupId }) => this.#wake(groupId as string));
    // What was told while nobody was connected is not told again. A question under way is repeated by itself.
    connection.listeners.add({
      ready: () => {
        for (const pauses of this.#waiting.values()) for (const pause of pauses) if (pause.dueTick >= 0) pause.onDue();
      },
    });
  }

  submit(envelopes: readonly SubmitEnvelope[], groupId = this.#newId()): GroupHandle<SubmittedMany> {
    let error: ErrorBody | undefined;
    const items = envelopes.map((envelope, at) => {
      const { messageId, timeoutMs, rest, error: wrong } = prepare(envelope, this.#newId);
      if (wrong) error ??= { ...wrong, path: `tasks[${at}]${wrong.path === undefined ? "" : `.${wrong.path}`}` };
      const timeout = timeoutMs === undefined ? "" : `,"timeoutMs":${timeoutMs}`;
      return `{"messageId":"${messageId}"${timeout}${rest}}`;
    });
    return this.#send("submit.many", groupId, `{"groupId":${JSON.stringify(groupId)},"tasks":[${items}]}`, error);
  }

  publish(envelope: PublishEnvelope): GroupHandle<Published> {
    // Named here, so that it can be repeated after a reconnect without being published twice.
    const { groupId: given, idempotencyKey, messageId } = envelope;
    const groupId = given ?? idempotencyKey ?? messageId?.toLowerCase() ?? this.#newId();
    const params = toJson({ ...envelope, groupId });
    if (typeof params === "string") return this.#send("publish", groupId, params, undefined);
    const { path, reason } = params;
    return this.#send("publish", groupId, "", failure("INVALID_INPUT", `${path} is ${reason}`, { path }));
  }

  /** A group that was submitted elsewhere. */
  follow(groupId: string): GroupHandle<undefined> {
    return this.#handle(groupId, Promise.resolve(new CallOutcome(groupId, "", undefined, undefined)));
  }

  #send<T>(method: string, groupId: string, params: string, wrong: ErrorBody | undefined): GroupHandle<T> {
    const accepted = new Promise<CallOutcome<T>>((resolve) => {
      const end = (data: T | undefined, error: ErrorBody | undefined) =>
        resolve(new CallOutcome<T>(groupId, "", { data }, error));
      const error = wrong ?? (this.#connection.fits(params) ? undefined : tooLarge(this.#connection));
      if (error) end(undefined, error);
      else
        this.#connection.send(
          new AskMany(
            method,
            params,
            (data: T) => end(data, undefined),
            (error) => end(undefined, error),
          ),
          sdkLimits.requestTimeoutMs,
        );
    });
    return this.#handle(groupId, accepted);
  }

  #handle<T>(groupId: string, accepted: Promise<CallOutcome<T>>): GroupHandle<T> {
    const connection = this.#connection;
    return {
      groupId,
      accepted,
      counts: () => connection.ask("group.get", { groupId }),
      done: async () => {
        const data = (await accepted).orThrow() as Partial<Published> | undefined;
        return data?.deliveries === 0 ? nobody(groupId) : this.#untilSettled(groupId);
      },
      cancel: async (reason) =>
        (await connection.ask<{ canceled: number }>("group.cancel", { groupId, reason })).canceled,
      requeue: async () => (await connection.ask<{ requeued: number }>("group.requeue", { groupId })).requeued,
    };
  }

  /** The node tells when a group has settled; it is asked as well, since that word may have gone to nobody. */
  async #untilSettled(groupId: string): Promise<Group> {
    const release = this.#connection.hold();
    try {
      for (;;) {
        // Before the question, so that nothing is missed that happens meanwhile.
        const pause = this.#pauseFor(groupId);
        let waitMs: number = sdkLimits.groupLookMs;
        try {
          const group = await this.#connection.ask<Group>("group.get", { groupId }).catch((error: ReachError) => {
            if (!error.retryable) throw error;
            waitMs = error.retryAfterMs ?? sdkLimits.completeRetryMs;
            return undefined;
          });
          if (group?.settled) return group;
          await this.#wait(pause, waitMs);
        } finally {
          this.#forget(groupId, pause);
        }
      }
    } finally {
      release();
    }
  }

  async #wait(pause: Pause, ms: number): Promise<void> {
    const { wheel } = this.#connection;
    wheel.set(pause, ms);
    await pause.over;
    wheel.clear(pause);
  }

  #pauseFor(groupId: string): Pause {
    const pause = new Pause();
    const pauses = this.#waiting.get(groupId) ?? new Set();
    pauses.add(pause);
    this.#waiting.set(groupId, pauses);
    return pause;
  }

  #forget(groupId: string, pause: Pause): void {
    const pauses = this.#waiting.get(groupId);
    pauses?.delete(pause);
    if (pauses?.size === 0) this.#waiting.delete(groupId);
  }

  #wake(groupId: string): void {
    for (const pause of this.#waiting.get(groupId) ?? []) pause.onDue();
  }

  readonly #newId = (): string => this.#connection.options.platform.system.newId();
}

/** Published to a topic without subscribers: all of nothing has ended. */
function nobody(groupId: string): Group {
  const counts = { queued: 0, delivered: 0, working: 0, completed: 0, failed: 0, canceled: 0, dead: 0, stalled: 0 };
  return { groupId, total: 0, settled: true, counts };
}

/** Its parameters are text already: many inputs need not be read and written once more. */
class AskMany extends Ask {
  readonly #params: string;

  constructor(
    method: string,
    params: string,
    onAnswer: (result: never) => void,
    onFailure: (error: ErrorBody) => void,
  ) {
    super(method, undefined, "always", onAnswer, onFailure);
    this.#params = params;
  }

  override frame(): string {
    return `{"jsonrpc":"2.0","id":${this.id},"method":"${this.method}","params":${this.#params}}`;
  }
}
