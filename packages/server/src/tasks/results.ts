import type { AgentErrorShape, Receipt } from "@agent-reach/protocol";
import type { Journal } from "../journal/journal.js";
import type { Expiry } from "../ports/delivery.js";
import type { System } from "../ports/system.js";
import type { TaskRecord } from "../ports/task-store.js";
import type { Admission } from "../router/admission.js";
import type { Breakers } from "../router/breakers.js";
import { agentError, refusal } from "../router/refusals.js";
import type { Commits } from "./commits.js";
import type { TaskEvent } from "./lifecycle.js";
import type { TaskRun } from "./run.js";
import type { Runs } from "./runs.js";
import { type DispatchSettings, STORE_RETRY_MS } from "./settings.js";
import { hasStandIn } from "./stand-ins.js";
import { nextTryAt, unacknowledged } from "./unacknowledged.js";

/** How long an instance whose link is full is left alone. */
const BACKPRESSURE_MS = 100;

/** A result, however it came. */
export interface Result {
  data?: string;
  error?: AgentErrorShape;
  receipt: Receipt | undefined;
}

export function resultEvent(task: TaskRecord, attempt: number, result: Result): TaskEvent {
  if (result.error === undefined) return { type: "completed", attempt, receipt: result.receipt };
  const { code } = result.error;
  // One that lies for review may have been done by somebody already.
  const open = task.state !== "stalled";
  if (open && code !== undefined && task.request.fallbackOn?.includes(code) === true && hasStandIn(task))
    return { type: "passedOn", attempt, agentError: result.error };
  const agentId = task.attempts.find((a) => a.attempt === attempt)?.agentId ?? "the agent";
  return {
    type: "failed",
    attempt,
    error: agentError(task.capability, agentId, result.error).toBody(),
    agentError: result.error,
    receipt: result.receipt,
  };
}

/** In: what instances say of the tasks in their hands. */
export class Results {
  private stopped = false;

  constructor(
    private readonly runs: Runs,
    private readonly commits: Commits,
    private readonly admission: Admission,
    private readonly breakers: Breakers,
    private readonly journal: Journal,
    private readonly system: System,
    private readonly settings: DispatchSettings,
  ) {}

  stop(): void {
    this.stopped = true;
  }

  pulled(run: TaskRun): void {
    run.begunAt = this.system.monotonic();
    run.patienceUntil = run.begunAt + this.settings.slowAckTimeoutMs;
  }

  accepted(run: TaskRun): void {
    run.acknowledged = true;
    run.begunAt = this.system.monotonic();
    run.patienceUntil = run.begunAt + run.record.request.completionTimeoutMs;
    if (run.holdsSlot) run.offer?.instance.held.add(run);
    void this.noteAccepted(run);
  }

  /** Without it on disk nobody would ever miss the receipt, so a store that refuses is asked again. */
  private async noteAccepted(run: TaskRun): Promise<void> {
    const doneBy = this.system.now() + run.record.request.completionTimeoutMs;
    if ((await this.commits.change(run, { type: "accepted", attempt: run.attempt, doneBy })) !== "unsaved") return;
    this.system.after(STORE_RETRY_MS, () => {
      if (!this.stopped && this.runs.has(run)) void this.noteAccepted(run);
    });
  }

  /** Resolves when the result is on disk, and not before: the agent takes what follows for an acknowledgement (DLV-11). */
  answered(run: TaskRun, result: Result): Promise<void> {
    this.runs.free(run);
    this.heard(run, result);
    return this.save(run, result);
  }

  /** Its instance has done with it, over whatever way it says so. */
  heard(run: TaskRun, result: Result): void {
    const { offer, sentAt } = run;
    // An agent that was told to stop says so by an error, which says nothing of how it is.
    const isStopped = result.error !== undefined && !this.runs.has(run);
    if (offer === undefined || run.counted || isStopped) return;
    run.counted = true;
    this.breakers.succeeded(offer, sentAt, this.system.monotonic());
  }

  /** While the store refuses, the result is kept here and tried again; the agent, which nobody answers, keeps it as well. */
  private async save(run: TaskRun, result: Result): Promise<void> {
    while ((await this.commits.change(run, resultEvent(run.record, run.attempt, result), result.data)) === "unsaved") {
      // A node that stops lets the promise lie: resolving it would say that the result is safe.
      await new Promise<void>((again) => this.system.after(STORE_RETRY_MS, () => (this.stopped ? undefined : again())));
    }
  }

  /** Not executed. An agent that is overloaded or leaving is left alone for a while; any other refusal spends a retry. */
  refused(run: TaskRun, code: string, message: string, retryAfterMs: number | undefined, expiry?: Expiry): void {
    const instance = run.offer?.instance;
    this.runs.free(run);
    this.journal.add(run.log, "refused", instance, run.attempt, { code, reason: message });
    if (run.offer !== undefined) this.breakers.refused(run.offer, run.sentAt, code, retryAfterMs);
    if (code === "OVERLOADED" || code === "DRAINING" || retryAfterMs !== undefined) {
      if (instance !== undefined) this.admission.rest(instance, retryAfterMs ?? STORE_RETRY_MS);
      void this.commits.change(run, { type: "refused", attempt: run.attempt, at: undefined });
      return;
    }
    const at = nextTryAt(run.record, this.settings.backoffMs, this.system);
    const error = refusal(run.record.agentId ?? "the agent", code, message, undefined, expiry);
    void this.commits.change(run, {
      type: "unacknowledged",
      attempt: run.attempt,
      outcome: "refused",
      retryAt: at,
      error: error.toBody(),
    });
  }

  /** Its request had its time: nobody will acknowledge it any more, and whether it was executed is unknown (RES-10). */
  expired(run: TaskRun, expiry: Expiry): void {
    const { offer, sentAt } = run;
    if (offer === undefined || !this.runs.has(run)) return;
    this.journal.add(run.log, "unacknowledged", offer.instance, run.attempt, expiry);
    this.runs.free(run);
    if (!run.counted && expiry.phase === "total")
      this.breakers.overdue({ offer, sentAt }, "DELIVERY_TIMEOUT", this.system.monotonic(), true);
    else if (!run.counted) this.breakers.lost(offer, sentAt, this.system.monotonic());
    run.counted = true;
    void this.commits.change(run, unacknowledged(run.record, this.settings.backoffMs, this.system, expiry));
  }

  /** The link could not take it: nothing was sent, so nothing is counted. */
  bounced(run: TaskRun): void {
    const instance = run.offer!.instance;
    this.runs.free(run);
    if (instance.link !== undefined) this.admission.rest(instance, BACKPRESSURE_MS);
    void this.commits.change(run, { type: "refused", attempt: run.attempt, at: undefined });
  }
}
