import { type AgentErrorShape, type ErrorBody, type Outcome, ReachError } from "@agent-reach/protocol";
import { assertMayTouch, type Caller } from "../access/access.js";
import type { Catalog, Resolved } from "../catalog/catalog.js";
import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { Offer } from "../registry/instance.js";
import type { Wheel } from "../time/wheel.js";
import type { Admission } from "./admission.js";
import { Call, CallAttempt } from "./call.js";
import { chainOf, loopIn, type Parent } from "./chain.js";
import { fingerprintOf } from "./content.js";
import type { Decision } from "./decision.js";
import { envelopeText } from "./envelope.js";
import { Memory } from "./memory.js";
import { demandsOf, type MessageRequest, type Reply, requestOf } from "./message.js";
import {
  agentError,
  allBroken,
  allResting,
  inDoubt,
  invalidInput,
  lineFull,
  nobodyInTime,
  nodeStops,
  overdue,
  parentOver,
  refusal,
  resultTooLarge,
  usedBefore,
} from "./refusals.js";
import { RetryBudget } from "./retry-budget.js";
import type { Router } from "./router.js";
import { SettledCall } from "./settled.js";

export interface CallSettings {
  timeoutMs: number;
  rememberMs: number;
  messagesMax: number;
  ackTimeoutMs: number;
  slowAckTimeoutMs: number;
  lostGraceMs: number;
  inputBytes: number;
}

/** Under which a call is remembered besides its id. */
function aliasOf({ caller, envelope }: MessageRequest): string {
  return `${caller.tenant}/${caller.principal}/${envelope.idempotencyKey}`;
}

function bodyOf(error: Error): ErrorBody {
  return (error instanceof ReachError ? error : new ReachError("INTERNAL", error.message)).toBody();
}

/** Refusals after which a call stops looking for somebody else. */
const REFUSALS_MAX = 3;
/** What an agent says, or is said of it, that goes and takes nothing new. */
const LEAVING = "DRAINING";

/**
 * Calls in flight: request and response, nothing stored.
 *
 * C1  A call settles once; whatever comes later is recorded and changes nothing.
 * C2  It is sent again only if surely nothing was executed (a refusal), or once more if the outcome is unknown and the
 *     capability says that it is idempotent (DLV-6); and only within the retry budget (RES-2).
 * C3  The success of any attempt settles it while it is open.
 * C4  Each attempt holds a slot from before it is sent until it ends, and gives it back once.
 * C5  A message that comes again joins the one in flight, or gets the answer that was given (DLV-7).
 */
export class Calls {
  private readonly memory: Memory<Call, SettledCall>;
  readonly counts = { started: 0, completed: 0, failed: 0, inFlight: 0 };
  readonly retryBudget = new RetryBudget();

  constructor(
    private readonly catalog: Catalog,
    private readonly router: Router,
    private readonly admission: Admission,
    private readonly journal: Journal,
    private readonly wheel: Wheel,
    private readonly system: System,
    private readonly settings: CallSettings,
    /** Tasks in flight may be parents too. */
    private readonly parentOf: (messageId: string) => Parent | undefined,
  ) {
    this.memory = new Memory(
      settings.messagesMax,
      settings.rememberMs,
      (messageId) => journal.find(messageId)?.subject as SettledCall | undefined,
    );
  }

  /** A call in flight, or what is left of one. */
  find(messageId: string, now = this.system.monotonic()): Call | SettledCall | undefined {
    return this.memory.get(messageId, now);
  }

