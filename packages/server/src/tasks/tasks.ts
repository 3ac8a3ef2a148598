import { ReachError, type TaskState } from "@agent-reach/protocol";
import { assertMayTouch, type Caller, mayTouch } from "../access/access.js";
import type { Catalog, Resolved } from "../catalog/catalog.js";
import { type Journal, MessageLog } from "../journal/journal.js";
import type { InstanceRecord } from "../ports/registry-store.js";
import type { System } from "../ports/system.js";
import type { TaskFilter, TaskRecord, TaskRequest, TaskStore } from "../ports/task-store.js";
import type { Admission } from "../router/admission.js";
import { chainOf, loopIn, type Parent } from "../router/chain.js";
import { contentHashOf, fingerprintOf } from "../router/content.js";
import { fallbackOf } from "../router/fallback.js";
import { demandsOf, laneOf, type MessageRequest, type Reply, requestOf, wantedBy } from "../router/message.js";
import { invalidInput, nodeStops } from "../router/refusals.js";
import type { Router } from "../router/router.js";
import type { Dispatcher } from "./dispatcher.js";
import { isTerminal, type TaskEvent } from "./lifecycle.js";
import { type Result, resultEvent } from "./results.js";
import { anyStandIn } from "./stand-ins.js";
import { unknownTask } from "./unknown.js";

export interface TaskSettings {
  completionTimeoutMs: number;
  deadlineMs: number;
  keepSec: number;
  inputBytes: number;
}

const TRIM_EVERY_MS = 1000;
const TRIM_MAX = 500;

/** The states in which a message is listed with dead letters (DLV-15). */
export const deadStates: readonly TaskState[] = ["dead", "failed"];

/** Of what a disk has not confirmed, nobody knows what it has: then that is the answer. */
function saysNotExecuted(refusal: unknown): boolean {
  if (!(refusal instanceof ReachError) || refusal.outcome !== "not_executed") return false;
  return (refusal.details as { reason?: string } | undefined)?.reason !== "unconfirmed";
}

/**
 * Durable work: taken once, kept until its result has been kept for long enough. Whether and when something is sent is
 * the dispatcher's business; this is the front: submit, look, wait, cancel, settle, requeue.
 */
