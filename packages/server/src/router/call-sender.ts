import type { AgentErrorShape, ReachError } from "@agent-reach/protocol";
import type { Catalog } from "../catalog/catalog.js";
import type { Resolved } from "../catalog/found.js";
import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { Offer } from "../registry/instance.js";
import type { Wheel } from "../time/wheel.js";
import { type AckSettings, ackWaitMs } from "./ack-wait.js";
import type { Admission } from "./admission.js";
import { type Call, CallAttempt } from "./call.js";
import type { CallEndings } from "./call-endings.js";
import { loopIn } from "./chain.js";
import type { Decision } from "./decision.js";
import { envelopeText } from "./envelope.js";
import { agentNamed, demandsOnStandIn, standIns } from "./fallback.js";
import { demandsOf, type MessageRequest, requestOf, wantedBy } from "./message.js";
import {
  agentError,
  allBroken,
  allResting,
  lineFull,
  nobodyInTime,
  overdue,
  refusal,
  resultTooLarge,
} from "./refusals.js";
import { RetryBudget } from "./retry-budget.js";
import type { Router } from "./router.js";

export interface SenderSettings extends AckSettings {
  lostGraceMs: number;
  inputBytes: number;
}

/** Refusals after which a call stops looking for somebody else. */
const REFUSALS_MAX = 3;
/** What an agent says, or is said of it, that goes and takes nothing new. */
export const LEAVING = "DRAINING";
/** Errors after which somebody may stand in: nothing was executed, and another may be able. */
const STANDS_IN_ON: ReadonlySet<string> = new Set(["NO_ROUTE", "UNAVAILABLE", "BUSY", "OVERLOADED"]);

/**
 * Sends calls to agents, and hears what comes of each attempt.
 *
 * C2  A call is sent again only if surely nothing was executed (a refusal), or once more if the outcome is unknown and the
 *     capability says that it is idempotent (DLV-6); and only within the retry budget (RES-2).
 * C3  The success of any attempt settles it while it is open.
 */
export class CallSender {
  readonly retryBudget = new RetryBudget();

  constructor(
    private readonly catalog: Catalog,
    private readonly router: Router,
    private readonly admission: Admission,
    private readonly journal: Journal,
    private readonly wheel: Wheel,
    private readonly system: System,
    private readonly settings: SenderSettings,
    private readonly endings: CallEndings,
  ) {}

  /** Tries to find somebody for a call that is waiting; answers whether it waits no longer. */
  retry(call: Call): boolean {
    if (call.state === "settled") return true;
    if (call.standIn >= 0) {
      if (!this.standIn(call, call.lastRefusal?.code ?? "UNAVAILABLE", call.standIn))
        this.endings.fail(call, call.givenUp ?? call.lastRefusal ?? nobodyInTime(call));
      return true;
    }
    // What was asked for in words has been understood once: it stays meant, whatever comes or goes.
    const resolution = this.catalog.resolve({ ...wantedBy(call.request), capability: call.capability });
    if (resolution.ok) return this.attempt(call, resolution.resolved) || this.changesLine(call);
    this.giveUp(call, resolution.error);
    return true;
  }

  /** Whoever waits for another instance than before leaves its line, where others may be able to go. */
  private changesLine(call: Call): boolean {
    if (call.place === undefined || call.place.laneName === call.lane) return false;
    this.admission.leave(call);
    this.admission.wait(call);
    return true;
  }