  start(request: MessageRequest, reply: Reply): void {
    const { envelope } = request;
    const now = this.system.monotonic();
    const contentHash = fingerprintOf(
      envelope.target,
      envelope.capability ?? envelope.intent,
      request.input,
      request.sent.inputText,
    );
    const known =
      this.find(request.messageId, now) ??
      (envelope.idempotencyKey === undefined ? undefined : this.memory.byAlias(aliasOf(request), now));
    if (known !== undefined && this.repeat(known, contentHash, request, reply)) return;
    this.retryBudget.add(now);

    const parent =
      envelope.parentId === undefined ? undefined : (this.open(envelope.parentId) ?? this.parentOf(envelope.parentId));
    const resolution = this.catalog.resolve(wantedBy(request));
    const offer = resolution.ok ? (resolution.resolved.offers[0] ?? resolution.resolved.gone[0]) : undefined;
    const timeoutMs = envelope.timeoutMs ?? offer?.capability.timeoutHintMs ?? this.settings.timeoutMs;
    const capability = resolution.ok ? resolution.resolved.name : (envelope.capability ?? envelope.intent ?? "");
    const deadline = Math.min(now + timeoutMs, parent?.deadline ?? Number.POSITIVE_INFINITY);
    const call = this.take(request, capability, contentHash, parent, timeoutMs, deadline, reply);
    const refusal = resolution.ok ? this.objection(call, request, offer) : resolution.error;
    if (refusal !== undefined) return this.fail(call, refusal);
    if (resolution.ok && envelope.dryRun === true) return this.tryDry(call, request, resolution.resolved, reply);
    const sent = resolution.ok && this.attempt(call, resolution.resolved);
    if (!sent) this.enqueue(call);
  }

  /** A call in flight. */
  open(messageId: string): Call | undefined {
    return this.memory.open(messageId);
  }

  private take(
    request: MessageRequest,
    capability: string,
    contentHash: number,
    parent: Parent | undefined,
    timeoutMs: number,
    deadline: number,
    reply: Reply,
  ): Call {
    const { envelope, caller } = request;
    const log = this.journal.open(request.messageId, request.traceId, "call", capability, envelope.parentId);
    this.journal.add(
      log,
      "received",
      undefined,
      0,
      request.externalTraceId === undefined ? undefined : { externalTraceId: request.externalTraceId },
      log.startedAt,
    );
    const call = new Call(
      this,
      request,
      request.messageId,
      request.traceId,
      caller.tenant,
      caller.principal,
      capability,
      contentHash,
      envelope.idempotencyKey ?? request.messageId,
      chainOf(parent),
      parent,
      deadline,
      timeoutMs,
      log,
      reply,
    );
    if (envelope.idempotencyKey !== undefined) call.alias = aliasOf(request);
    this.counts.started++;
    this.counts.inFlight++;
    this.memory.add(call);
    return call;
  }

  /** What stands against a call before anybody is looked for. */
  private objection(call: Call, request: MessageRequest, offer: Offer | undefined): ReachError | undefined {
    const violation = offer?.contract.checkInput?.(request.input);
    if (violation !== undefined) return invalidInput(call.capability, violation);
    return this.objectionToNesting(call, request, offer) ?? this.admission.enter(call);
  }

  private objectionToNesting(
    call: Call,
    { envelope }: MessageRequest,
    offer: Offer | undefined,
  ): ReachError | undefined {
    const { parentId, target } = envelope;
    if (parentId === undefined) return undefined;
    if (call.parent !== undefined)
      return loopIn(call.parent, call.chain, call.capability, target && offer?.instance.record.agentId, call.inputHash);
    const over = this.find(parentId);
    const code = over instanceof SettledCall ? over.error?.code : undefined;
    return code === undefined || code === "AGENT_ERROR" ? undefined : parentOver(parentId, code);
  }

  /** Decides and says so, without sending. */
  private tryDry(call: Call, request: MessageRequest, resolved: Resolved, reply: Reply): void {
    const { envelope, messageId, traceId } = request;
    const decision = this.router.decide(resolved, demandsOf(envelope), requestOf(envelope), call.log, 1);
    this.counts.completed++;
    this.settle(call, this.system.monotonic(), undefined, undefined, undefined).forget();
    reply.result(JSON.stringify({ messageId, traceId, dryRun: true, decision: decision.toShape() }));
  }

  /** Answers whether the repeated message needs nothing more: it joins, or gets the answer that was given. */
  private repeat(known: Call | SettledCall, contentHash: number, request: MessageRequest, reply: Reply): boolean {
    assertMayTouch(request.caller, known);
    if (known.contentHash !== contentHash) {
      throw usedBefore(known.messageId);
    }
    if (known instanceof Call) {
      known.joined ??= [];
      known.joined.push(reply);
    } else if (known.data !== undefined) reply.result(known.answer());
    // Only what may have succeeded is remembered: a refusal or a business error may well end otherwise this time.
    else if (known.error!.outcome !== "unknown") return false;
    else reply.error(ReachError.fromBody(known.error!));
    return true;
  }

