import { ReachError } from "@agent-reach/protocol";
import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import { OVERDUE, type TaskRecord, type TaskStore } from "../ports/task-store.js";
import type { Breakers } from "../router/breakers.js";
import { STOOD_STILL_MS } from "../time/stand-still.js";
import type { Commits } from "./commits.js";
import type { TaskEvent } from "./lifecycle.js";
import type { Losses } from "./losses.js";
import type { TaskRun } from "./run.js";
import type { Runs } from "./runs.js";
import { CLAIM_MAX, type DispatchSettings, STORE_RETRY_MS } from "./settings.js";
import { unacknowledged } from "./unacknowledged.js";

const LOOK_EVERY_MS = 200;

/**
 * Late: looks for what nobody spoke of in time, and says what becomes of it. Not when the node itself stood still: what was
 * said meanwhile is read before the next look.
 */
export class Overdue {
  private stopLooking: (() => void) | undefined;
  private stopped = false;

  constructor(
    private readonly store: TaskStore,
    private readonly runs: Runs,
    private readonly commits: Commits,
    private readonly losses: Losses,
    private readonly breakers: Breakers,
    private readonly journal: Journal,
    private readonly system: System,
    private readonly settings: DispatchSettings,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    const lookAt = this.system.monotonic() + LOOK_EVERY_MS;
    this.stopLooking = this.system.after(LOOK_EVERY_MS, () => {
      const stoodStill = this.system.monotonic() - lookAt >= STOOD_STILL_MS;
      (stoodStill ? Promise.resolve() : this.look()).catch(this.onError).finally(() => {
        if (!this.stopped) this.start();
      });
    });
  }

  stop(): void {
    this.stopped = true;
    this.stopLooking?.();
  }

  private async look(): Promise<void> {
    for (;;) {
      const { tasks } = await this.store.claimDue({ lane: OVERDUE, now: this.system.now(), limit: CLAIM_MAX });
      for (const task of tasks) if (!this.judge(task)) this.lookAgainLater(task.messageId);
      if (tasks.length < CLAIM_MAX || this.stopped) return;
    }
  }

  /** It stays claimed until then, so that it does not stand in the way of the others. */
  private lookAgainLater(messageId: string): void {
    const patience = (this.runs.get(messageId)?.patienceUntil ?? 0) - this.system.monotonic();
    const waitMs = Number.isFinite(patience) ? Math.max(patience, LOOK_EVERY_MS) : STORE_RETRY_MS;
    this.system.after(waitMs, () => this.store.release([messageId]));
  }

  /** Something had to be heard of this task by now. False: not yet, after all. */
  private judge(task: TaskRecord): boolean {
    const log = this.commits.logOf(task);
    if (task.state === "queued") {
      const error = new ReachError(
        "UNAVAILABLE",
        `nobody was able to take the task before its deadline; it is in dead letters, requeue it with \`agent-reach dead requeue ${task.messageId}\`.`,
        { details: { capability: task.capability } },
      );
      void this.commits.write(task, { type: "died", error: error.toBody() }, log);
      return true;
    }
    const run = this.runs.get(task.messageId);
    if (run !== undefined && run.patienceUntil > this.system.monotonic()) return false;
    if (run?.acknowledged && task.state === "delivered") return false;
    if (run?.recovered === true && task.state === "delivered") {
      this.losses.giveUp(run);
      return true;
    }
    const event =
      task.state === "delivered" ? unacknowledged(task, this.settings.backoffMs, this.system) : this.stalled(task);
    const instance = run?.offer?.instance;
    if (run !== undefined) {
      this.runs.free(run);
      this.count(run, task);
    }
    this.journal.add(log, task.state === "delivered" ? "unacknowledged" : "overdue", instance, task.attempt);
    void this.commits.write(task, event, log);
    return true;
  }

  private count(run: TaskRun, { state, request }: TaskRecord): void {
    const { offer, sentAt } = run;
    if (offer === undefined || run.counted) return;
    const late = state === "delivered";
    const code = late ? "DELIVERY_TIMEOUT" : "TIMEOUT";
    const hasty = !late || request.ackTimeoutMs !== undefined;
    run.counted = this.breakers.overdue({ offer, sentAt }, code, this.system.monotonic(), hasty);
  }

  private stalled(task: TaskRecord): TaskEvent {
    const error = new ReachError(
      "TIMEOUT",
      `${task.agentId} took the task and gave no receipt within ${task.request.completionTimeoutMs} ms; look at it with \`agent-reach task ${task.messageId}\`.`,
      { outcome: "unknown" },
    );
    return { type: "overdue", attempt: task.attempt, error: error.toBody() };
  }
}
