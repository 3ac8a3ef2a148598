import { ReachError } from "@agent-reach/protocol";
import type { Catalog } from "../catalog/catalog.js";
import type { Resolved } from "../catalog/found.js";
import type { Journal, MessageLog } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { NewTask, TaskRecord } from "../ports/task-store.js";
import type { Offer } from "../registry/instance.js";
import { ackWaitMs } from "../router/ack-wait.js";
import type { Admission } from "../router/admission.js";
import { loopIn } from "../router/chain.js";
import { fingerprintOf } from "../router/content.js";
import type { Decision, Previous } from "../router/decision.js";
import { envelopeText } from "../router/envelope.js";
import { agentNamed, demandsOnStandIn, standIns } from "../router/fallback.js";
import { laneAt, laneOf } from "../router/message.js";
import { agentError } from "../router/refusals.js";
import type { Router } from "../router/router.js";
import type { Commits } from "./commits.js";
import { type TaskEvent, transition } from "./lifecycle.js";
import { type RunOwner, TaskRun } from "./run.js";
import type { Runs } from "./runs.js";
import type { DispatchSettings } from "./settings.js";
import { standInFrom } from "./stand-ins.js";

/** A new task that found somebody at once: it is stored as sent, and goes out when that is done. */
export interface Launch {
  readonly task: NewTask;
  readonly offer: Offer;
  readonly decision: Decision;
}

/** Out: from a task to an instance. */
export class Deliveries {
  constructor(
    private readonly catalog: Catalog,
    private readonly router: Router,
    private readonly admission: Admission,
    private readonly runs: Runs,
    private readonly commits: Commits,
    private readonly owner: RunOwner,
    private readonly journal: Journal,
    private readonly system: System,
    private readonly settings: DispatchSettings,
  ) {}

  /** Chooses who gets a task that is about to be inserted, and takes a slot there. */
  prepare(task: TaskRecord, resolved: Resolved): Launch | undefined {
    const decision = this.router.decide(resolved, task.request, askedOf(task), this.commits.logOf(task), 1);
    const offer = decision.chosen;
    if (offer === undefined) return undefined;
    const next = transition(task, this.sentTo(task, offer), this.system.now(), task.lane);
    if (!next.ok) return undefined;
    this.take(offer);
    return { task: next.task, offer, decision };
  }

  /** It is stored. */
  launched({ offer, decision }: Launch, stored: TaskRecord, log: MessageLog): void {
    this.journal.add(log, "decision", offer.instance, 1, decision);
    this.hand(stored, offer, 1, log);
  }

  /** It is not stored: a duplicate, or the store cannot write. */
  abandon({ offer }: Launch): void {
    this.takeBack(offer);
  }

  private take(offer: Offer): void {
    const now = this.system.monotonic();
    this.admission.take(offer.instance, now);
    this.router.breakers.sent(offer, now);
  }

  /** It does not go there after all. */
  private takeBack(offer: Offer): void {
    this.router.breakers.over(offer, this.system.monotonic());
    this.admission.give(offer.instance);
  }

  /** Routes one claimed task; false when nobody can take it now. */
  send(task: TaskRecord): boolean {
    if (task.state !== "queued") return true;
    const { request } = task;
    const wanted = {
      tenant: task.tenant,
      capability: task.capability,
      agentId: request.target?.agentId,
      instanceId: request.target?.instanceId,
      topic: request.topic,
    };
    const resolution = this.catalog.resolve(wanted);
    const log = this.commits.logOf(task);
    const from = standInFrom(task, this.settings.backoffMs.length);
    if (from !== undefined) return this.standIn(task, log, from) ?? this.endInVain(task, log);
    if (!resolution.ok) {
      const going = request.fallback === undefined ? undefined : this.standIn(task, log, 0);
      if (going !== undefined) return going;
      void this.commits.write(task, { type: "died", error: resolution.error.toBody() }, log);
      return true;
    }
    const number = task.attempt + 1;
    const decision = this.router.decide(
      { ...resolution.resolved, ...request.understood },
      request,
      askedOf(task),
      log,
      number,
      undefined,
      preference(task),
    );
    decision.previous = previousOf(task);
    const offer = decision.chosen;
    if (offer === undefined) {
      if (request.fallback !== undefined && this.standIn(task, log, 0) === true) return true;
      // A waiting task looks for somebody often; it is recorded when that is news.
      if (log.lastType !== "waiting") this.journal.add(log, "waiting", undefined, number, decision);
      const lane = laneAt(laneOf(task.capability, request), decision.waitsFor);
      if (lane === task.lane) return false;
      // Others in this line may be able to go.
      void this.commits.write(task, { type: "deferred", until: task.dueAt ?? 0, lane }, log);
      return true;
    }
    this.journal.add(log, "decision", offer.instance, number, decision);
    this.take(offer);
    void this.store(task, offer, number, log);
    return true;
  }