  /** Tries to find somebody for a call that is waiting; answers whether it waits no longer. */
  retry(call: Call): boolean {
    if (call.state === "settled") return true;
    const resolution = this.catalog.resolve(wantedBy(call.request));
    if (resolution.ok) return this.attempt(call, resolution.resolved) || this.changesLine(call);
    this.fail(call, resolution.error);
    return true;
  }

  /** Whoever waits for another instance than before leaves its line, where others may be able to go. */
  private changesLine(call: Call): boolean {
    if (call.place === undefined || call.place.laneName === call.lane) return false;
    this.admission.leave(call);
    this.admission.wait(call);
    return true;
  }

  private attempt(call: Call, resolved: Resolved): boolean {
    const { request } = call;
    const { envelope } = request;
    for (;;) {
      const number = call.attempt + 1;
      const decision = this.router.decide(
        resolved,
        demandsOf(envelope),
        requestOf(envelope),
        call.log,
        number,
        call.excluded,
      );
      call.full = decision.full;
      call.waitsFor = decision.waitsFor;
      decision.previous = call.previous;
      const offer = decision.chosen;
      if (offer === undefined) {
        if (!call.inLine) this.journal.add(call.log, "waiting", undefined, number, decision);
        const refusal = decision.full ? undefined : (call.lastRefusal ?? this.inVain(call, decision, resolved.offers));
        if (refusal !== undefined) this.fail(call, refusal);
        return refusal !== undefined;
      }
      this.journal.add(call.log, "decision", offer.instance, number, decision, decision.at);
      if (this.send(call, request, offer, number)) return true;
      // Its link went this very moment, and with it the instance: somebody else, then.
      this.exclude(call, offer.instance.record.instanceId);
    }
  }

  /**
   * What to say at once when it is of no use to wait: everybody able asked for a rest that is longer than there is time, or
   * is behind an open breaker. Whoever has sent it already may still answer, and is waited for.
   */
  private inVain(call: Call, decision: Decision, offers: readonly Offer[]): ReachError | undefined {
    const now = this.system.monotonic();
    let restMs = Number.POSITIVE_INFINITY;
    let probeMs = Number.POSITIVE_INFINITY;
    for (const { instance, breaker } of offers) {
      if (instance.record.state !== "online") continue;
      if (instance.coolDownUntil > now) restMs = Math.min(restMs, instance.coolDownUntil - now);
      else if (breaker.state === "open") probeMs = Math.min(probeMs, breaker.probeInMs(now));
    }
    if (now + restMs < call.deadline) return undefined;
    if (decision.broken) return call.older === undefined ? allBroken(call.capability, probeMs, call.log) : undefined;
    return Number.isFinite(restMs) ? allResting(call.capability, restMs) : undefined;
  }

  private enqueue(call: Call): void {
    call.state = "waiting";
    if (this.admission.wait(call)) this.wheel.set(call, call.deadline);
    else this.displaced(call);
  }

  /** There is no room for it in the line. */
  displaced(call: Call): void {
    this.fail(call, lineFull(call, this.admission.waitingMax));
  }

  /** When those who wait for the same will have been served, as far as can be told. */
  retryAfterMs({ capability }: Call): number {
    return this.admission.retryAfterMs(capability);
  }

