import { type ErrorBody, ReachError } from "@agent-reach/protocol";
import type { Journal } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { Wheel } from "../time/wheel.js";
import type { Admission } from "./admission.js";
import type { Breakers } from "./breakers.js";
import type { Call, CallAttempt } from "./call.js";
import { Children } from "./children.js";
import type { Memory } from "./memory.js";
import { TokenBuckets } from "./rate-limit.js";
import { inDoubt, parentOver } from "./refusals.js";
import { SettledCall } from "./settled.js";

/**
 * Failed calls of one capability and code that go to disk in a second. When somebody hangs, hundreds a second fail for the one
 * reason that these tell, and writing all of them would make those calls wait that have nothing to do with it.
 */
const STORED_PER_SEC = 20;

/** What an agent says with its no may be as large as a result. */
function sizeOf(error: ErrorBody | undefined): number {
  return error?.code === "AGENT_ERROR" ? JSON.stringify(error.details).length : 0;
}

function bodyOf(error: Error): ErrorBody {
  return (error instanceof ReachError ? error : new ReachError("INTERNAL", error.message)).toBody();
}

/**
 * How calls and their attempts end: what they hold is given back, whoever waits is answered, and what is left is kept for
 * a while.
 *
 * C1  A call settles once; whatever comes later is recorded and changes nothing.
 * C4  Each attempt holds a slot from before it is sent until it ends, and gives it back once.
 * C6  A nested call ends with its parent at the latest, whatever way that one ends (RES-3).
 */
export class CallEndings {
  readonly counts = { started: 0, completed: 0, failed: 0, inFlight: 0 };
  readonly children = new Children<Call>();
  private readonly stored = new TokenBuckets(STORED_PER_SEC);

  constructor(
    private readonly admission: Admission,
    private readonly breakers: Breakers,
    private readonly journal: Journal,
    private readonly memory: Memory<Call, SettledCall>,
    private readonly wheel: Wheel,
    private readonly system: System,
  ) {}

  /** It ends with the result of an attempt. */
  complete({ call, offer, degraded }: CallAttempt, data: string, receipt: string | undefined, now: number): void {
    this.counts.completed++;
    const answer = this.settle(call, now, data, receipt, undefined, offer, degraded).answer();
    call.reply.result(answer);
    for (const reply of call.joined ?? []) reply.result(answer);
    this.endWithin(call.messageId, undefined);
  }

  /** It ends without a result. */
  fail(call: Call, reason: Error): void {
    if (call.state === "settled") return;
    const error = call.older === undefined ? reason : inDoubt(reason);
    const code = error instanceof ReachError ? error.code : "INTERNAL";
    if (code !== "AGENT_ERROR") this.withdraw(call, error.message);
    this.withdrawOlder(call, error.message);
    this.journal.add(
      call.log,
      code === "CANCELED" ? "canceled" : "failed",
      call.current?.offer.instance,
      call.attempt,
      { code, message: error.message },
    );
    const now = this.system.monotonic();
    this.store(call, code, now);
    this.counts.failed++;
    this.settle(call, now, undefined, undefined, bodyOf(error));
    call.reply.error(error);
    for (const reply of call.joined ?? []) reply.error(error);
    this.endWithin(call.messageId, code);
  }

  /** Failures stay readable on disk, except those of messages that never got anywhere, and all but the first of a flood. */
  private store(call: Call, code: string, now: number): void {
    if (call.attempt === 0 && !call.inLine) return;
    const kind = `${code} ${call.log.capability}`;
    if (this.stored.waitMs(kind, now) > 0) return;
    this.stored.sweep(now);
    this.stored.take(kind, now);
    this.journal.keep(call.log);
  }

  /** A message ended, by this code or with a result: so do the calls that are part of it, and those that are part of them. */
  endWithin(messageId: string, code: string | undefined): void {
    const left = this.children.leave(messageId);
    if (left.length === 0) return;
    const now = this.system.monotonic();
    for (const call of left) {
      // Parent and child have the same deadline as a rule; whichever is looked at first, the child's agent was too slow.
      if (call.deadline <= now) call.onDeadline();
      else this.fail(call, parentOver(messageId, code, call.outcomeIfLeft));
    }
  }

  /** Whatever way it ended: nothing of it is in flight any more. */
  settle(
    call: Call,
    settledAt: number,
    data: string | undefined,
    receipt: string | undefined,
    error: ErrorBody | undefined,
    offer = call.current?.offer,
    degraded = false,
  ): SettledCall {
    if (call.inLine) this.admission.leave(call);
    call.share?.leave(settledAt);
    call.state = "settled";
    this.counts.inFlight--;
    this.children.remove(call);
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
      degraded,
    );
    log.subject = settled;
    if (this.journal.shelve(log)) this.memory.left(call);
    else this.memory.settled(settled, data?.length ?? sizeOf(error));
    return settled;
  }

  note(attempt: CallAttempt, type: string, detail?: object, at = this.system.now()): void {
    this.journal.add(attempt.call.log, type, attempt.offer.instance, attempt.number, detail, at);
  }

  /** Tells whoever works on it that nobody waits any longer. */
  withdraw(call: Call, reason: string): void {
    const attempt = call.current;
    if (attempt === undefined || call.state === "waiting") return;
    this.release(attempt);
    attempt.offer.instance.link?.cancel(call.messageId, attempt.number, reason);
  }

  /** The same to those who may still work on an earlier attempt. */
  withdrawOlder(call: Call, reason: string): void {
    if (call.older === undefined) return;
    for (const { offer, number } of call.older) offer.instance.link?.cancel(call.messageId, number, reason);
  }

  /** Gives back what the attempt holds, once. */
  release(attempt: CallAttempt): void {
    if (!attempt.holdsSlot) return;
    attempt.holdsSlot = false;
    this.breakers.over(attempt.offer, attempt.sentAt);
    const { instance } = attempt.offer;
    if (instance.held.size > 0) instance.held.delete(attempt);
    this.admission.give(instance);
    attempt.share?.over(attempt.sentAt, this.system.monotonic(), attempt.answered);
  }
}
