import { ReachError } from "@agent-reach/protocol";
import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Admission } from "../router/admission.js";
import type { Breakers } from "../router/breakers.js";
import type { Wheel } from "../time/wheel.js";
import type { Commits } from "./commits.js";
import type { TaskRun } from "./run.js";
import type { Runs } from "./runs.js";
import { type DispatchSettings, STORE_RETRY_MS } from "./settings.js";

/** Back: work whose instance went, or gave it back (X3). */
export class Losses {
  private stopped = false;

  constructor(
    private readonly runs: Runs,
    private readonly commits: Commits,
    private readonly admission: Admission,
    private readonly breakers: Breakers,
    private readonly journal: Journal,
    private readonly wheel: Wheel,
    private readonly system: System,
    private readonly settings: DispatchSettings,
  ) {}

  stop(): void {
    this.stopped = true;
  }

  /** The link went: the instance has a moment to come back with the result before somebody else gets the work. */
  lost(run: TaskRun): void {
    if (run.offer === undefined || !this.runs.has(run)) return;
    this.journal.add(run.log, "lost", run.offer.instance, run.attempt);
    run.counted = true;
    this.breakers.lost(run.offer, run.sentAt, this.system.monotonic());
    this.wheel.set(run, this.system.monotonic() + this.settings.lostGraceMs);
  }

  handBack(run: TaskRun): void {
    this.runs.free(run);
    void this.commits.change(run, { type: "handedBack", attempt: run.attempt });
  }

  /** The one who had it is taken for lost; the task goes back to the line. */
  giveUp(run: TaskRun): void {
    void this.putBack(run);
  }

  private async putBack(run: TaskRun): Promise<void> {
    if (!this.runs.has(run)) return;
    this.wheel.clear(run);
    const { agentId, attempt, losses } = run.record;
    const error = new ReachError(
      "DELIVERY_TIMEOUT",
      `${agentId} was lost while it worked on the task (attempt ${attempt}), ${losses + 1} times by now; the task is in dead letters, requeue it with \`agent-reach dead requeue ${run.messageId}\`.`,
      { outcome: "unknown" },
    );
    const record = await this.commits.change(run, {
      type: "lost",
      attempt: run.attempt,
      counts: !run.recovered,
      lossesMax: this.settings.lossesMax,
      error: error.toBody(),
    });
    // Not before: a slot that comes free is taken by new work, which would overtake this one.
    this.runs.free(run);
    if (record === "unsaved" && !this.stopped) this.wheel.set(run, this.system.monotonic() + STORE_RETRY_MS);
  }

  /**
   * An instance has come (again): what its earlier runs had in their hands goes out again, before it gets anything new;
   * and so does what lost siblings had, if this one was never seen before and so may be their successor.
   */
  async arrived(instance: LiveInstance, siblings: Iterable<LiveInstance>): Promise<void> {
    const { instanceId, epoch } = instance.record;
    const lost = this.runs.of(instanceId).filter((run) => run.epoch < epoch);
    if (epoch === 1) {
      for (const sibling of siblings) {
        if (sibling === instance || sibling.link !== undefined) continue;
        lost.push(...this.runs.of(sibling.record.instanceId));
      }
    }
    if (lost.length > 0) await Promise.all(lost.map((run) => this.putBack(run)));
    this.admission.room(instance);
  }

  /** Its lease is over, or it said goodbye. */
  departed(instanceId: string): void {
    for (const run of this.runs.of(instanceId)) this.giveUp(run);
  }
}
