import { ReachError, type SubmitResult } from "@agent-reach/protocol";
import type { Caller } from "../access/access.js";
import type { NewTask, TaskStore } from "../ports/task-store.js";
import type { Admission } from "../router/admission.js";
import type { MessageRequest } from "../router/message.js";
import { nodeStops } from "../router/refusals.js";
import type { Dispatcher } from "./dispatcher.js";
import { otherThan } from "./new-task.js";
import { assertConfirmed, takenBefore } from "./taken-before.js";
import type { Tasks } from "./tasks.js";

export interface BatchSettings {
  tasksPerRequestMax: number;
}

/** Puts into an error which of many it is about. */
export type Locate = (error: ReachError, at: number) => ReachError;

/**
 * Many tasks in one commit: all of them are on disk when it is answered, or none is (DLV-21). A key that was used before
 * for the same counts as taken, as it does for one task.
 */
export class Batches {
  constructor(
    private readonly store: TaskStore,
    private readonly tasks: Tasks,
    private readonly dispatcher: Dispatcher,
    private readonly admission: Admission,
    private readonly settings: BatchSettings,
  ) {}

  /** In the order of the requests. `takesNew`: false while the node drains. */
  async submit(
    caller: Caller,
    requests: readonly MessageRequest[],
    locate: Locate,
    takesNew = true,
  ): Promise<SubmitResult[]> {
    this.assertFits(requests.length, "tasks");
    try {
      if (!takesNew) throw nodeStops("not_executed");
      return await this.take(caller, requests, locate);
    } catch (refusal) {
      const known = await takenBefore(refusal, this.store, requests);
      return known.map(({ messageId, traceId, state }) => ({ messageId, traceId, state, duplicate: true }));
    }
  }

  private async take(caller: Caller, requests: readonly MessageRequest[], locate: Locate): Promise<SubmitResult[]> {
    const advised = requests.map((request) => this.tasks.advised(request) ?? request);
    const waits = advised.some((each) => each instanceof Promise);
    const fresh = this.prepare(caller, waits ? await Promise.all(advised) : requests, locate);
    const result = await this.store.insertAll(fresh, (stored, given) => otherThan(stored, given, caller) === undefined);
    if (!result.ok) throw locate(otherThan(result.stored, fresh[result.at]!, caller)!, result.at);
    const { inserted } = result;
    // All are known before the first goes out, so the group is not taken for settled in between.
    for (const { task, duplicate } of inserted) if (!duplicate) this.tasks.taken(task);
    for (const { task, duplicate } of inserted) if (!duplicate) this.dispatcher.enqueued(task);
    return Promise.all(
      inserted.map(async ({ task, duplicate }) => {
        const { messageId, traceId } = task;
        // One that cannot be put back now stays as it is: to refuse all for it would say that none of them is taken.
        const again = duplicate ? await this.tasks.takenAgain(task).catch(assertConfirmed) : undefined;
        return { messageId, traceId, state: (again ?? task).state, duplicate: duplicate && again === undefined };
      }),
    );
  }

  private prepare(caller: Caller, requests: readonly MessageRequest[], locate: Locate): NewTask[] {
    const counts = new Map<string, number>();
    const fresh = requests.map((request, at) => {
      try {
        const resolved = this.tasks.resolve(request);
        counts.set(resolved.name, (counts.get(resolved.name) ?? 0) + 1);
        return this.tasks.newTask(request, resolved);
      } catch (error) {
        throw error instanceof ReachError ? locate(error, at) : error;
      }
    });
    const tooOften = this.admission.tooMany(caller, counts);
    if (tooOften !== undefined) throw tooOften;
    return fresh;
  }

  /** One commit holds the event loop for as long as it takes, so it may not be of any length. */
  assertFits(count: number, path?: string): void {
    const { tasksPerRequestMax } = this.settings;
    if (count <= tasksPerRequestMax) return;
    throw new ReachError(
      "INVALID_REQUEST",
      `this makes ${count} tasks, and one request makes at most ${tasksPerRequestMax}; submit them in several requests under one groupId, or raise limits.tasksPerRequestMax.`,
      { ...(path !== undefined && { path }), details: { tasks: count, tasksPerRequestMax } },
    );
  }
}

/** The same error, said of one of many. */
export function errorOf(part: string, error: ReachError, path = error.path): ReachError {
  const body = error.toBody();
  const message = `${part}: ${body.message.replace(`[${body.code}] `, "")}`;
  return ReachError.fromBody({ ...body, message, ...(path !== undefined && { path }) });
}

/** The same for one item of the list `tasks`, as in `tasks[3].capability`. */
export function errorOfItem(error: ReachError, at: number): ReachError {
  const item = `tasks[${at}]`;
  const { code, path } = error;
  if (path === undefined || path === "params") return errorOf(item, error, item);
  // The path of an input begins within the input.
  const inside = code === "INVALID_INPUT" ? `input${path === "" || path.startsWith("[") ? "" : "."}${path}` : path;
  return errorOf(item, error, `${item}.${inside}`);
}
