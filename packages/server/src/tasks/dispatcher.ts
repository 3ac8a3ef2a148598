import { type AgentErrorShape, ReachError, type Receipt } from "@agent-reach/protocol";
import type { Catalog, Resolved } from "../catalog/catalog.js";
import type { Journal, MessageLog } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import { type NewTask, OVERDUE, type TaskRecord, type TaskStore } from "../ports/task-store.js";
import type { LiveInstance, Offer } from "../registry/instance.js";
import type { Admission } from "../router/admission.js";
import type { Parent } from "../router/chain.js";
import type { Decision } from "../router/decision.js";
import { envelopeText } from "../router/envelope.js";
import { laneOf } from "../router/message.js";
import { agentError, refusal } from "../router/refusals.js";
import type { Router } from "../router/router.js";
import type { Wheel } from "../time/wheel.js";
import { LaneBook } from "./lanes.js";
import { type TaskEvent, transition } from "./lifecycle.js";
import { OrderedLanes } from "./ordered-lanes.js";
import { retryAt } from "./retry.js";
import { TaskRun } from "./run.js";

export interface DispatchSettings {
  ackTimeoutMs: number;
  slowAckTimeoutMs: number;
  backoffMs: readonly number[];
  lossesMax: number;
  lostGraceMs: number;
}

/** A result, however it came. */
export interface Result {
  data?: string;
  error?: AgentErrorShape;
  receipt: Receipt | undefined;
}

/** A new task that found somebody at once: it is stored as sent, and goes out when that is done. */
export interface Launch {
  readonly task: NewTask;
  readonly offer: Offer;
  readonly decision: Decision;
}

/** Tasks taken from the store at once; their state changes then share one commit. */
const CLAIM_MAX = 64;
const LOOK_EVERY_MS = 200;
/** How long an instance whose link is full is left alone. */
const BACKPRESSURE_MS = 100;
/** How long agents may take to find a restarted node again before others get their unfinished work. */
const RECOVERY_MS = 15_000;
/** How soon something is tried again that a full or unreachable store refused. */
const STORE_RETRY_MS = 1000;

/**
 * The loop: claim what is due → route → write down that it is sent → send. What it does not decide is in `lifecycle`.
 * A new task which finds nobody before it and somebody free skips the line: the first write says already that it is sent.
 *
 * X1  Nothing is sent before the store says that it is sent, so an attempt's number is never used twice.
 * X2  A lane that nobody can serve is left alone until an instance has room or comes; its tasks spend no attempt meanwhile.
 * X3  Lost work goes out again a moment after the connection was lost, or at once when its instance registers anew, when
 *     a fresh instance of the same agent comes, or when the lease is over; always before new work.
 */
export class Dispatcher {
  /** Tasks in somebody's hands, by message and by instance. */
  private readonly runs = new Map<string, TaskRun>();
  private readonly byInstance = new Map<string, Set<TaskRun>>();
  private readonly lanes: LaneBook;
  private readonly orderedLanes: OrderedLanes;
  private stopLooking: (() => void) | undefined;
  private pumping = false;
  /** The lane whose tasks are being handed out. */
  private current: string | undefined;
  /** Tasks on their way back to the line: nothing new may overtake them (X3). */
  private returning = 0;
  private stopped = false;
  private readonly settledListeners: ((task: TaskRecord) => void)[] = [];
  readonly counts = { delivered: 0, redelivered: 0, completed: 0, failed: 0, dead: 0 };

  constructor(
    private readonly store: TaskStore,
    private readonly catalog: Catalog,
    private readonly router: Router,
    private readonly admission: Admission,
    private readonly journal: Journal,
    private readonly wheel: Wheel,
    private readonly system: System,
    private readonly settings: DispatchSettings,
    private readonly onError: (error: unknown) => void,
  ) {
    this.lanes = new LaneBook(wheel, system, () => this.pump());
    this.orderedLanes = new OrderedLanes(store, onError);
    admission.onRoom(
      () => this.lanes.anyBlocked,
      (capabilities) => this.lanes.unblock(capabilities),
    );
  }

  onSettled(listener: (task: TaskRecord) => void): void {
    this.settledListeners.push(listener);
  }

  parentOf(messageId: string): Parent | undefined {
    return this.runs.get(messageId);
  }

  logOf(task: NewTask): MessageLog {
    const known = this.journal.find(task.messageId);
    if (known !== undefined) return known;
    const log = this.journal.open(task.messageId, task.traceId, "task", task.capability, task.request.parentId);
    this.journal.keep(log);
    return log;
  }

