import type { Journal, MessageLog } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { NewTask, TaskRecord, TaskStore } from "../ports/task-store.js";
import { laneOf } from "../router/message.js";
import type { LaneBook } from "./lanes.js";
import { type TaskEvent, transition } from "./lifecycle.js";
import { OpenGroups } from "./open-groups.js";
import type { OrderedLanes } from "./ordered-lanes.js";
import type { TaskRun } from "./run.js";
import type { Runs } from "./runs.js";
import { STORE_RETRY_MS } from "./settings.js";

/** How often a change is tried again that others were quicker than. */
const TRIES_MAX = 20;
/** Events after which a task stands in the line again, and before new ones (T7). */
const RETURNS: ReadonlySet<TaskEvent["type"]> = new Set(["refused", "unacknowledged", "lost", "handedBack"]);

/** The one place where tasks change: decides what an event makes of a task, stores that, and does what follows from it. */
export class Commits {
  readonly counts = { delivered: 0, redelivered: 0, completed: 0, failed: 0, dead: 0, gaps: 0 };
  readonly groups = new OpenGroups();
  /** Tasks on their way back to the line: nothing new may overtake them (X3). */
  private returning = 0;
  private readonly settledListeners: ((task: TaskRecord) => void)[] = [];

  constructor(
    private readonly store: TaskStore,
    private readonly runs: Runs,
    private readonly lanes: LaneBook,
    private readonly orderedLanes: OrderedLanes,
    private readonly journal: Journal,
    private readonly system: System,
    private readonly onError: (error: unknown) => void,
  ) {}

  get anyReturning(): boolean {
    return this.returning > 0;
  }

  onSettled(listener: (task: TaskRecord) => void): void {
    this.settledListeners.push(listener);
  }

  logOf(task: NewTask): MessageLog {
    const known = this.journal.find(task.messageId);
    if (known !== undefined) return known;
    const log = this.journal.open(task.messageId, task.traceId, "task", task.capability, task.request.parentId);
    this.journal.keep(log);
    return log;
  }

  /** One change of a task in somebody's hands, after those before it. */
  change(run: TaskRun, event: TaskEvent, data?: string): Promise<TaskRecord | "unsaved" | undefined> {
    if (RETURNS.has(event.type)) this.returning++;
    const turn =
      run.turn === undefined ? this.step(run, event, data) : run.turn.then(() => this.step(run, event, data));
    run.turn = turn;
    return turn;
  }

  private async step(run: TaskRun, event: TaskEvent, data?: string): Promise<TaskRecord | "unsaved" | undefined> {
    const stored = await this.write(run.record, event, run.log, data);
    if (stored !== undefined && stored !== "unsaved") run.record = stored;
    if (RETURNS.has(event.type)) this.returning--;
    return stored;
  }

  /** Decides, saves, and does what follows from the new state. Undefined: the event did not fit, or was not saved in case of `sent`. */
  async write(
    task: TaskRecord,
    event: Extract<TaskEvent, { type: "sent" }>,
    log: MessageLog,
  ): Promise<TaskRecord | undefined>;
  async write(
    task: TaskRecord,
    event: TaskEvent,
    log: MessageLog,
    data?: string,
  ): Promise<TaskRecord | "unsaved" | undefined>;
  async write(
    task: TaskRecord,
    event: TaskEvent,
    log: MessageLog,
    data?: string,
  ): Promise<TaskRecord | "unsaved" | undefined> {
    for (let current: TaskRecord | undefined = task, tries = 0; current !== undefined && tries < TRIES_MAX; tries++) {
      const next = transition(current, event, this.system.now(), laneOf(current.capability, current.request));
      if (!next.ok) {
        if (event.type === "completed" || event.type === "failed")
          this.journal.add(log, "late", undefined, event.attempt, { reason: next.reason });
        this.store.release([task.messageId]);
        return undefined;
      }
      try {
        const stored = await this.store.update(next.task, data);
        if (stored !== undefined) {
          this.follow(stored, event, log, current);
          return stored;
        }
        // Another change was quicker, or somebody else goes first in its order: whoever has it next decides anew.
        if (event.type === "sent") {
          this.store.release([task.messageId]);
          return undefined;
        }
      } catch (error) {
        this.onError(error);
        this.store.release([task.messageId]);
        this.lanes.later(laneOf(task.capability, task.request), task.capability, STORE_RETRY_MS);
        return event.type === "sent" ? undefined : "unsaved";
      }
      current = await this.store.get(task.messageId);
    }
    return undefined;
  }

  private follow(task: TaskRecord, event: TaskEvent, log: MessageLog, before: TaskRecord): void {
    if (task.groupId !== undefined) this.groups.moved(before, task);
    if (event.type === "sent" || event.type === "acknowledged") return;
    const run = this.runs.get(task.messageId);
    if (run !== undefined) this.leave(run, task, event);
    this.note(task, event, log, run);
    if (task.state === "queued") {
      // An operator may have put it back behind others.
      if (task.orderKey !== undefined) this.orderedLanes.add(task.lane, task.capability);
      this.lanes.waits(task.lane, task.capability, task.dueAt ?? 0);
    }
    if (task.settledAt !== undefined) this.settled(task);
  }

  /** What it means for the one who has the task in hand. */
  private leave(run: TaskRun, task: TaskRecord, event: TaskEvent): void {
    const isOver = task.state === "completed" || task.state === "canceled";
    if (isOver && "attempt" in event && event.attempt !== run.attempt)
      this.runs.withdraw(run, "an earlier attempt succeeded");
    else if (task.state !== "working") this.runs.remove(run);
  }

  private note(task: TaskRecord, event: TaskEvent, log: MessageLog, run: TaskRun | undefined): void {
    // Whoever put it off has said why.
    if (event.type === "deferred") return;
    const instance = run?.offer?.instance;
    if (task.state === "queued") {
      const type = event.type === "lost" || event.type === "requeued" ? event.type : "requeue";
      this.journal.add(log, type, instance, task.attempt, { dueAt: new Date(task.dueAt ?? 0).toISOString() });
    } else {
      const type = event.type === "accepted" ? "accepted" : task.state;
      const { error } = task;
      this.journal.add(log, type, instance, task.attempt, error && { code: error.code, message: error.message });
    }
  }

  private settled(task: TaskRecord): void {
    if (task.state === "completed") this.counts.completed++;
    else if (task.state === "failed") this.counts.failed++;
    else if (task.state === "dead") this.counts.dead++;
    // The next in its order may wait in any lane.
    if (task.orderKey !== undefined)
      for (const { name, capability } of this.orderedLanes.all()) this.lanes.ready(name, capability);
    for (const listener of this.settledListeners) listener(task);
  }
}
