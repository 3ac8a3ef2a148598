import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { TaskRecord, TaskStore } from "../ports/task-store.js";
import type { Commits } from "./commits.js";
import { type DispatchSettings, STORE_RETRY_MS } from "./settings.js";

/** Numbers that are missing before one, both included. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/**
 * What is missing between the last number that ended and the next one to go. The first number of an order may be any: nobody
 * knows where a sender begins to count.
 */
export function gapBefore(sequence: number, lastEnded: number | undefined): Gap | undefined {
  if (lastEnded === undefined || sequence <= lastEnded + 1) return undefined;
  return { from: lastEnded + 1, to: sequence - 1 };
}

/**
 * In an order whose tasks have numbers: waits for those that are missing, and reports them when they have not come (DLV-10).
 *
 * G1  A task whose number does not follow the last one that ended waits until `gapTimeoutMs` after it was submitted.
 * G2  It goes as soon as what was missing has ended, and otherwise when the time is up; then its timeline says what is missing.
 * G3  Only a task that has ended moves the order on: one that is merely under way may yet come back.
 */
export class Gaps {
  /** Put off, by orderKey: the messageId of the first in the order, which alone can be. */
  private readonly held = new Map<string, string>();

  constructor(
    private readonly store: TaskStore,
    private readonly commits: Commits,
    private readonly journal: Journal,
    private readonly system: System,
    private readonly settings: DispatchSettings,
    private readonly onError: (error: unknown) => void,
  ) {
    commits.onSettled((task) => this.ended(task));
  }

  get size(): number {
    return this.held.size;
  }

  /** Whether a task that was claimed has to wait. If so it has been put off. */
  async holds(task: TaskRecord): Promise<boolean> {
    const { orderKey, attempt } = task;
    const { sequence } = task.request;
    // Of one that was sent before, all this has been said.
    if (orderKey === undefined || sequence === undefined || attempt > 0) return false;
    let last: number | undefined;
    try {
      last = await this.store.lastEnded(orderKey);
    } catch (error) {
      this.onError(error);
      this.system.after(STORE_RETRY_MS, () => this.store.release([task.messageId]));
      return true;
    }
    const log = this.commits.logOf(task);
    const missing = gapBefore(sequence, last);
    const until = task.createdAt + this.settings.gapTimeoutMs;
    if (missing === undefined || until <= this.system.now()) {
      if (this.held.get(orderKey) === task.messageId) this.held.delete(orderKey);
      if (missing !== undefined) {
        this.commits.counts.gaps++;
        this.journal.add(log, "gap", undefined, 0, { missing });
      }
      return false;
    }
    if (!this.held.has(orderKey)) {
      this.journal.add(log, "waiting", undefined, 0, { missing, until: new Date(until).toISOString() });
    }
    this.held.set(orderKey, task.messageId);
    await this.commits.write(task, { type: "deferred", until }, log);
    return true;
  }

  /** Looks again at the one that waits. */
  private ended({ orderKey, messageId }: TaskRecord): void {
    const held = orderKey === undefined ? undefined : this.held.get(orderKey);
    if (orderKey === undefined || held === undefined) return;
    this.held.delete(orderKey);
    if (held !== messageId) void this.resume(held).catch(this.onError);
  }

  private async resume(messageId: string): Promise<void> {
    const task = await this.store.get(messageId);
    if (task === undefined) return;
    await this.commits.write(task, { type: "deferred", until: this.system.now() }, this.commits.logOf(task));
  }
}