  /** Picks up what was in somebody's hands when the node stopped; whoever has it may well come back with the result. */
  async start(): Promise<void> {
    const patience = this.system.monotonic() + RECOVERY_MS;
    for (let after: number | undefined; ; ) {
      const page = await this.store.list(
        { states: ["delivered", "working"] },
        { limit: 500, order: "oldest", ...(after !== undefined && { after }) },
      );
      for (const task of page) {
        const run = new TaskRun(this, task, task.attempt, undefined, this.logOf(task), this.system.monotonic());
        run.patienceUntil = patience;
        run.acknowledged = task.state === "working";
        this.track(run);
        this.wheel.set(run, patience);
        this.journal.add(run.log, "recovered", undefined, run.attempt);
      }
      if (page.length < 500) break;
      after = page[page.length - 1]!.seq;
    }
    for (const { lane, capability } of (await this.store.counts()).lanes) {
      this.orderedLanes.add(lane, capability);
      this.lanes.ready(lane, capability);
    }
    this.look();
  }

  stop(): void {
    this.stopped = true;
    this.stopLooking?.();
    this.lanes.stop();
    for (const run of this.runs.values()) this.wheel.clear(run);
  }

  /** Tasks with an order were put into this lane. */
  ordered(lane: string, capability: string): void {
    this.orderedLanes.add(lane, capability);
  }

  /** A task waits in this lane, from `dueAt` (wall ms) on. */
  wake(lane: string, capability: string, dueAt: number): void {
    const wait = dueAt - this.system.now();
    if (wait <= 0) this.lanes.ready(lane, capability);
    else this.lanes.later(lane, capability, wait);
  }

  // ── out: from the store to an instance ────────────────────────────────────────────────────────────────────────────

  private pump(): void {
    if (this.pumping || this.stopped) return;
    this.pumping = true;
    this.work()
      .catch(this.onError)
      .finally(() => {
        this.pumping = false;
        if (this.lanes.hasReady) this.pump();
      });
  }

  private async work(): Promise<void> {
    for (let lane = this.lanes.next(); lane !== undefined && !this.stopped; lane = this.lanes.next()) {
      this.current = lane.name;
      const { tasks, nextAt } = await this.store.claimDue({
        lane: lane.name,
        now: this.system.now(),
        limit: this.claimLimit(lane.capability),
      });
      if (nextAt !== undefined) this.lanes.later(lane.name, lane.capability, nextAt - this.system.now());
      let sent = 0;
      for (const task of tasks) {
        if (!this.dispatch(task)) {
          this.store.release(tasks.slice(sent).map((t) => t.messageId));
          this.lanes.block(lane.name, lane.capability);
          break;
        }
        sent++;
      }
      if (sent === tasks.length && nextAt === undefined && tasks.length > 0)
        this.lanes.ready(lane.name, lane.capability);
      this.current = undefined;
    }
  }

  /**
   * Takes a slot for a task that is about to be inserted, if it need not wait for anything: `launch.task` is then to be stored
   * in its place, and `launched` or `abandon` called. It spares a write and a turn; what the agent sees is the same.
   */
  prepare(task: NewTask, resolved: Resolved): Launch | undefined {
    const now = this.system.now();
    const mayGo = task.orderKey === undefined && (task.dueAt ?? 0) <= now && this.returning === 0 && !this.stopped;
    if (!mayGo || this.current === task.lane || !this.lanes.isClear(task.lane, task.capability)) return undefined;
    // What is known by its messageId is most likely sent again, and then it goes nowhere.
    if (this.journal.find(task.messageId) !== undefined) return undefined;
    const decision = this.router.decide(resolved, task.request, askedOf(task), this.logOf(task), 1);
    const offer = decision.chosen;
    if (offer === undefined) return undefined;
    const next = transition(task as TaskRecord, this.sentTo(task, offer), now, task.lane);
    if (!next.ok) return undefined;
    this.admission.take(offer.instance);
    return { task: next.task, offer, decision };
  }

  /** It is stored. */
  launched({ offer, decision }: Launch, stored: TaskRecord, log: MessageLog): void {
    this.journal.add(log, "decision", offer.instance, 1, decision);
    this.hand(stored, offer, 1, log);
  }

  /** It is not stored: a duplicate, or the store cannot write. */
  abandon({ offer }: Launch): void {
    this.admission.give(offer.instance);
  }

