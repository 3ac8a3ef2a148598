import { type Outcome, ReachError } from "@agent-reach/protocol";
import { assertMayTouch, type Caller } from "../access/access.js";
import type { Advice } from "../catalog/advice.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Resolution, Resolved } from "../catalog/found.js";
import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { Offer } from "../registry/instance.js";
import type { Wheel } from "../time/wheel.js";
import type { Admission } from "./admission.js";
import { Call, type CallAttempt } from "./call.js";
import { CallEndings } from "./call-endings.js";
import { CallSender, LEAVING, type SenderSettings } from "./call-sender.js";
import { chainOf, loopIn, type Parent } from "./chain.js";
import { fingerprintOf } from "./content.js";
import { fallbackOf } from "./fallback.js";
import { Memory } from "./memory.js";
import { demandsOf, type MessageRequest, type Reply, requestOf, wantedBy } from "./message.js";
import { invalidInput, nodeStops, parentOver, usedBefore } from "./refusals.js";
import type { RetryBudget } from "./retry-budget.js";
import type { Router } from "./router.js";
import { SettledCall } from "./settled.js";

export interface CallSettings extends SenderSettings {
  timeoutMs: number;
  rememberMs: number;
  messagesMax: number;
}

interface Terms {
  readonly capability: string;
  readonly timeoutMs: number;
  /** Monotonic ms. */
  readonly deadline: number;
}

/** Any offer of what was found; they agree on what a capability asks of its callers. */
function offerOf(resolution: Resolution | undefined): Offer | undefined {
  return resolution?.ok === true ? (resolution.resolved.offers[0] ?? resolution.resolved.gone[0]) : undefined;
}

/** Under which a call is remembered besides its id. */
function aliasOf({ caller, envelope }: MessageRequest): string {
  return `${caller.tenant}/${caller.principal}/${envelope.idempotencyKey}`;
}

/**
 * Calls in flight: request and response, nothing stored. Here they come in, and are asked for; `CallSender` brings them to
 * an agent, `CallEndings` ends them.
 *
 * C5  A message that comes again joins the one in flight, or gets the answer that was given (DLV-7).
 */
