/**
 * The life of a task, as a pure function.
 *
 *    submit            sent                  accepted              completed: ok
 *   ───────▶ queued ──────────────▶ delivered ─────────▶ working ─────────────────▶ completed
 *              ▲ ▲                      │                  │ │ └── business error ──▶ failed
 *              │ └─ no ack, refused ────┘                  │ └── overdue ──▶ stalled, queued or failed (as it asked)
 *              └───────── lost, handed back ───────────────┘
 *    queued ── attempts spent, expired, nobody can ──▶ dead ── requeue ──▶ queued       any open ── cancel ──▶ canceled
 *
 * T1  Terminal states (completed, failed, canceled, dead) change by nothing but an operator's requeue or discard.
 * T2  Every open task has `dueAt`, except one that is stalled for review.
 * T3  Attempt numbers rise and are never reused, also over a requeue.
 * T4  Acceptance, failure and refusal count only from the newest attempt; a success counts from any, while the task is open.
 *     One that is stalled ends when its agent says after all how it ended, and is queued again if it was never begun.
 * T5  Deliveries without an acknowledgement, losses of an instance, and losses of the node are counted apart: the first
 *     spend the retries, the second have their own limit, the third are free (DLV-4, DLV-8).
 * T6  What was meant to be delivered at most once is never sent again once its outcome is unknown (DLV-19).
 * T7  Work that comes back stands before new work: its `dueAt` is the moment it was created.
 */
import type { AgentErrorShape, ErrorBody, Receipt, TaskState } from "@agent-reach/protocol";
import { type AttemptRecord, OVERDUE, type TaskRecord } from "../ports/task-store.js";

export type TaskEvent =
  | { type: "sent"; agentId: string; instanceId: string; epoch: number; ackBy: number; standIn?: string }
  | { type: "accepted"; attempt: number; doneBy: number }
  | { type: "completed"; attempt: number; receipt: Receipt | undefined }
  | { type: "failed"; attempt: number; error: ErrorBody; agentError: AgentErrorShape; receipt: Receipt | undefined }
  /** A business error, for which somebody else is to be asked. */
  | { type: "passedOn"; attempt: number; agentError: AgentErrorShape }
  /** Not executed: back to the line, not before `at`. */
  | { type: "refused"; attempt: number; at: number | undefined }
  /** `retryAt` undefined: the retries are spent. */
  | {
      type: "unacknowledged";
      attempt: number;
      outcome: "no_ack" | "refused";
      retryAt: number | undefined;
      error: ErrorBody;
    }
  | { type: "lost"; attempt: number; counts: boolean; lossesMax: number; error: ErrorBody }
  | { type: "handedBack"; attempt: number }
  | { type: "overdue"; attempt: number; error: ErrorBody }
  | { type: "died"; error: ErrorBody }
  | { type: "canceled"; error: ErrorBody }
  /** It stays in line, this one or another, and is not looked at before `until`, wall ms. */
  | { type: "deferred"; until: number; lane?: string }
  | { type: "requeued"; deadlineAt: number }
  | { type: "discarded"; error: ErrorBody }
  | { type: "acknowledged" };

export type TaskOutcome =
  | { ok: true; task: TaskRecord }
  | { ok: false; reason: "SETTLED" | "STALE_ATTEMPT" | "NOT_NOW" };

/** Attempts described in the record; older ones are in the journal. */
const ATTEMPTS_KEPT = 50;

const terminal: ReadonlySet<TaskState> = new Set(["completed", "failed", "canceled", "dead"]);

export function isTerminal(state: TaskState): boolean {
  return terminal.has(state);
}

/** A copy of a task that is on its way to be the next record. Copied first and then changed, it keeps the record's shape. */
type Draft = { -readonly [Key in keyof TaskRecord]: TaskRecord[Key] };