  private send(call: Call, request: MessageRequest, offer: CallAttempt["offer"], number: number): boolean {
    const { instance } = offer;
    const now = this.system.monotonic();
    const attempt = new CallAttempt(this, call, number, offer, now);
    this.admission.take(instance, now);
    this.router.breakers.sent(offer, now);
    call.attempt = number;
    call.current = attempt;
    call.state = "sent";
    call.share?.sent(now);
    // Before the message goes, since a link may answer at once; and never beyond the deadline.
    const ack = instance.link!.kind === "ws" ? this.settings.ackTimeoutMs : this.settings.slowAckTimeoutMs;
    this.wheel.set(call, Math.min(now + ack, call.deadline));
    const remaining = Math.max(1, Math.round(call.deadline - now));
    const sentAt = this.system.now();
    const taken = instance.link!.deliver(
      {
        messageId: call.messageId,
        attempt: number,
        envelope: envelopeText(call, request.sent, offer, remaining, sentAt),
      },
      attempt,
    );
    if (!taken) {
      this.release(attempt);
      call.current = undefined;
      call.state = "waiting";
      this.wheel.set(call, call.deadline);
      return false;
    }
    this.note(attempt, "delivered", undefined, sentAt);
    return true;
  }

  accepted(attempt: CallAttempt): void {
    const { call } = attempt;
    attempt.acknowledged = true;
    // One that is over already has nothing to lose.
    if (attempt.holdsSlot) attempt.offer.instance.held.add(attempt);
    this.note(attempt, "accepted");
    if (call.current !== attempt || call.state !== "sent") return;
    call.state = "accepted";
    this.wheel.set(call, call.deadline);
  }

  completed(attempt: CallAttempt, data: string, receipt: string | undefined, value: unknown): void {
    const { call, offer } = attempt;
    this.release(attempt);
    const now = this.system.monotonic();
    if (attempt.counted) offer.measured.success(now - attempt.sentAt, now);
    else this.router.breakers.succeeded(offer, attempt.sentAt, now);
    if (call.state === "settled") return this.note(attempt, "late", { outcome: "completed" });
    if (data.length * 3 > this.settings.inputBytes && Buffer.byteLength(data) > this.settings.inputBytes) {
      return this.fail(call, resultTooLarge(call.capability, Buffer.byteLength(data), this.settings.inputBytes));
    }
    const violation = offer.contract.checkOutput?.(value);
    if (violation !== undefined) this.note(attempt, "output_invalid", violation);
    if (call.current !== attempt) this.withdraw(call, "an earlier attempt succeeded");
    else if (call.older !== undefined)
      for (const other of call.older)
        other.offer.instance.link?.cancel(call.messageId, other.number, "another attempt succeeded");
    this.note(attempt, "completed");
    this.counts.completed++;
    const answer = this.settle(call, now, data, receipt, undefined, offer).answer();
    call.reply.result(answer);
    for (const reply of call.joined ?? []) reply.result(answer);
  }

  failed(attempt: CallAttempt, error: AgentErrorShape, _receipt: string | undefined): void {
    const { call, offer } = attempt;
    this.release(attempt);
    // An agent that was told to stop says so by an error, which says nothing of how it is.
    if (call.state === "settled" || call.current !== attempt) return this.note(attempt, "late", { outcome: "failed" });
    this.router.breakers.succeeded(offer, attempt.sentAt, this.system.monotonic());
    this.fail(call, agentError(call.capability, offer.instance.record.agentId, error));
  }

  refused(attempt: CallAttempt, code: string, message: string, retryAfterMs: number | undefined): void {
    const { call, offer } = attempt;
    this.release(attempt);
    this.note(attempt, "refused", { code, reason: message });
    if (!attempt.counted) this.router.breakers.refused(offer, attempt.sentAt, code, retryAfterMs);
    if (call.state === "settled" || call.current !== attempt) return;
    const { record } = offer.instance;
    if (retryAfterMs !== undefined) this.admission.rest(offer.instance, retryAfterMs);
    call.lastRefusal = refusal(record.agentId, code, message, retryAfterMs);
    call.current = undefined;
    if (++call.refusals >= REFUSALS_MAX || !this.mayTryAgain(attempt, "refused", code))
      return this.fail(call, call.lastRefusal);
    this.tryAgain(call, attempt);
  }

