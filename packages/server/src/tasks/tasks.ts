import { ReachError, type TaskState } from "@agent-reach/protocol";
import { assertMayTouch, type Caller } from "../access/access.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Resolved } from "../catalog/found.js";
import { type Journal, MessageLog } from "../journal/journal.js";
import type { InstanceRecord } from "../ports/registry-store.js";
import type { System } from "../ports/system.js";
import type { TaskFilter, TaskRecord, TaskStore } from "../ports/task-store.js";
import type { Admission } from "../router/admission.js";
import type { Parent } from "../router/chain.js";
import { demandsOf, type MessageRequest, type Reply, requestOf, wantedBy } from "../router/message.js";
import { invalidInput, nodeStops } from "../router/refusals.js";
import type { Router } from "../router/router.js";
import type { Dispatcher } from "./dispatcher.js";
import { isTerminal, type TaskEvent } from "./lifecycle.js";
import { type NewTaskSettings, newTask, otherThan } from "./new-task.js";
import { type Result, resultEvent } from "./results.js";
import { anyStandIn } from "./stand-ins.js";
import { takenBefore } from "./taken-before.js";
import { unknownTask } from "./unknown.js";
import { Waiters } from "./waiters.js";

export interface TaskSettings extends NewTaskSettings {
  keepSec: number;
  inputBytes: number;
}

const TRIM_EVERY_MS = 1000;
const TRIM_MAX = 500;

/** The states in which a message is listed with dead letters (DLV-15). */
export const deadStates: readonly TaskState[] = ["dead", "failed"];

/** What was meant to be done at most once, and may have been, is asked for again by operators alone (DLV-19). */
export function mayRunTwice({ request, attempt }: TaskRecord): boolean {
  return request.delivery !== "atMostOnce" || attempt === 0;
}

/**
 * Durable work: taken once, kept until its result has been kept for long enough. Whether and when something is sent is
 * the dispatcher's business; this is the front: submit, look, wait, cancel, settle, requeue.
 */
export class Tasks {
  private readonly waiters: Waiters;
  private stopTrim: (() => void) | undefined;

  constructor(
    private readonly store: TaskStore,
    private readonly catalog: Catalog,
    private readonly router: Router,
    private readonly journal: Journal,
    private readonly dispatcher: Dispatcher,
    private readonly system: System,
    private readonly settings: TaskSettings,
    private readonly parentOf: (messageId: string) => Parent | undefined,
    private readonly onError: (error: unknown) => void,
    private readonly admission: Admission,
  ) {
    this.waiters = new Waiters(system);
    dispatcher.onSettled((task) => this.waiters.settled(task));
  }

  start(): void {
    this.stopTrim = this.system.after(TRIM_EVERY_MS, () => {
      const before = this.system.now() - this.settings.keepSec * 1000;
      this.store
        .trim(before, TRIM_MAX)
        .catch(this.onError)
        .finally(() => {
          if (this.stopTrim !== undefined) this.start();
        });
    });
  }

  stop(): void {
    this.stopTrim?.();
    this.stopTrim = undefined;
  }

  /**
   * Answers through `reply` when the task is on disk, not before. `takesNew`: false while the node drains, which still
   * answers what it was asked before.
   */
  async submit(request: MessageRequest, reply: Reply, takesNew = true): Promise<void> {
    try {
      if (!takesNew) throw nodeStops("not_executed");
      const advised = this.advised(request);
      await this.take(advised === undefined ? request : await advised, reply);
    } catch (refusal) {
      const [known] = await takenBefore(refusal, this.store, [request]);
      this.answer(reply, known!, known!.state, true);
    }
  }

  private async take(request: MessageRequest, reply: Reply): Promise<void> {
    const { envelope } = request;
    const resolved = this.resolve(request);
    const tooOften = this.admission.tooOften(request.caller, resolved.name);
    if (tooOften !== undefined) throw tooOften;
    if (envelope.dryRun === true) {
      const log = new MessageLog(
        request.messageId,
        request.traceId,
        "task",
        resolved.name,
        envelope.parentId,
        this.system.now(),
      );
      const decision = this.router.decide(resolved, demandsOf(envelope), requestOf(envelope), log, 1);
      reply.result(
        JSON.stringify({
          messageId: request.messageId,
          traceId: request.traceId,
          dryRun: true,
          decision: decision.toShape(),
        }),
      );
      return;
    }
    const fresh = this.newTask(request, resolved);
    const launch = this.dispatcher.prepare(fresh, resolved);
    let inserted: Awaited<ReturnType<TaskStore["insert"]>>;
    try {
      inserted = await this.store.insert(launch?.task ?? fresh);
    } catch (error) {
      if (launch !== undefined) this.dispatcher.abandon(launch);
      throw error;
    }
    const { task, duplicate } = inserted;
    if (!duplicate) {
      const log = this.taken(task);
      // Nothing has left yet, though where it goes may be decided already.
      this.answer(reply, task, "queued", false);
      if (launch !== undefined) this.dispatcher.launched(launch, task, log);
      else this.dispatcher.enqueued(task);
      return;
    }
    if (launch !== undefined) this.dispatcher.abandon(launch);
    const other = otherThan(task, fresh, request.caller);
    if (other !== undefined) throw other;
    const again = await this.takenAgain(task);
    this.answer(reply, task, again?.state ?? task.state, again === undefined);
  }

