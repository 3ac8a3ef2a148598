import type { System } from "../ports/system.js";
import type { TaskRecord } from "../ports/task-store.js";

/** Who waits for which task to end. A task that nobody waits for is not here. */
export class Waiters {
  private readonly byTask = new Map<string, Set<(task: TaskRecord | undefined) => void>>();

  constructor(private readonly system: System) {}

  settled(task: TaskRecord): void {
    for (const end of this.byTask.get(task.messageId) ?? []) end(task);
  }

  /**
   * The task when it has ended, undefined after `waitMs`. `look` is asked once: it may have ended before the wait began. Where
   * that cannot be seen the wait is over, and whoever looks next is told why.
   */
  wait(
    messageId: string,
    waitMs: number,
    look: () => Promise<TaskRecord | undefined>,
  ): Promise<TaskRecord | undefined> {
    return new Promise((resolve) => {
      const waiting = this.byTask.get(messageId) ?? new Set();
      this.byTask.set(messageId, waiting);
      const end = (task: TaskRecord | undefined): void => {
        cancel();
        waiting.delete(end);
        if (waiting.size === 0 && this.byTask.get(messageId) === waiting) this.byTask.delete(messageId);
        resolve(task);
      };
      const cancel = this.system.after(waitMs, () => end(undefined));
      waiting.add(end);
      look().then(
        (ended) => ended !== undefined && end(ended),
        () => end(undefined),
      );
    });
  }
}