export class Calls {
  private readonly memory: Memory<Call, SettledCall>;
  private readonly endings: CallEndings;
  private readonly sender: CallSender;
  readonly counts: CallEndings["counts"];
  readonly retryBudget: RetryBudget;

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
    this.endings = new CallEndings(admission, router.breakers, journal, this.memory, wheel, system);
    this.sender = new CallSender(catalog, router, admission, journal, wheel, system, settings, this.endings);
    this.counts = this.endings.counts;
    this.retryBudget = this.sender.retryBudget;
  }

  /** A call in flight, or what is left of one. */
  find(messageId: string, now = this.system.monotonic()): Call | SettledCall | undefined {
    return this.memory.get(messageId, now);
  }

  /** `takesNew`: false while the node drains, which still answers what it was asked before. */
  start(request: MessageRequest, reply: Reply, takesNew = true): void {
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
    if (!takesNew) throw nodeStops("not_executed");
    this.retryBudget.add(now);

    const parent = this.parentIn(request);
    const reading = this.consult(request, parent, now);
    if (reading === undefined) {
      const resolution = this.catalog.resolve(wantedBy(request));
      const call = this.take(request, this.termsOf(request, resolution, parent, now), contentHash, parent, reply);
      return this.route(call, request, resolution, reply);
    }
    const call = this.take(request, this.termsOf(request, undefined, parent, now), contentHash, parent, reply);
    this.wheel.set(call, call.deadline);
    reading
      .then((advice) => {
        if (this.isSettled(call)) return;
        const advised = { ...request, advice };
        const resolution = this.catalog.resolve(wantedBy(advised));
        const { capability, timeoutMs, deadline } = this.termsOf(request, resolution, parent, now);
        call.understood(capability, timeoutMs, deadline);
        this.route(call, advised, resolution, reply);
      })
      .catch((error: unknown) => {
        if (!this.isSettled(call)) this.endings.fail(call, error as Error);
      });
  }

  /** Has its words read, if that takes longer than a look into the index; it gets a part of the time that the call has. */
  private consult(request: MessageRequest, parent: Parent | undefined, now: number): Promise<Advice> | undefined {
    const { intent, matching } = request.envelope;
    if (intent === undefined) return undefined;
    const withinMs = this.termsOf(request, undefined, parent, now).deadline - now;
    return this.catalog.consult(wantedBy(request), { withinMs, isLocal: matching === "local" });
  }

  /** On which terms a request is taken: they are its capability's, once that is known. */
  private termsOf(
    { envelope }: MessageRequest,
    resolution: Resolution | undefined,
    parent: Parent | undefined,
    now: number,
  ): Terms {
    const offer = offerOf(resolution);
    const timeoutMs = envelope.timeoutMs ?? offer?.capability.timeoutHintMs ?? this.settings.timeoutMs;
    return {
      capability: resolution?.ok === true ? resolution.resolved.name : (envelope.capability ?? envelope.intent ?? ""),
      timeoutMs,
      deadline: Math.min(now + timeoutMs, parent?.deadline ?? Number.POSITIVE_INFINITY),
    };
  }

  /** Sends it to whoever it is for, or says what stands against that. */
  private route(call: Call, request: MessageRequest, resolution: Resolution, reply: Reply): void {
    const { envelope } = request;
    const offer = offerOf(resolution);
    call.fallback = fallbackOf(envelope, offer?.capability);
    const refusal = resolution.ok ? this.objection(call, request, offer) : resolution.error;
    if (refusal !== undefined) return this.sender.giveUp(call, refusal);
    if (resolution.ok && envelope.dryRun === true) return this.tryDry(call, request, resolution.resolved, reply);
    const sent = resolution.ok && this.sender.attempt(call, resolution.resolved);
    if (!sent) this.sender.enqueue(call);
  }

  /** A call in flight. */
  open(messageId: string): Call | undefined {
    return this.memory.open(messageId);
  }

  /** The message in flight that this one is part of. */
  private parentIn({ envelope: { parentId } }: MessageRequest): Parent | undefined {
    return parentId === undefined ? undefined : this.parentOf(parentId);
  }

  private take(
    request: MessageRequest,
    { capability, timeoutMs, deadline }: Terms,
    contentHash: number,
    parent: Parent | undefined,
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
      this.sender,
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
    // Also of a parent that is not in flight: a task may be on its way from one agent to the next.
    if (envelope.parentId !== undefined) this.endings.children.add(envelope.parentId, call);
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
    const code = over instanceof SettledCall ? over.error?.code : this.endings.children.endOf(parentId);
    return code === undefined || code === "AGENT_ERROR" ? undefined : parentOver(parentId, code, "not_executed");
  }

  /** A task ended, by this code if it has no result, and with it the calls that are part of it. */
  taskEnded(messageId: string, code: string | undefined): void {
    this.endings.children.taskEnded(messageId, code === "AGENT_ERROR" ? undefined : code);
    this.endings.endWithin(messageId, code);
  }

  /** Decides and says so, without sending. */
  private tryDry(call: Call, request: MessageRequest, resolved: Resolved, reply: Reply): void {
    const { envelope, messageId, traceId } = request;
    const decision = this.router.decide(resolved, demandsOf(envelope), requestOf(envelope), call.log, 1);
    this.counts.completed++;
    this.endings.settle(call, this.system.monotonic(), undefined, undefined, undefined).forget();
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
      this.shareWith(request, known);
    } else if (known.data !== undefined) reply.result(known.answer());
    else if (known.mayRunAgain(request.messageId)) return false;
    else reply.error(ReachError.fromBody(known.error!));
    return true;
  }

  /** Somebody else waits for a nested call too, who may wait longer than the message that it is part of. */
  private shareWith(request: MessageRequest, call: Call): void {
    if (call.parents === undefined) return;
    const { parentId } = request.envelope;
    if (parentId === undefined) return this.endings.children.remove(call);
    for (let at = this.parentIn(request); at !== undefined; at = at.parent) if (at === call) return;
    this.endings.children.add(parentId, call);
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
    const { outcomeIfLeft: outcome } = call;
    this.endings.fail(call, new ReachError("CANCELED", `the call was canceled: ${reason}`, { outcome }));
    return this.find(messageId);
  }

  /** The node stops: whoever still waits is told that it may ask elsewhere. */
  stop(): void {
    for (const call of this.memory.underway()) {
      const outcome: Outcome = call.attempt === 0 ? "not_executed" : "unknown";
      this.endings.fail(call, nodeStops(outcome));
    }
  }

  private isSettled(call: Call): boolean {
    return call.state === "settled";
  }
}