export class Tasks {
  private readonly waiters = new Map<string, Set<(task: TaskRecord) => void>>();
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
    dispatcher.onSettled((task) => {
      const waiters = this.waiters.get(task.messageId);
      this.waiters.delete(task.messageId);
      for (const waiter of waiters ?? []) waiter(task);
    });
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
      await this.take(request, reply);
    } catch (refusal) {
      // What stands against new work (a full disk, a rate, nobody who offers it any more) says nothing of what was taken
      // before; of that "not executed" may be untrue.
      const known = saysNotExecuted(refusal) ? await this.takenBefore(request) : undefined;
      if (known === undefined) throw refusal;
      this.answer(reply, known, known.state, true);
    }
  }

  /** The task that this very message is, if it is there. */
  private async takenBefore({ caller, messageId, envelope, input, sent }: MessageRequest) {
    const known = await this.store.get(messageId).catch(() => undefined);
    if (known === undefined || !mayTouch(caller, known)) return undefined;
    const { target, capability, intent } = envelope;
    return known.contentHash === contentHashOf(target, capability ?? intent, input, sent.inputText) ? known : undefined;
  }

  private async take(request: MessageRequest, reply: Reply): Promise<void> {
    const { envelope } = request;
    const resolution = this.catalog.resolve(wantedBy(request));
    const resolved = resolution.ok ? resolution.resolved : this.served(request);
    if (resolved === undefined) throw (resolution as { error: ReachError }).error;
    const violation = (resolved.offers[0] ?? resolved.gone[0])?.contract.checkInput?.(request.input);
    if (violation !== undefined) throw invalidInput(resolved.name, violation);
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
      const log = this.dispatcher.commits.logOf(task);
      this.journal.add(
        log,
        "submitted",
        undefined,
        0,
        request.externalTraceId === undefined ? undefined : { externalTraceId: request.externalTraceId },
      );
      // Nothing has left yet, though where it goes may be decided already.
      this.answer(reply, task, "queued", false);
      if (launch !== undefined) return this.dispatcher.launched(launch, task, log);
      if (task.orderKey !== undefined) this.dispatcher.ordered(task.lane, task.capability);
      this.dispatcher.wake(task.lane, task.capability, task.dueAt ?? 0);
      return;
    }
    if (launch !== undefined) this.dispatcher.abandon(launch);
    assertMayTouch(request.caller, task);
    if (task.contentHash !== fresh.contentHash) {
      throw new ReachError(
        "CONFLICT",
        `the key "${fresh.idempotencyKey}" was used before for other content (message ${task.messageId}); a new task needs a new key.`,
        {
          details: { messageId: task.messageId },
        },
      );
    }
    // A key whose work did not succeed may be used again; one whose did is answered with what came of it (DLV-7).
    // What was meant to be done at most once, and may have been, is asked for again by operators alone (DLV-19).
    const mayNot = task.request.delivery === "atMostOnce" && task.attempt > 0;
    if (isTerminal(task.state) && task.state !== "completed" && !mayNot) {
      const again = await this.requeueTask(task);
      return this.answer(reply, task, (again ?? task).state, again === undefined);
    }
    this.answer(reply, task, task.state, true);
  }

  /** What nobody offers is still served where somebody may stand in. */
  private served({ caller, envelope }: MessageRequest): Resolved | undefined {
    const { capability: name, fallback = [] } = envelope;
    if (name === undefined || !anyStandIn(this.catalog, caller.tenant, fallback, name)) return undefined;
    return { name, offers: [], gone: [], match: 0, reasons: [] };
  }

  /** Revision 0: it is not stored yet. */
  private newTask(request: MessageRequest, { name: capability, offers, gone }: Resolved): TaskRecord {
    const { envelope, caller } = request;
    const now = this.system.now();
    const parent = envelope.parentId === undefined ? undefined : this.parentOf(envelope.parentId);
    const contentHash = contentHashOf(
      envelope.target,
      envelope.capability ?? envelope.intent,
      request.input,
      request.sent.inputText,
    );
    const chain = chainOf(parent);
    if (parent !== undefined) {
      const { target } = envelope;
      const agentId = target && (offers[0] ?? gone[0])?.instance.record.agentId;
      const inputHash = fingerprintOf(undefined, undefined, request.input, request.sent.inputText);
      const loop = loopIn(parent, chain, capability, agentId, inputHash);
      if (loop !== undefined) throw loop;
    }
    const given: TaskRequest = {
      source: { ...caller.source },
      timeoutMs: envelope.timeoutMs ?? this.settings.completionTimeoutMs,
      completionTimeoutMs: envelope.completionTimeoutMs ?? envelope.timeoutMs ?? this.settings.completionTimeoutMs,
      onStalled: envelope.onStalled ?? "review",
      delivery: envelope.delivery ?? "atLeastOnce",
    };
    const { target, intent, sessionRef, sequence, partitionKey, parentId, labels, version, weights } = envelope;
    if (target !== undefined) given.target = target;
    if (intent !== undefined) given.intent = intent;
    if (sessionRef !== undefined) given.sessionRef = sessionRef;
    if (sequence !== undefined) given.sequence = sequence;
    if (partitionKey !== undefined) given.partitionKey = partitionKey;
    if (parentId !== undefined) given.parentId = parentId;
    if (labels !== undefined) given.labels = labels;
    if (version !== undefined) given.version = version;
    if (weights !== undefined) given.weights = weights;
    const fallback = fallbackOf(envelope, (offers[0] ?? gone[0])?.capability);
    if (fallback !== undefined) {
      given.fallback = fallback.names;
      if (fallback.codes.length > 0) given.fallbackOn = fallback.codes;
    }
    if (chain.length > 0) given.chain = [...chain];
    if (caller.sessionId !== undefined) given.sessionId = caller.sessionId;
    if (request.externalTraceId !== undefined) given.externalTraceId = request.externalTraceId;
    const orderKey = envelope.ordering === undefined ? undefined : (envelope.ordering.key ?? envelope.sessionRef);
    if (envelope.ordering !== undefined && orderKey === undefined) {
      throw new ReachError("INVALID_REQUEST", "ordering needs a key: give ordering.key, or a sessionRef.", {
        path: "ordering.key",
      });
    }
    return {
      seq: 0,
      revision: 0,
      messageId: request.messageId,
      traceId: request.traceId,
      tenant: caller.tenant,
      principal: caller.principal,
      idempotencyKey: envelope.idempotencyKey ?? request.messageId,
      contentHash,
      state: "queued",
      lane: laneOf(capability, given),
      dueAt: envelope.notBefore === undefined ? now : Math.max(now, Date.parse(envelope.notBefore)),
      deadlineAt: now + (envelope.deadlineMs ?? this.settings.deadlineMs),
      capability,
      agentId: target?.agentId,
      instanceId: target?.instanceId,
      groupId: envelope.groupId,
      orderKey: orderKey === undefined ? undefined : `${caller.tenant}/${caller.principal}/${orderKey}`,
      createdAt: now,
      settledAt: undefined,
      attempt: 0,
      attempts: [],
      deliveryFailures: 0,
      losses: 0,
      request: given,
      error: undefined,
      receipt: undefined,
      notify: false,
      input: request.sent.inputText,
      data: undefined,
    };
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
    const settled = await new Promise<TaskRecord | undefined>((resolve) => {
      let waiters = this.waiters.get(messageId);
      if (waiters === undefined) {
        waiters = new Set();
        this.waiters.set(messageId, waiters);
      }
      const end = (done: TaskRecord | undefined): void => {
        cancel();
        waiters.delete(end);
        if (waiters.size === 0 && this.waiters.get(messageId) === waiters) this.waiters.delete(messageId);
        resolve(done);
      };
      const cancel = this.system.after(waitMs, () => end(undefined));
      waiters.add(end);
      // It may have ended between the look and the wait.
      void this.store.get(messageId).then((now) => {
        if (now !== undefined && isTerminal(now.state)) end(now);
      });
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
      throw new ReachError("NOT_READY", "the store cannot write at the moment; nothing was changed, try again.", {
        retryAfterMs: 1000,
      });
    return stored;
  }
}
