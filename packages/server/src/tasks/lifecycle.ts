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
 * T5  Deliveries without an acknowledgement, losses of an instance, and losses of the node are counted apart: the first
 *     spend the retries, the second have their own limit, the third are free (DLV-4, DLV-8).
 * T6  What was meant to be delivered at most once is never sent again once its outcome is unknown (DLV-19).
 * T7  Work that comes back stands before new work: its `dueAt` is the moment it was created.
 */
import type { AgentErrorShape, ErrorBody, Receipt, TaskState } from "@agent-reach/protocol";
import { type AttemptRecord, OVERDUE, type TaskRecord } from "../ports/task-store.js";

export type TaskEvent =
  | { type: "sent"; agentId: string; instanceId: string; epoch: number; ackBy: number }
  | { type: "accepted"; attempt: number; doneBy: number }
  | { type: "completed"; attempt: number; receipt: Receipt | undefined }
  | { type: "failed"; attempt: number; error: ErrorBody; agentError: AgentErrorShape; receipt: Receipt | undefined }
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

/** `now` is wall ms. `lane` is where the task waits while it is queued. */
export function transition(task: TaskRecord, event: TaskEvent, now: number, lane: string): TaskOutcome {
  const ended = isTerminal(task.state);
  const queued = (dueAt: number): Partial<TaskRecord> => ({
    state: "queued",
    lane,
    dueAt,
    agentId: undefined,
    instanceId: undefined,
  });
  const settled = (state: TaskState, extra: Partial<TaskRecord>): Partial<TaskRecord> => ({
    state,
    lane: OVERDUE,
    dueAt: undefined,
    settledAt: now,
    notify: task.request.sessionId !== undefined,
    ...extra,
  });
  const stalled = (error: ErrorBody): Partial<TaskRecord> => ({
    state: "stalled",
    lane: OVERDUE,
    dueAt: undefined,
    error,
  });
  // Copied first and then changed, which keeps the record's shape and takes a third of the time of one long literal.
  const next = (changes: Partial<TaskRecord>): TaskOutcome => ({ ok: true, task: Object.assign({ ...task }, changes) });
  const no = (reason: "SETTLED" | "STALE_ATTEMPT" | "NOT_NOW"): TaskOutcome => ({ ok: false, reason });
  const ends = (attempt: number, outcome: AttemptRecord["outcome"], error?: AgentErrorShape) =>
    task.attempts.map((a) => (a.attempt === attempt ? { ...a, endedAt: now, outcome, ...(error && { error }) } : a));
  const underway = task.state === "delivered" || task.state === "working";

  switch (event.type) {
    case "requeued":
      if (!ended && task.state !== "stalled") return no("NOT_NOW");
      if (task.state === "completed") return no("SETTLED");
      return next({
        ...queued(now),
        deadlineAt: event.deadlineAt,
        settledAt: undefined,
        error: undefined,
        receipt: undefined,
        deliveryFailures: 0,
        losses: 0,
        notify: false,
      });
    case "discarded":
      if (!ended && task.state !== "stalled") return no("NOT_NOW");
      if (task.state === "completed") return no("SETTLED");
      // Who was told of a dead letter need not hear of its end again; of one that lay for review nobody has heard.
      return next(settled("canceled", { error: event.error, ...(ended && { notify: task.notify }) }));
    case "acknowledged":
      return task.notify ? next({ notify: false }) : no("NOT_NOW");
    case "completed": {
      if (ended) return no("SETTLED");
      const known = task.attempts.find((a) => a.attempt === event.attempt);
      if (known === undefined) return no("STALE_ATTEMPT");
      return next({
        ...settled("completed", {
          receipt: event.receipt,
          error: undefined,
          agentId: known.agentId,
          instanceId: known.instanceId,
        }),
        attempts: ends(event.attempt, "completed"),
      });
    }
    case "canceled":
      if (ended) return no("SETTLED");
      return next({ ...settled("canceled", { error: event.error }), attempts: ends(task.attempt, "canceled") });
    case "died":
      return task.state === "queued"
        ? next(settled("dead", { error: event.error }))
        : no(ended ? "SETTLED" : "NOT_NOW");
    case "sent": {
      if (task.state !== "queued") return no(ended ? "SETTLED" : "NOT_NOW");
      const { agentId, instanceId, epoch } = event;
      const attempt = task.attempt + 1;
      const sent: AttemptRecord = { attempt, agentId, instanceId, epoch, sentAt: now, outcome: "pending" };
      return next({
        state: "delivered",
        lane: OVERDUE,
        dueAt: event.ackBy,
        attempt,
        agentId,
        instanceId,
        attempts: [...task.attempts.slice(1 - ATTEMPTS_KEPT), sent],
      });
    }
  }

  // What follows speaks of one attempt, and counts only from the newest (T4).
  if (ended) return no("SETTLED");
  if (event.attempt !== task.attempt) return no("STALE_ATTEMPT");
  if (!underway && !(task.state === "stalled" && event.type === "failed")) return no("NOT_NOW");
  const once = task.request.delivery === "atMostOnce";

  switch (event.type) {
    case "accepted":
      if (task.state !== "delivered") return no("NOT_NOW");
      return next({
        state: "working",
        dueAt: event.doneBy,
        attempts: task.attempts.map((a) => (a.attempt === event.attempt ? { ...a, acceptedAt: now } : a)),
      });
    case "failed":
      return next({
        ...settled("failed", { error: event.error, receipt: event.receipt }),
        attempts: ends(event.attempt, "failed", event.agentError),
      });
    case "refused":
      return next({ ...queued(event.at ?? task.createdAt), attempts: ends(event.attempt, "refused") });
    case "handedBack":
      return next({ ...queued(task.createdAt), attempts: ends(event.attempt, "handed_back") });
    case "unacknowledged": {
      const attempts = ends(event.attempt, event.outcome);
      if (once && event.outcome === "no_ack") return next({ ...stalled(event.error), attempts });
      const deliveryFailures = task.deliveryFailures + 1;
      if (event.retryAt === undefined)
        return next({ ...settled("dead", { error: event.error }), attempts, deliveryFailures });
      return next({ ...queued(event.retryAt), attempts, deliveryFailures });
    }
    case "lost": {
      const attempts = ends(event.attempt, "lost");
      if (once) return next({ ...stalled(event.error), attempts });
      const losses = task.losses + (event.counts ? 1 : 0);
      if (losses > event.lossesMax) return next({ ...settled("dead", { error: event.error }), attempts, losses });
      return next({ ...queued(task.createdAt), attempts, losses });
    }
    case "overdue": {
      const attempts = ends(event.attempt, "stalled");
      if (once || task.request.onStalled === "review") return next({ ...stalled(event.error), attempts });
      if (task.request.onStalled === "fail") return next({ ...settled("failed", { error: event.error }), attempts });
      return next({ ...queued(task.createdAt), attempts, deliveryFailures: task.deliveryFailures + 1 });
    }
  }
}