  /** No more than could go out at once. Unknown capabilities are looked at one by one. */
  private claimLimit(capability: string): number {
    const resolution = this.catalog.resolve({ tenant: "default", capability });
    if (!resolution.ok) return 1;
    let room = 0;
    for (const { instance } of resolution.resolved.offers) {
      if (instance.record.state === "online") room += Math.max(0, instance.room);
      if (room >= CLAIM_MAX) return CLAIM_MAX;
    }
    return Math.max(1, room);
  }

  /** Routes one claimed task; false when nobody can take it now. */
  private dispatch(task: TaskRecord): boolean {
    if (task.state !== "queued") return true;
    const { request } = task;
    const wanted = {
      tenant: task.tenant,
      capability: task.capability,
      agentId: request.target?.agentId,
      instanceId: request.target?.instanceId,
    };
    const resolution = this.catalog.resolve(wanted);
    const log = this.logOf(task);
    if (!resolution.ok) {
      void this.write(task, { type: "died", error: resolution.error.toBody() }, log);
      return true;
    }
    const number = task.attempt + 1;
    const decision = this.router.decide(
      resolution.resolved,
      request,
      askedOf(task),
      log,
      number,
      undefined,
      preference(task),
    );
    const offer = decision.chosen;
    if (offer === undefined) {
      // A waiting task looks for somebody often; it is recorded when that is news.
      if (log.lastType !== "waiting") this.journal.add(log, "waiting", undefined, number, decision);
      return false;
    }
    this.journal.add(log, "decision", offer.instance, number, decision);
    this.admission.take(offer.instance);
    void this.send(task, offer, number, log);
    return true;
  }

  private async send(task: TaskRecord, offer: Offer, number: number, log: MessageLog): Promise<void> {
    const stored = await this.write(task, this.sentTo(task, offer), log);
    if (stored === undefined) this.admission.give(offer.instance);
    else this.hand(stored, offer, number, log);
  }

  private sentTo(task: NewTask, { instance }: Offer): Extract<TaskEvent, { type: "sent" }> {
    const { agentId, instanceId, epoch } = instance.record;
    const ackTimeoutMs =
      task.request.ackTimeoutMs ??
      (instance.link?.kind === "ws" ? this.settings.ackTimeoutMs : this.settings.slowAckTimeoutMs);
    return { type: "sent", agentId, instanceId, epoch, ackBy: this.system.now() + ackTimeoutMs };
  }

  /** Puts a task that is stored as sent on its way. */
  private hand(stored: TaskRecord, offer: Offer, number: number, log: MessageLog): void {
    const { instance } = offer;
    const run = new TaskRun(this, stored, number, offer, log, this.system.monotonic());
    run.holdsSlot = true;
    // Until a pull fetches it, nobody is late.
    if (instance.link?.kind === "pull") run.patienceUntil = Number.POSITIVE_INFINITY;
    this.track(run);
    this.counts.delivered++;
    if (number > 1) this.counts.redelivered++;
    const { request } = stored;
    const envelope = envelopeText(
      {
        kind: "task",
        messageId: stored.messageId,
        traceId: stored.traceId,
        idempotencyKey: stored.idempotencyKey,
        sourceJson: JSON.stringify(request.source),
        chain: request.chain ?? [],
      },
      {
        inputText: stored.input,
        sessionRef: request.sessionRef,
        sequence: request.sequence,
        parentId: request.parentId,
        labels: request.labels,
      },
      offer,
      request.completionTimeoutMs,
      this.system.now(),
    );
    this.journal.add(log, "delivered", instance, number);
    const { epoch } = stored.attempts[stored.attempts.length - 1]!;
    if (
      instance.record.epoch !== epoch ||
      instance.link?.deliver({ messageId: stored.messageId, attempt: number, envelope }, run) !== true
    ) {
      this.bounced(run);
    }
  }

  // ── in: what the instance says ────────────────────────────────────────────────────────────────────────────────────

  pulled(run: TaskRun): void {
    run.patienceUntil = this.system.monotonic() + this.settings.slowAckTimeoutMs;
  }

  accepted(run: TaskRun): void {
    run.acknowledged = true;
    run.offer?.instance.held.add(run);
    void this.noteAccepted(run);
  }

