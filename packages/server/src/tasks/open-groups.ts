import type { GroupCount, TaskRecord } from "../ports/task-store.js";
import { isTerminal } from "./lifecycle.js";

/**
 * How many tasks of each group have not ended, so that it is known without a look when the last one has. Only groups with
 * open tasks stand here; it is told of every task that comes and of every change, after it is stored.
 */
export class OpenGroups {
  private readonly groups = new Map<string, number>();
  private onSettled: (last: TaskRecord) => void = () => {};

  get size(): number {
    return this.groups.size;
  }

  /** Hears once when all tasks of a group have ended, with the one that was the last. */
  listen(onSettled: (last: TaskRecord) => void): void {
    this.onSettled = onSettled;
  }

  /** What was open when the node stopped. */
  load(counts: readonly GroupCount[]): void {
    for (const { groupId, principal, byState } of counts) {
      const { queued, delivered, working, stalled } = byState;
      this.groups.set(keyOf(groupId, principal), queued + delivered + working + stalled);
    }
  }

  /** A new task, or one that goes back to the line. */
  opened({ groupId, principal }: TaskRecord): void {
    const key = keyOf(groupId!, principal);
    this.groups.set(key, (this.groups.get(key) ?? 0) + 1);
  }

  moved(before: TaskRecord, after: TaskRecord): void {
    const [ended, ends] = [isTerminal(before.state), isTerminal(after.state)];
    if (ended === ends) return;
    if (ended) return this.opened(after);
    const key = keyOf(after.groupId!, after.principal);
    const open = (this.groups.get(key) ?? 0) - 1;
    if (open > 0) return void this.groups.set(key, open);
    this.groups.delete(key);
    this.onSettled(after);
  }
}

function keyOf(groupId: string, principal: string): string {
  return JSON.stringify([principal, groupId]);
}