/** `now` is wall ms. `lane` is where the task waits while it is queued. */
export function transition(task: TaskRecord, event: TaskEvent, now: number, lane: string): TaskOutcome {
  const ended = isTerminal(task.state);

  switch (event.type) {
    case "requeued": {
      if (!ended && task.state !== "stalled") return no("NOT_NOW");
      if (task.state === "completed") return no("SETTLED");
      const next = queued(task, lane, now);
      next.deadlineAt = event.deadlineAt;
      next.settledAt = undefined;
      next.error = undefined;
      next.receipt = undefined;
      next.deliveryFailures = 0;
      next.losses = 0;
      next.attempts = task.attempts.map((a, i) => asNew(a, i === task.attempts.length - 1));
      next.notify = false;
      return yes(next);
    }
    case "discarded": {
      if (!ended && task.state !== "stalled") return no("NOT_NOW");
      if (task.state === "completed") return no("SETTLED");
      const next = settled(task, "canceled", now, event.error);
      // Who was told of a dead letter need not hear of its end again; of one that lay for review nobody has heard.
      if (ended) next.notify = task.notify;
      return yes(next);
    }
    case "deferred":
      return task.state === "queued"
        ? yes({ ...task, dueAt: event.until, lane: event.lane ?? task.lane })
        : no("NOT_NOW");
    case "acknowledged":
      return task.notify ? yes({ ...task, notify: false }) : no("NOT_NOW");
    case "completed": {
      if (ended) return no("SETTLED");
      const known = task.attempts.find((a) => a.attempt === event.attempt);
      if (known === undefined) return no("STALE_ATTEMPT");
      const next = settled(task, "completed", now, undefined);
      next.receipt = event.receipt;
      next.agentId = known.agentId;
      next.instanceId = known.instanceId;
      next.attempts = ending(task, event.attempt, "completed", now);
      return yes(next);
    }
    case "canceled": {
      if (ended) return no("SETTLED");
      const next = settled(task, "canceled", now, event.error);
      next.attempts = ending(task, task.attempt, "canceled", now);
      return yes(next);
    }
    case "died":
      if (task.state !== "queued") return no(ended ? "SETTLED" : "NOT_NOW");
      // What an agent said no to stays failed, also if nobody could stand in.
      return yes(settled(task, event.error.code === "AGENT_ERROR" ? "failed" : "dead", now, event.error));
    case "sent": {
      if (task.state !== "queued") return no(ended ? "SETTLED" : "NOT_NOW");
      const { agentId, instanceId, epoch, standIn } = event;
      const attempt = task.attempt + 1;
      const sent: AttemptRecord = {
        attempt,
        agentId,
        instanceId,
        epoch,
        ...(standIn !== undefined && { standIn }),
        sentAt: now,
        outcome: "pending",
      };
      const next: Draft = { ...task };
      next.state = "delivered";
      next.lane = OVERDUE;
      next.dueAt = event.ackBy;
      next.attempt = attempt;
      next.agentId = agentId;
      next.instanceId = instanceId;
      next.attempts = attempt === 1 ? [sent] : [...task.attempts.slice(1 - ATTEMPTS_KEPT), sent];
      return yes(next);
    }
  }

  // What follows speaks of one attempt, and counts only from the newest (T4).
  if (ended) return no("SETTLED");
  if (event.attempt !== task.attempt) return no("STALE_ATTEMPT");
  const underway = task.state === "delivered" || task.state === "working";
  const saysAfterAll = task.state === "stalled" && (event.type === "failed" || event.type === "handedBack");
  if (!underway && !saysAfterAll) return no("NOT_NOW");
  const once = task.request.delivery === "atMostOnce";

  switch (event.type) {
    case "accepted": {
      if (task.state !== "delivered") return no("NOT_NOW");
      const attempts = task.attempts.map((a) => (a.attempt === event.attempt ? { ...a, acceptedAt: now } : a));
      return yes({ ...task, state: "working", dueAt: event.doneBy, attempts });
    }
    case "failed": {
      const attempts = ending(task, event.attempt, "failed", now, event.agentError);
      return yes({ ...settled(task, "failed", now, event.error), receipt: event.receipt, attempts });
    }
    case "passedOn": {
      const attempts = ending(task, event.attempt, "passed_on", now, event.agentError);
      return yes({ ...queued(task, lane, task.createdAt), attempts });
    }
    case "refused": {
      const attempts = ending(task, event.attempt, "refused", now);
      return yes({ ...queued(task, lane, event.at ?? task.createdAt), attempts });
    }
    case "handedBack": {
      const attempts = ending(task, event.attempt, "handed_back", now);
      return yes({ ...queued(task, lane, task.createdAt), attempts, error: undefined });
    }
    case "unacknowledged": {
      const attempts = ending(task, event.attempt, event.outcome, now);
      if (once && event.outcome === "no_ack") return yes({ ...stalled(task, event.error), attempts });
      const deliveryFailures = task.deliveryFailures + 1;
      const next =
        event.retryAt === undefined ? settled(task, "dead", now, event.error) : queued(task, lane, event.retryAt);
      return yes({ ...next, attempts, deliveryFailures });
    }
    case "lost": {
      const attempts = ending(task, event.attempt, "lost", now);
      if (once) return yes({ ...stalled(task, event.error), attempts });
      const losses = task.losses + (event.counts ? 1 : 0);
      const dead = losses > event.lossesMax;
      const next = dead ? settled(task, "dead", now, event.error) : queued(task, lane, task.createdAt);
      return yes({ ...next, attempts, losses });
    }
    case "overdue": {
      const attempts = ending(task, event.attempt, "stalled", now);
      const { onStalled } = task.request;
      if (once || onStalled === "review") return yes({ ...stalled(task, event.error), attempts });
      if (onStalled === "fail") return yes({ ...settled(task, "failed", now, event.error), attempts });
      return yes({
        ...queued(task, lane, task.createdAt),
        attempts,
        deliveryFailures: task.deliveryFailures + 1,
      });
    }
  }
}

