import { HashTable } from "../collections/hash-table.js";
import type { Admission } from "../router/admission.js";
import type { Breakers } from "../router/breakers.js";
import type { Wheel } from "../time/wheel.js";
import type { TaskRun } from "./run.js";

/** Tasks in somebody's hands, by message and by instance, and the slots that they hold there. */
export class Runs {
  private readonly byMessage = new HashTable<string, TaskRun>();
  private readonly byInstance = new Map<string, HashTable<string, TaskRun>>();

  constructor(
    private readonly admission: Admission,
    private readonly wheel: Wheel,
    private readonly breakers: Breakers,
  ) {}

  get(messageId: string): TaskRun | undefined {
    return this.byMessage.get(messageId);
  }

  /** Whether it is still this run that has the task, and not a later one. */
  has(run: TaskRun): boolean {
    return this.byMessage.get(run.messageId) === run;
  }

  /** What the instance has in its hands now. */
  of(instanceId: string): TaskRun[] {
    return this.byInstance.get(instanceId)?.all() ?? [];
  }

  add(run: TaskRun): void {
    this.byMessage.set(run.messageId, run);
    let runs = this.byInstance.get(run.instanceId);
    if (runs === undefined) {
      runs = new HashTable();
      this.byInstance.set(run.instanceId, runs);
    }
    runs.set(run.messageId, run);
  }

  remove(run: TaskRun): void {
    this.free(run);
    this.wheel.clear(run);
    if (this.has(run)) this.byMessage.delete(run.messageId);
    const runs = this.byInstance.get(run.instanceId);
    if (runs?.get(run.messageId) === run) runs.delete(run.messageId);
    if (runs?.size === 0) this.byInstance.delete(run.instanceId);
  }

  /** Its slot may be taken by something else. */
  free(run: TaskRun): void {
    if (!run.holdsSlot) return;
    run.holdsSlot = false;
    this.breakers.over(run.offer!, run.sentAt);
    run.offer!.instance.held.delete(run);
    this.admission.give(run.offer!.instance);
  }

  /** Tells whoever works on it that nobody waits any longer. */
  withdraw(run: TaskRun, reason: string): void {
    this.remove(run);
    run.offer?.instance.link?.cancel(run.messageId, run.attempt, reason);
  }

  stop(): void {
    for (const run of this.byMessage.all()) this.wheel.clear(run);
  }
}