  /** The instance went before it answered. */
  lost(attempt: CallAttempt): void {
    const { call, offer } = attempt;
    this.note(attempt, "lost");
    if (call.state === "settled") return this.release(attempt);
    if (!attempt.counted) this.router.breakers.lost(offer, attempt.sentAt, this.system.monotonic());
    attempt.counted = true;
    if (call.current !== attempt) return;
    if (this.tryElsewhere(call, attempt, "lost")) return;
    // It may be back in a moment, with the result in its outbox.
    call.state = "orphaned";
    this.wheel.set(call, Math.min(call.deadline, this.system.monotonic() + this.settings.lostGraceMs));
  }

  onDeadline(call: Call): void {
    const now = this.system.monotonic();
    const attempt = call.current;
    const atEnd = now >= call.deadline;
    if (attempt === undefined || call.state === "waiting") return this.fail(call, nobodyInTime(call));
    const error = overdue(call, attempt, Math.round(now - attempt.sentAt));
    // One that was lost has counted already.
    if (!attempt.counted) attempt.counted = this.router.breakers.overdue(attempt, error.code, now, atEnd);
    if (call.state === "sent" && !atEnd && this.tryElsewhere(call, attempt, "no_ack")) return;
    this.fail(call, error);
  }

  /** Once more, with somebody else, where that can do no harm (C2). */
  private tryElsewhere(call: Call, attempt: CallAttempt, outcome: "refused" | "no_ack" | "lost"): boolean {
    if (!attempt.offer.idempotent || call.older !== undefined || !this.mayTryAgain(attempt, outcome)) return false;
    call.older = [attempt];
    call.lastRefusal = undefined;
    this.tryAgain(call, attempt);
    return true;
  }

  /** Whether there is a retry left for a call whose attempt ended like this. An agent that leaves in order costs none. */
  private mayTryAgain(attempt: CallAttempt, outcome: "refused" | "no_ack" | "lost", code?: string): boolean {
    if (code !== LEAVING && !this.retryBudget.take(this.system.monotonic())) {
      this.note(attempt, "not_retried", { reason: "the retry budget is spent", after: outcome });
      return false;
    }
    const { agentId, instanceId } = attempt.offer.instance.record;
    const { number } = attempt;
    attempt.call.previous = { attempt: number, agentId, instanceId, outcome, ...(code !== undefined && { code }) };
    return true;
  }

  private tryAgain(call: Call, attempt: CallAttempt): void {
    this.release(attempt);
    this.exclude(call, attempt.offer.instance.record.instanceId);
    if (!this.retry(call)) this.enqueue(call);
    else if (call.attempt === attempt.number && call.previous?.code !== LEAVING)
      this.retryBudget.giveBack(this.system.monotonic());
  }

  /** `complete` of an agent. Answers what it is told, or undefined if there is no such call here. */
  complete(
    messageId: string,
    instanceId: string,
    number: number,
    finish: (attempt: CallAttempt) => void,
  ): "recorded" | "SETTLED" | "STALE_ATTEMPT" | undefined {
    const call = this.find(messageId);
    if (call === undefined) return undefined;
    if (call instanceof SettledCall) return "SETTLED";
    const attempt = call.current?.number === number ? call.current : call.older?.find((a) => a.number === number);
    if (attempt === undefined || attempt.offer.instance.record.instanceId !== instanceId) return "STALE_ATTEMPT";
    const older = attempt !== call.current;
    finish(attempt);
    return older && !this.isSettled(call) ? "STALE_ATTEMPT" : "recorded";
  }

  progress(messageId: string, instanceId: string | undefined, json: string): void {
    const call = this.open(messageId);
    const attempt = call?.current;
    if (call === undefined || attempt === undefined) return;
    if (instanceId !== undefined && attempt.offer.instance.record.instanceId !== instanceId) return;
    this.journal.progress(call.log, attempt.offer.instance, attempt.number, {});
    call.reply.progress?.(json);
    for (const reply of call.joined ?? []) reply.progress?.(json);
  }

  /** A call that this caller may see, while it is remembered. */
  lookUp(caller: Caller, messageId: string): Call | SettledCall | undefined {
    const call = this.find(messageId);
    if (call !== undefined) assertMayTouch(caller, call);
    return call;
  }