  /** Gives it to somebody; answers whether it waits no longer. */
  attempt(call: Call, resolved: Resolved): boolean {
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
        if (call.fallback !== undefined && this.standIn(call, decision.full ? "BUSY" : "UNAVAILABLE")) return true;
        if (!call.inLine) this.journal.add(call.log, "waiting", undefined, number, decision);
        const refusal = decision.full ? undefined : (call.lastRefusal ?? this.inVain(call, decision, resolved.offers));
        if (refusal !== undefined) this.endings.fail(call, refusal);
        return refusal !== undefined;
      }
      this.journal.add(call.log, "decision", offer.instance, number, decision, decision.at);
      if (this.send(call, request, offer, number)) return true;
      // Its link went this very moment, and with it the instance: somebody else, then.
      this.exclude(call, offer.instance.record.instanceId);
    }
  }

  /** It cannot go on to those that it was meant for: somebody stands in, or it ends. */
  giveUp(call: Call, reason: ReachError): void {
    const { fallback } = call;
    if (fallback !== undefined && STANDS_IN_ON.has(reason.code) && call.request.envelope.dryRun !== true) {
      if (this.standIn(call, reason.code, call.standIn + 1)) return;
    }
    this.endings.fail(call, call.givenUp ?? reason);
  }

  /**
   * Sends it to the first who may stand in and is able to, now (RES-9). Nobody else is asked afterwards but those who come
   * later in the list. Answers whether that was done.
   */
  private standIn(call: Call, because: string, from = 0): boolean {
    const { request, tenant, capability } = call;
    const demands = demandsOnStandIn(demandsOf(request.envelope));
    const { names } = call.fallback!;
    for (const { index, name, resolved } of standIns(
      this.catalog,
      tenant,
      capability,
      names,
      from,
      () => request.input,
    )) {
      if (loopIn(call.parent, call.chain, resolved.name, agentNamed(resolved), call.inputHash) !== undefined) continue;
      const asked = { ...requestOf(request.envelope), standIn: name };
      const number = call.attempt + 1;
      const decision = this.router.decide(resolved, demands, asked, call.log, number, call.excluded);
      decision.previous = call.previous;
      const offer = decision.chosen;
      if (offer === undefined || !this.admission.move(call, resolved.name)) continue;
      const before = call.standIn;
      call.standIn = index;
      this.journal.add(call.log, "fallback", undefined, number, { because, standIn: name });
      this.journal.add(call.log, "decision", offer.instance, number, decision, decision.at);
      if (this.send(call, request, offer, number)) return true;
      call.standIn = before;
      this.exclude(call, offer.instance.record.instanceId);
    }
    return false;
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

  /** Nobody can take it now: it waits. */
  enqueue(call: Call): void {
    call.state = "waiting";
    if (this.admission.wait(call)) this.wheel.set(call, call.deadline);
    else this.displaced(call);
  }

  /** There is no room for it in the line. */
  displaced(call: Call): void {
    this.endings.fail(call, lineFull(call, this.admission.waitingMax));
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
    this.wheel.set(call, Math.min(now + ackWaitMs(offer, this.settings), call.deadline));
    const remaining = Math.max(1, Math.round(call.deadline - now));
    const sentAt = this.system.now();
    const taken = instance.link!.deliver(
      {
        messageId: call.messageId,
        attempt: number,
        envelope: envelopeText(call, request.sent, offer, remaining, sentAt),
        timeoutMs: remaining,
        hintMs: offer.capability.timeoutHintMs,
      },
      attempt,
    );
    if (!taken) {
      this.endings.release(attempt);
      call.current = undefined;
      call.state = "waiting";
      this.wheel.set(call, call.deadline);
      return false;
    }
    this.endings.note(attempt, "delivered", undefined, sentAt);
    if (call.inLine && call.current === attempt) this.admission.leave(call);
    return true;
  }

  accepted(attempt: CallAttempt): void {
    const { call } = attempt;
    attempt.acknowledged = true;
    // One that is over already has nothing to lose.
    if (attempt.holdsSlot) attempt.offer.instance.held.add(attempt);
    this.endings.note(attempt, "accepted");
    if (call.current !== attempt || call.state !== "sent") return;
    call.state = "accepted";
    this.wheel.set(call, call.deadline);
  }

  completed(attempt: CallAttempt, data: string, receipt: string | undefined, value: unknown): void {
    const { call, offer } = attempt;
    this.endings.release(attempt);
    const now = this.system.monotonic();
    if (attempt.counted) offer.measured.success(now - attempt.sentAt, now);
    else this.router.breakers.succeeded(offer, attempt.sentAt, now);
    if (call.state === "settled") return this.endings.note(attempt, "late", { outcome: "completed" });
    if (data.length * 3 > this.settings.inputBytes && Buffer.byteLength(data) > this.settings.inputBytes) {
      return this.endings.fail(
        call,
        resultTooLarge(call.capability, Buffer.byteLength(data), this.settings.inputBytes),
      );
    }
    const violation = offer.contract.checkOutput?.(value);
    if (violation !== undefined) this.endings.note(attempt, "output_invalid", violation);
    if (call.current !== attempt) this.endings.withdraw(call, "an earlier attempt succeeded");
    else this.endings.withdrawOlder(call, "another attempt succeeded");
    this.endings.note(attempt, "completed");
    this.endings.complete(attempt, data, receipt, now);
  }

  failed(attempt: CallAttempt, error: AgentErrorShape, _receipt: string | undefined): void {
    const { call, offer } = attempt;
    this.endings.release(attempt);
    // An agent that was told to stop says so by an error, which says nothing of how it is.
    if (call.state === "settled" || call.current !== attempt)
      return this.endings.note(attempt, "late", { outcome: "failed" });
    this.router.breakers.succeeded(offer, attempt.sentAt, this.system.monotonic());
    const reason = agentError(offer.capability.name, offer.instance.record.agentId, error);
    if (error.code === undefined || call.fallback?.codes.includes(error.code) !== true)
      return this.endings.fail(call, reason);
    // Whoever said no did its work: only somebody else may say otherwise.
    call.givenUp ??= reason;
    call.current = undefined;
    if (!this.standIn(call, error.code, call.standIn + 1)) this.endings.fail(call, call.givenUp);
  }

  refused(attempt: CallAttempt, code: string, message: string, retryAfterMs: number | undefined): void {
    const { call, offer } = attempt;
    this.endings.release(attempt);
    this.endings.note(attempt, "refused", { code, reason: message });
    if (!attempt.counted) this.router.breakers.refused(offer, attempt.sentAt, code, retryAfterMs);
    if (call.state === "settled") return;
    // What was refused was not executed: no doubt about it is left.
    if (call.older?.includes(attempt)) call.older = undefined;
    if (call.current !== attempt) return;
    const { record } = offer.instance;
    if (retryAfterMs !== undefined) this.admission.rest(offer.instance, retryAfterMs);
    call.lastRefusal = refusal(record.agentId, code, message, retryAfterMs, attempt.expiry);
    call.current = undefined;
    // It was given up before it said so, and somebody else is waited for.
    if (call.inLine) return;
    if (++call.refusals >= REFUSALS_MAX || !this.mayTryAgain(attempt, "refused", code))
      return this.giveUp(call, call.lastRefusal);
    this.tryAgain(call, attempt);
  }

  /** The instance went before it answered, or had its time. */
  lost(attempt: CallAttempt): void {
    const { call, offer, expiry } = attempt;
    const now = this.system.monotonic();
    this.endings.note(attempt, "lost", expiry);
    if (call.state === "settled") return this.endings.release(attempt);
    const { breakers } = this.router;
    // The total is the sender's own time, and may be shorter than the work usually takes.
    const hasty = expiry?.phase === "total";
    if (!attempt.counted && hasty) breakers.overdue(attempt, "DELIVERY_TIMEOUT", now, true);
    else if (!attempt.counted) breakers.lost(offer, attempt.sentAt, now);
    attempt.counted = true;
    if (call.current !== attempt || call.inLine) return;
    if (!hasty && this.tryElsewhere(call, attempt, "lost")) return;
    if (expiry !== undefined) return this.endings.fail(call, overdue(call, attempt, Math.round(now - attempt.sentAt)));
    // It may be back in a moment, with the result in its outbox.
    call.state = "orphaned";
    this.wheel.set(call, Math.min(call.deadline, this.system.monotonic() + this.settings.lostGraceMs));
  }

  onDeadline(call: Call): void {
    const now = this.system.monotonic();
    const attempt = call.current;
    const atEnd = now >= call.deadline;
    if (attempt === undefined || call.state === "waiting") return this.endings.fail(call, nobodyInTime(call));
    const waitedMs = Math.round(now - attempt.sentAt);
    if (atEnd && attempt.offer.instance.link?.kind === "http") attempt.expiry ??= { phase: "total", limitMs: waitedMs };
    const error = overdue(call, attempt, waitedMs);
    // One that was lost has counted already.
    if (!attempt.counted) attempt.counted = this.router.breakers.overdue(attempt, error.code, now, atEnd);
    if (call.state === "sent" && !atEnd && this.tryElsewhere(call, attempt, "no_ack")) return;
    this.endings.fail(call, error);
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
      this.endings.note(attempt, "not_retried", { reason: "the retry budget is spent", after: outcome });
      return false;
    }
    const { agentId, instanceId } = attempt.offer.instance.record;
    const { number } = attempt;
    attempt.call.previous = { attempt: number, agentId, instanceId, outcome, ...(code !== undefined && { code }) };
    return true;
  }

  private tryAgain(call: Call, attempt: CallAttempt): void {
    this.endings.release(attempt);
    this.exclude(call, attempt.offer.instance.record.instanceId);
    if (!this.retry(call)) this.enqueue(call);
    else if (call.attempt === attempt.number && call.previous?.code !== LEAVING)
      this.retryBudget.giveBack(this.system.monotonic());
  }

  private exclude(call: Call, instanceId: string): void {
    call.excluded ??= new Set();
    call.excluded.add(instanceId);
  }
}