  /** The request with what its words mean, where that takes longer than a look into the index; slower readers only if it asks for them. */
  advised(request: MessageRequest): Promise<MessageRequest> | undefined {
    const isLocal = request.envelope.matching !== "two-stage";
    return this.catalog.consult(wantedBy(request), { isLocal })?.then((advice) => ({ ...request, advice }));
  }

  /** The one capability it is for, and that the input meets its contract. */
  resolve(request: MessageRequest): Resolved {
    const resolution = this.catalog.resolve(wantedBy(request));
    const resolved = resolution.ok ? resolution.resolved : this.served(request);
    if (resolved === undefined) throw (resolution as { error: ReachError }).error;
    const violation = (resolved.offers[0] ?? resolved.gone[0])?.contract.checkInput?.(request.input);
    if (violation !== undefined) throw invalidInput(resolved.name, violation);
    return resolved;
  }

  /** It is on disk: from now on it is known. */
  taken(task: TaskRecord): MessageLog {
    const { externalTraceId } = task.request;
    const log = this.dispatcher.commits.logOf(task);
    this.journal.add(log, "submitted", undefined, 0, externalTraceId === undefined ? undefined : { externalTraceId });
    if (task.groupId !== undefined) this.dispatcher.commits.groups.opened(task);
    return log;
  }

  /** A task that was submitted before, if it goes back to the line for that. */
  async takenAgain(task: TaskRecord): Promise<TaskRecord | undefined> {
    // A key whose work did not succeed may be used again; one whose did is answered with what came of it (DLV-7).
    if (!isTerminal(task.state) || task.state === "completed" || !mayRunTwice(task)) return undefined;
    return this.requeueTask(task);
  }

  /** What nobody offers is still served where somebody may stand in. */
  private served({ caller, envelope }: MessageRequest): Resolved | undefined {
    const { capability: name, fallback = [] } = envelope;
    if (name === undefined || !anyStandIn(this.catalog, caller.tenant, fallback, name)) return undefined;
    return { name, offers: [], gone: [], match: 0, reasons: [] };
  }

  newTask(request: MessageRequest, resolved: Resolved): TaskRecord {
    const { parentId } = request.envelope;
    const parent = parentId === undefined ? undefined : this.parentOf(parentId);
    return newTask(request, resolved, parent, this.system.now(), this.settings);
  }

  private answer(reply: Reply, task: TaskRecord, state: TaskState, duplicate: boolean): void {
    reply.result(
      `{"messageId":"${task.messageId}","traceId":"${task.traceId}","state":"${state}","duplicate":${duplicate}}`,
    );
  }

  async get(caller: Caller, messageId: string): Promise<TaskRecord> {
    const task = await this.store.get(messageId);
    if (task === undefined) throw unknownTask(messageId, this.settings.keepSec, this.system.now());
    assertMayTouch(caller, task);
    return task;
  }

  /** The task when it is terminal, or as it is after `waitMs`. */
  async result(caller: Caller, messageId: string, waitMs: number): Promise<TaskRecord> {
    const task = await this.get(caller, messageId);
    if (isTerminal(task.state) || waitMs <= 0) return task;
    const settled = await this.waiters.wait(messageId, waitMs, async () => {
      const now = await this.store.get(messageId);
      return now !== undefined && isTerminal(now.state) ? now : undefined;
    });
    return settled ?? (await this.get(caller, messageId));
  }

  async cancel(caller: Caller, messageId: string, reason: string): Promise<TaskRecord> {
    const task = await this.get(caller, messageId);
    if (isTerminal(task.state)) return task;
    const error = new ReachError("CANCELED", `the task was canceled: ${reason}`, {
      outcome: task.state === "queued" && task.attempt === 0 ? "not_executed" : "unknown",
    });
    const run = this.dispatcher.runOf(messageId);
    const canceled = await this.apply(task, { type: "canceled", error: error.toBody() });
    // The agent hears of it only when it is on disk: a cancel that could not be written has changed nothing.
    if (canceled !== undefined) run?.offer?.instance.link?.cancel(messageId, run.attempt, reason);
    return canceled ?? (await this.get(caller, messageId));
  }