  /** A draining instance gives back what it has not begun. */
  handBack(messageId: string, instanceId: string, number: number): void {
    const attempt = this.open(messageId)?.current;
    if (attempt === undefined || attempt.number !== number || attempt.offer.instance.record.instanceId !== instanceId)
      return;
    attempt.refused(LEAVING, "handed back by a draining instance", undefined);
  }

  /** Undefined when there is no such call here. */
  cancel(caller: Caller, messageId: string, reason: string): Call | SettledCall | undefined {
    const call = this.find(messageId);
    if (call === undefined) return undefined;
    assertMayTouch(caller, call);
    if (call instanceof SettledCall) return call;
    const outcome: Outcome = call.current === undefined ? "not_executed" : "unknown";
    this.fail(call, new ReachError("CANCELED", `the call was canceled: ${reason}`, { outcome }));
    return this.find(messageId);
  }

  /** The node stops: whoever still waits is told that it may ask elsewhere. */
  stop(): void {
    for (const call of this.memory.underway()) {
      const outcome: Outcome = call.attempt === 0 ? "not_executed" : "unknown";
      this.fail(call, nodeStops(outcome));
    }
  }

  private fail(call: Call, reason: Error): void {
    if (call.state === "settled") return;
    const error = call.older === undefined ? reason : inDoubt(reason);
    const code = error instanceof ReachError ? error.code : "INTERNAL";
    if (code !== "AGENT_ERROR") this.withdraw(call, error.message);
    this.journal.add(
      call.log,
      code === "CANCELED" ? "canceled" : "failed",
      call.current?.offer.instance,
      call.attempt,
      { code, message: error.message },
    );
    // Failures stay readable on disk, except those of messages that never got anywhere.
    if (call.attempt > 0 || call.inLine) this.journal.keep(call.log);
    this.counts.failed++;
    this.settle(call, this.system.monotonic(), undefined, undefined, bodyOf(error));
    call.reply.error(error);
    for (const reply of call.joined ?? []) reply.error(error);
  }

  private settle(
    call: Call,
    settledAt: number,
    data: string | undefined,
    receipt: string | undefined,
    error: ErrorBody | undefined,
    offer = call.current?.offer,
  ): SettledCall {
    if (call.inLine) this.admission.leave(call);
    call.share?.leave(settledAt);
    call.state = "settled";
    this.counts.inFlight--;
    this.wheel.clear(call);
    const { log, request, contentHash, alias, attempt, timeoutMs } = call;
    const settled = new SettledCall(
      log,
      request.caller,
      contentHash,
      alias,
      attempt,
      timeoutMs,
      offer,
      data,
      receipt,
      error,
      settledAt,
    );
    log.subject = settled;
    if (this.journal.shelve(log)) this.memory.left(call);
    else this.memory.settled(settled, data?.length ?? 0);
    return settled;
  }

  private note(attempt: CallAttempt, type: string, detail?: object, at = this.system.now()): void {
    this.journal.add(attempt.call.log, type, attempt.offer.instance, attempt.number, detail, at);
  }

  /** Tells whoever works on it that nobody waits any longer. */
  private withdraw(call: Call, reason: string): void {
    const attempt = call.current;
    if (attempt === undefined || call.state === "waiting") return;
    this.release(attempt);
    attempt.offer.instance.link?.cancel(call.messageId, attempt.number, reason);
  }

  private release(attempt: CallAttempt): void {
    if (!attempt.holdsSlot) return;
    attempt.holdsSlot = false;
    this.router.breakers.over(attempt.offer, attempt.sentAt);
    const { instance } = attempt.offer;
    if (instance.held.size > 0) instance.held.delete(attempt);
    this.admission.give(instance);
    attempt.call.share?.over(attempt.sentAt, this.system.monotonic(), attempt.answered);
  }

  private exclude(call: Call, instanceId: string): void {
    call.excluded ??= new Set();
    call.excluded.add(instanceId);
  }

  private isSettled(call: Call): boolean {
    return call.state === "settled";
  }
}

export function wantedBy({ caller, envelope }: MessageRequest) {
  return {
    tenant: caller.tenant,
    capability: envelope.capability,
    intent: envelope.intent,
    agentId: envelope.target?.agentId,
    instanceId: envelope.target?.instanceId,
  };
}