  /**
   * Sends it to the first who may stand in and is able to (RES-9). False: there is somebody, who is not able now; undefined:
   * there is nobody. Whoever works on the same already, for the sake of which this was submitted, is nobody here (RES-8).
   */
  private standIn(task: TaskRecord, log: MessageLog, from: number): boolean | undefined {
    const { tenant, capability, request } = task;
    const number = task.attempt + 1;
    const demands = demandsOnStandIn(request);
    let parsed: unknown;
    const input = () => (parsed ??= JSON.parse(task.input));
    const parent = request.parentId === undefined ? undefined : this.owner.parentOf(request.parentId);
    const inputHash = parent === undefined ? 0 : fingerprintOf(undefined, undefined, input(), task.input);
    let any = false;
    for (const { name, resolved } of standIns(this.catalog, tenant, capability, request.fallback!, from, input)) {
      if (loopIn(parent, request.chain ?? [], resolved.name, agentNamed(resolved), inputHash) !== undefined) continue;
      any = true;
      const decision = this.router.decide(resolved, demands, { ...askedOf(task), standIn: name }, log, number);
      decision.previous = previousOf(task);
      const offer = decision.chosen;
      if (offer === undefined) continue;
      this.journal.add(log, "fallback", undefined, number, { standIn: name });
      this.journal.add(log, "decision", offer.instance, number, decision);
      this.take(offer);
      void this.store(task, offer, number, log, name);
      return true;
    }
    return any ? false : undefined;
  }

  /** Those it is for were given up, and nobody is left who may stand in. */
  private endInVain(task: TaskRecord, log: MessageLog): true {
    // What was said before a requeue counts as failed, and is no answer to what was asked since.
    const last = task.attempts.findLast(({ outcome }) => outcome === "passed_on");
    const isUntouched = task.attempts.every(({ outcome }) => outcome === "refused" || outcome === "handed_back");
    const error =
      last === undefined
        ? new ReachError("UNAVAILABLE", `those who may stand in for "${task.capability}" are gone; requeue it later.`, {
            outcome: isUntouched ? "not_executed" : "unknown",
          })
        : agentError(task.capability, last.agentId, last.error!);
    void this.commits.write(task, { type: "died", error: error.toBody() }, log);
    return true;
  }

  private async store(
    task: TaskRecord,
    offer: Offer,
    number: number,
    log: MessageLog,
    standIn?: string,
  ): Promise<void> {
    const sent = this.sentTo(task, offer);
    const stored = await this.commits.write(task, standIn === undefined ? sent : { ...sent, standIn }, log);
    if (stored === undefined) this.takeBack(offer);
    else this.hand(stored, offer, number, log);
  }

  private sentTo(task: NewTask, offer: Offer): Extract<TaskEvent, { type: "sent" }> {
    const { agentId, instanceId, epoch } = offer.instance.record;
    return { type: "sent", agentId, instanceId, epoch, ackBy: this.system.now() + this.ackTimeoutMs(task, offer) };
  }

  private ackTimeoutMs({ request }: NewTask, offer: Offer): number {
    return request.ackTimeoutMs ?? ackWaitMs(offer, this.settings);
  }

  /** After that the task goes out again, or is over; so nobody waits for the answer any longer (RES-10). */
  private answerWithinMs(task: TaskRecord, offer: Offer): number {
    const { request, deadlineAt } = task;
    return Math.max(1, Math.min(this.ackTimeoutMs(task, offer), request.timeoutMs, deadlineAt - this.system.now()));
  }

  /** Puts a task that is stored as sent on its way. */
  private hand(stored: TaskRecord, offer: Offer, number: number, log: MessageLog): void {
    const { instance } = offer;
    const run = new TaskRun(this.owner, stored, number, offer, log, this.system.monotonic());
    run.holdsSlot = true;
    // Whoever has it is late so long after it left, however long it took to write that down; and nobody is before a pull
    // fetches it.
    run.patienceUntil =
      instance.link?.kind === "pull" ? Number.POSITIVE_INFINITY : run.sentAt + this.ackTimeoutMs(stored, offer);
    this.runs.add(run);
    this.commits.counts.delivered++;
    if (number > 1) this.commits.counts.redelivered++;
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
        topic: request.topic,
      },
      offer,
      request.completionTimeoutMs,
      this.system.now(),
    );
    const outgoing = {
      messageId: stored.messageId,
      attempt: number,
      envelope,
      timeoutMs: this.answerWithinMs(stored, offer),
      hintMs: offer.capability.timeoutHintMs,
    };
    this.journal.add(log, "delivered", instance, number);
    // While it was written down, the instance may have begun to leave, or another run of it may have come.
    const { epoch, state } = instance.record;
    if (
      epoch !== run.epoch ||
      state === "draining" ||
      state === "offline" ||
      instance.link?.deliver(outgoing, run) !== true
    ) {
      this.owner.results.bounced(run);
    }
  }
}

/** What the sender asked for, as it stands in a decision's record. */
function askedOf({ capability, request: { target, version, labels } }: NewTask): Record<string, unknown> | undefined {
  if (target === undefined && version === undefined && labels === undefined) return undefined;
  return { capability, ...(target && { target }), ...(version && { version }), ...(labels && { labels }) };
}

function previousOf({ attempts }: TaskRecord): Previous | undefined {
  const last = attempts[attempts.length - 1];
  if (last === undefined) return undefined;
  const { attempt, agentId, instanceId, outcome } = last;
  return { attempt, agentId, instanceId, outcome };
}

/** Lost work prefers the agent that had it; work that was refused or not acknowledged prefers somebody else (DLV-8, RES-2). */
function preference(task: TaskRecord): ((offer: Offer) => boolean) | undefined {
  const last = task.attempts[task.attempts.length - 1];
  if (last === undefined) return undefined;
  if (last.outcome === "lost") return (offer) => offer.instance.record.agentId === last.agentId;
  if (last.outcome === "handed_back") return undefined;
  return (offer) => offer.instance.record.instanceId !== last.instanceId;
}