  /** `complete` of an agent: what became of it, once that is on disk. */
  async complete(
    messageId: string,
    instance: InstanceRecord,
    attempt: number,
    result: Result,
  ): Promise<"recorded" | "SETTLED" | "STALE_ATTEMPT" | "UNKNOWN"> {
    const task = await this.store.get(messageId);
    if (task === undefined) return "UNKNOWN";
    const known = task.attempts.find((a) => a.attempt === attempt && a.instanceId === instance.instanceId);
    if (isTerminal(task.state)) return "SETTLED";
    if (known === undefined) return "STALE_ATTEMPT";
    if (result.data !== undefined && Buffer.byteLength(result.data) > this.settings.inputBytes) {
      throw new ReachError(
        "PAYLOAD_TOO_LARGE",
        `the result has ${Buffer.byteLength(result.data)} bytes, over the limit of ${this.settings.inputBytes}; answer with a reference.`,
      );
    }
    const run = this.dispatcher.runOf(messageId);
    if (run?.attempt === attempt) this.dispatcher.results.heard(run, result);
    const stored = await this.apply(task, resultEvent(task, attempt, result), result.data);
    if (stored !== undefined) return "recorded";
    const now = await this.store.get(messageId);
    return now !== undefined && isTerminal(now.state) ? "SETTLED" : "STALE_ATTEMPT";
  }

  /** `accepted` for agents that acknowledge in a request of its own. */
  accept(messageId: string, instanceId: string, attempt: number): boolean {
    const run = this.dispatcher.runOf(messageId);
    if (run === undefined || run.attempt !== attempt || run.record.instanceId !== instanceId) return false;
    run.accepted();
    return true;
  }

  handBack(messageId: string, instanceId: string, attempt: number): void {
    const run = this.dispatcher.runOf(messageId);
    if (run === undefined) return void this.putBackStalled(messageId, instanceId, attempt).catch(this.onError);
    if (run.attempt === attempt && run.record.instanceId === instanceId) this.dispatcher.losses.handBack(run);
  }

  /** It lies for review, since nobody knew whether it had been begun; now that is known. */
  private async putBackStalled(messageId: string, instanceId: string, attempt: number): Promise<void> {
    const task = await this.store.get(messageId);
    if (task?.state === "stalled" && task.instanceId === instanceId)
      await this.apply(task, { type: "handedBack", attempt });
  }

  list(filter: TaskFilter, page: { after?: number; limit: number }): Promise<TaskRecord[]> {
    return this.store.list(filter, page);
  }

  counts() {
    return this.store.counts();
  }

  /** Back to the line, with all its retries. Answers those that were. */
  async requeue(messageIds: readonly string[]): Promise<string[]> {
    const done: string[] = [];
    for (const messageId of messageIds) {
      const task = await this.store.get(messageId);
      if (task !== undefined && (await this.requeueTask(task)) !== undefined) done.push(messageId);
    }
    return done;
  }

  private requeueTask(task: TaskRecord): Promise<TaskRecord | undefined> {
    return this.apply(task, { type: "requeued", deadlineAt: this.system.now() + this.settings.deadlineMs });
  }

  async discard(messageIds: readonly string[]): Promise<string[]> {
    const done: string[] = [];
    for (const messageId of messageIds) {
      const task = await this.store.get(messageId);
      if (task === undefined || (!isTerminal(task.state) && task.state !== "stalled")) continue;
      const error = new ReachError("CANCELED", "an operator discarded the dead letter.", {
        outcome: task.error?.outcome ?? "unknown",
        details: { was: task.error },
      });
      if ((await this.apply(task, { type: "discarded", error: error.toBody() })) !== undefined) done.push(messageId);
    }
    return done;
  }

  /** The submitter knows the outcome. */
  async acknowledged(task: TaskRecord): Promise<void> {
    await this.apply(task, { type: "acknowledged" });
  }

  private async apply(task: TaskRecord, event: TaskEvent, data?: string): Promise<TaskRecord | undefined> {
    const stored = await this.dispatcher.commits.write(task, event, this.dispatcher.commits.logOf(task), data);
    if (stored === "unsaved")
      throw new ReachError(
        "NOT_READY",
        "the store did not confirm the change; the node's log says why. See how the task stands, and try again.",
        { retryAfterMs: 1000 },
      );
    return stored;
  }
}