  /** Without it on disk nobody would ever miss the receipt, so a store that refuses is asked again. */
  private async noteAccepted(run: TaskRun): Promise<void> {
    const doneBy = this.system.now() + run.record.request.completionTimeoutMs;
    if ((await this.change(run, { type: "accepted", attempt: run.attempt, doneBy })) !== "unsaved") return;
    this.system.after(STORE_RETRY_MS, () => {
      if (!this.stopped && this.runs.get(run.messageId) === run) void this.noteAccepted(run);
    });
  }

  /** Resolves when the result is on disk, and not before: the agent takes what follows for an acknowledgement (DLV-11). */
  answered(run: TaskRun, result: Result): Promise<void> {
    const { offer } = run;
    this.release(run);
    const now = this.system.monotonic();
    offer?.measured.success(now - run.sentAt, now);
    return this.save(run, result);
  }

  /** While the store refuses, the result is kept here and tried again; the agent, which nobody answers, keeps it as well. */
  private async save(run: TaskRun, result: Result): Promise<void> {
    while ((await this.change(run, this.resultEvent(run.record, run.attempt, result), result.data)) === "unsaved") {
      // A node that stops lets the promise lie: resolving it would say that the result is safe.
      await new Promise<void>((again) => this.system.after(STORE_RETRY_MS, () => (this.stopped ? undefined : again())));
    }
  }

  resultEvent(task: TaskRecord, attempt: number, result: Result): TaskEvent {
    if (result.error === undefined) return { type: "completed", attempt, receipt: result.receipt };
    const agentId = task.attempts.find((a) => a.attempt === attempt)?.agentId ?? "the agent";
    return {
      type: "failed",
      attempt,
      error: agentError(task.capability, agentId, result.error).toBody(),
      agentError: result.error,
      receipt: result.receipt,
    };
  }

  /** Not executed. An overloaded agent is left alone for a while; any other refusal spends a retry. */
  refused(run: TaskRun, code: string, message: string, retryAfterMs: number | undefined): void {
    const instance = run.offer?.instance;
    this.release(run);
    this.journal.add(run.log, "refused", instance, run.attempt, { code, reason: message });
    if (code === "OVERLOADED" || retryAfterMs !== undefined) {
      if (instance !== undefined) this.admission.rest(instance, retryAfterMs ?? STORE_RETRY_MS);
      void this.change(run, { type: "refused", attempt: run.attempt, at: undefined });
      return;
    }
    const at = retryAt(run.record.deliveryFailures, this.settings.backoffMs, this.system.now(), this.system.random());
    const error = refusal(run.record.agentId ?? "the agent", code, message, undefined);
    void this.change(run, {
      type: "unacknowledged",
      attempt: run.attempt,
      outcome: "refused",
      retryAt: at,
      error: error.toBody(),
    });
  }

  /** The link could not take it: nothing was sent, so nothing is counted. */
  private bounced(run: TaskRun): void {
    const instance = run.offer!.instance;
    this.release(run);
    if (instance.link !== undefined) this.admission.rest(instance, BACKPRESSURE_MS);
    void this.change(run, { type: "refused", attempt: run.attempt, at: undefined });
  }

  /** The link went: the instance has a moment to come back with the result before somebody else gets the work. */
  lost(run: TaskRun): void {
    if (run.offer === undefined || this.runs.get(run.messageId) !== run) return;
    this.journal.add(run.log, "lost", run.offer.instance, run.attempt);
    run.offer.measured.failure(this.system.monotonic());
    this.wheel.set(run, this.system.monotonic() + this.settings.lostGraceMs);
  }

  handBack(run: TaskRun): void {
    this.release(run);
    void this.change(run, { type: "handedBack", attempt: run.attempt });
  }

  /** The one who had it is taken for lost; the task goes back to the line. */
  giveUp(run: TaskRun): void {
    void this.putBack(run);
  }

  private async putBack(run: TaskRun): Promise<void> {
    if (this.runs.get(run.messageId) !== run) return;
    this.wheel.clear(run);
    const { agentId, attempt, losses } = run.record;
    const error = new ReachError(
      "DELIVERY_TIMEOUT",
      `${agentId} was lost while it worked on the task (attempt ${attempt}), ${losses + 1} times by now; the task is in dead letters, requeue it with \`agent-reach dead requeue ${run.messageId}\`.`,
      { outcome: "unknown" },
    );
    const record = await this.change(run, {
      type: "lost",
      attempt: run.attempt,
      counts: !run.recovered,
      lossesMax: this.settings.lossesMax,
      error: error.toBody(),
    });
    // Not before: a slot that comes free is taken by new work, which would overtake this one.
    this.release(run);
    if (record === "unsaved" && !this.stopped) this.wheel.set(run, this.system.monotonic() + STORE_RETRY_MS);
  }