function yes(task: TaskRecord): TaskOutcome {
  return { ok: true, task };
}

function no(reason: "SETTLED" | "STALE_ATTEMPT" | "NOT_NOW"): TaskOutcome {
  return { ok: false, reason };
}

function queued(task: TaskRecord, lane: string, dueAt: number): Draft {
  const next: Draft = { ...task };
  next.state = "queued";
  next.lane = lane;
  next.dueAt = dueAt;
  // In nobody's hands, and still for whom it is.
  next.agentId = task.request.target?.agentId;
  next.instanceId = task.request.target?.instanceId;
  return next;
}

function settled(task: TaskRecord, state: TaskState, now: number, error: ErrorBody | undefined): Draft {
  const next: Draft = { ...task };
  next.state = state;
  next.lane = OVERDUE;
  next.dueAt = undefined;
  next.settledAt = now;
  next.error = error;
  next.notify = task.request.sessionId !== undefined;
  return next;
}

function stalled(task: TaskRecord, error: ErrorBody): Draft {
  const next: Draft = { ...task };
  next.state = "stalled";
  next.lane = OVERDUE;
  next.dueAt = undefined;
  next.error = error;
  return next;
}

/** After these a task is over: whoever is asked next is asked since it was requeued. */
export const ENDS: ReadonlySet<AttemptRecord["outcome"]> = new Set(["completed", "failed", "canceled"]);

/**
 * An attempt as those before a requeue stand in the record: the last one says nothing of who is to be asked next. That somebody
 * stood in is kept, since his success may still come; what he was asked for has ended by the requeue then.
 */
function asNew(a: AttemptRecord, isLast: boolean): AttemptRecord {
  if (a.outcome === "passed_on") return { ...a, outcome: "failed" };
  return a.standIn === undefined || !isLast || ENDS.has(a.outcome) ? a : { ...a, outcome: "canceled" };
}

/** The attempts of a task, one of which ends now. */
function ending(
  { attempts }: TaskRecord,
  attempt: number,
  outcome: AttemptRecord["outcome"],
  now: number,
  error?: AgentErrorShape,
): AttemptRecord[] {
  return attempts.map((a) => {
    if (a.attempt !== attempt) return a;
    return error === undefined ? { ...a, endedAt: now, outcome } : { ...a, endedAt: now, outcome, error };
  });
}