  /**
   * An instance has come (again): what its earlier runs had in their hands goes out again, before it gets anything new;
   * and so does what lost siblings had, if this one was never seen before and so may be their successor.
   */
  async arrived(instance: LiveInstance, siblings: Iterable<LiveInstance>): Promise<void> {
    const { instanceId, epoch } = instance.record;
    const lost = [...(this.byInstance.get(instanceId) ?? [])].filter((run) => this.epochOf(run) < epoch);
    if (epoch === 1) {
      for (const sibling of siblings) {
        if (sibling === instance || sibling.link !== undefined) continue;
        lost.push(...(this.byInstance.get(sibling.record.instanceId) ?? []));
      }
    }
    if (lost.length > 0) await Promise.all(lost.map((run) => this.putBack(run)));
    this.admission.room(instance);
  }

  /** Its lease is over, or it said goodbye. */
  departed(instanceId: string): void {
    for (const run of [...(this.byInstance.get(instanceId) ?? [])]) this.giveUp(run);
  }

  runOf(messageId: string): TaskRun | undefined {
    return this.runs.get(messageId);
  }

  /** Tells whoever works on it that nobody waits any longer. */
  withdraw(messageId: string, reason: string): void {
    const run = this.runs.get(messageId);
    if (run === undefined) return;
    this.forget(run);
    run.offer?.instance.link?.cancel(messageId, run.attempt, reason);
  }

  private epochOf(run: TaskRun): number {
    return run.record.attempts.find((a) => a.attempt === run.attempt)?.epoch ?? 0;
  }

  // ── late: what nobody spoke of in time ────────────────────────────────────────────────────────────────────────────

  private look(): void {
    this.stopLooking = this.system.after(LOOK_EVERY_MS, () => {
      this.overdue()
        .catch(this.onError)
        .finally(() => {
          if (!this.stopped) this.look();
        });
    });
  }

  private async overdue(): Promise<void> {
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
    const log = this.logOf(task);
    if (task.state === "queued") {
      const error = new ReachError(
        "UNAVAILABLE",
        `nobody was able to take the task before its deadline; it is in dead letters, requeue it with \`agent-reach dead requeue ${task.messageId}\`.`,
        { details: { capability: task.capability } },
      );
      void this.write(task, { type: "died", error: error.toBody() }, log);
      return true;
    }
    const run = this.runs.get(task.messageId);
    if (run !== undefined && run.patienceUntil > this.system.monotonic()) return false;
    if (run?.acknowledged && task.state === "delivered") return false;
    if (run?.recovered === true && task.state === "delivered") {
      this.giveUp(run);
      return true;
    }
    const event = task.state === "delivered" ? this.unacknowledged(task) : this.stalled(task);
    const instance = run?.offer?.instance;
    if (run !== undefined) {
      this.release(run);
      run.offer?.measured.failure(this.system.monotonic());
    }
    this.journal.add(log, task.state === "delivered" ? "unacknowledged" : "overdue", instance, task.attempt);
    void this.write(task, event, log);
    return true;
  }

  private unacknowledged(task: TaskRecord): TaskEvent {
    const tries = task.deliveryFailures + 1;
    const at = retryAt(task.deliveryFailures, this.settings.backoffMs, this.system.now(), this.system.random());
    const remedy = `the task is in dead letters, requeue it with \`agent-reach dead requeue ${task.messageId}\`.`;
    const error = new ReachError(
      "DELIVERY_TIMEOUT",
      `${task.agentId} did not acknowledge in time (${tries} ${tries === 1 ? "attempt" : "attempts"}); ${remedy}`,
      {
        outcome: "unknown",
        details: { attempts: tries, agentId: task.agentId },
      },
    );
    return { type: "unacknowledged", attempt: task.attempt, outcome: "no_ack", retryAt: at, error: error.toBody() };
  }

  private stalled(task: TaskRecord): TaskEvent {
    const error = new ReachError(
      "TIMEOUT",
      `${task.agentId} took the task and gave no receipt within ${task.request.completionTimeoutMs} ms; look at it with \`agent-reach task ${task.messageId}\`.`,
      { outcome: "unknown" },
    );
    return { type: "overdue", attempt: task.attempt, error: error.toBody() };
  }

  // ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** One change of a task in somebody's hands, after those before it. */
  private change(run: TaskRun, event: TaskEvent, data?: string): Promise<TaskRecord | "unsaved" | undefined> {
    const write = async () => {
      const stored = await this.write(run.record, event, run.log, data);
      if (stored !== undefined && stored !== "unsaved") run.record = stored;
      if (returns) this.returning--;
      return stored;
    };
    const returns = RETURNS.has(event.type);
    if (returns) this.returning++;
    const turn = run.turn === undefined ? write() : run.turn.then(write);
    run.turn = turn;
    return turn;
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
    for (let current: TaskRecord | undefined = task, tries = 0; current !== undefined && tries < 20; tries++) {
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
          this.after(stored, event, log);
          return stored;
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

  private after(task: TaskRecord, event: TaskEvent, log: MessageLog): void {
    if (event.type === "sent" || event.type === "acknowledged") return;
    const run = this.runs.get(task.messageId);
    if (
      run !== undefined &&
      (task.state === "completed" || task.state === "canceled") &&
      "attempt" in event &&
      event.attempt !== run.attempt
    ) {
      this.withdraw(task.messageId, "an earlier attempt succeeded");
    } else if (run !== undefined && task.state !== "working") this.forget(run);
    if (task.state !== "queued")
      this.journal.add(
        log,
        event.type === "accepted" ? "accepted" : task.state,
        run?.offer?.instance,
        task.attempt,
        task.error && { code: task.error.code, message: task.error.message },
      );
    else {
      this.journal.add(
        log,
        event.type === "lost" || event.type === "requeued" ? event.type : "requeue",
        run?.offer?.instance,
        task.attempt,
        { dueAt: new Date(task.dueAt ?? 0).toISOString() },
      );
      // An operator may have put it back behind others.
      if (task.orderKey !== undefined) this.ordered(task.lane, task.capability);
      this.wake(task.lane, task.capability, task.dueAt ?? 0);
    }
    if (task.settledAt === undefined) return;
    if (task.state === "completed") this.counts.completed++;
    else if (task.state === "failed") this.counts.failed++;
    else if (task.state === "dead") this.counts.dead++;
    // The next in its order may wait in any lane.
    if (task.orderKey !== undefined)
      for (const { name, capability } of this.orderedLanes.all()) this.lanes.ready(name, capability);
    for (const listener of this.settledListeners) listener(task);
  }

  private track(run: TaskRun): void {
    this.runs.set(run.messageId, run);
    const instanceId = run.record.instanceId!;
    const runs = this.byInstance.get(instanceId);
    if (runs === undefined) this.byInstance.set(instanceId, new Set([run]));
    else runs.add(run);
  }

  private forget(run: TaskRun): void {
    this.release(run);
    this.wheel.clear(run);
    if (this.runs.get(run.messageId) === run) this.runs.delete(run.messageId);
    for (const { instanceId } of run.record.attempts.filter((a) => a.attempt === run.attempt)) {
      const runs = this.byInstance.get(instanceId);
      runs?.delete(run);
      if (runs?.size === 0) this.byInstance.delete(instanceId);
    }
  }

  private release(run: TaskRun): void {
    if (!run.holdsSlot) return;
    run.holdsSlot = false;
    run.offer!.instance.held.delete(run);
    this.admission.give(run.offer!.instance);
  }
}

/** Events after which a task stands in the line again, and before new ones (T7). */
const RETURNS: ReadonlySet<TaskEvent["type"]> = new Set(["refused", "unacknowledged", "lost", "handedBack"]);

/** What the sender asked for, as it stands in a decision's record. */
function askedOf({ capability, request: { target, version, labels } }: NewTask): Record<string, unknown> | undefined {
  if (target === undefined && version === undefined && labels === undefined) return undefined;
  return { capability, ...(target && { target }), ...(version && { version }), ...(labels && { labels }) };
}

/** Lost work prefers the agent that had it; work that was refused or not acknowledged prefers somebody else (DLV-8, RES-2). */
function preference(task: TaskRecord): ((offer: Offer) => boolean) | undefined {
  const last = task.attempts[task.attempts.length - 1];
  if (last === undefined) return undefined;
  if (last.outcome === "lost") return (offer) => offer.instance.record.agentId === last.agentId;
  if (last.outcome === "handed_back") return undefined;
  return (offer) => offer.instance.record.instanceId !== last.instanceId;
}
