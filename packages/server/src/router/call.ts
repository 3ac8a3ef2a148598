import type { AgentErrorShape, Outcome, ReachError } from "@agent-reach/protocol";
import { callerKeyOf } from "../access/access.js";
import type { MessageLog } from "../journal/journal.js";
import type { Expiry, Receiver } from "../ports/delivery.js";
import type { LiveInstance, Offer } from "../registry/instance.js";
import type { WheelEntry } from "../time/wheel.js";
import type { Applicant, Waiter } from "./admission.js";
import type { Share } from "./bulkhead.js";
import type { CallSender } from "./call-sender.js";
import type { Hop, Parent } from "./chain.js";
import type { Child } from "./children.js";
import { fingerprintOf } from "./content.js";
import type { Previous } from "./decision.js";
import type { Fallback } from "./fallback.js";
import type { Place } from "./line.js";
import { laneAt, laneOf, type MessageRequest, type Reply } from "./message.js";

/**
 * One call, from its arrival until it is forgotten. What happens to it is decided in `CallSender` and `CallEndings`; this is what it knows.
 *
 *   waiting ──▶ sent ──▶ accepted ──▶ settled       sent/accepted ── lost ──▶ waiting (idempotent, once) or orphaned
 */
export type CallState = "waiting" | "sent" | "accepted" | "orphaned" | "settled";

/** Before anybody stands in. */
const NOBODY = -1;

export class Call implements WheelEntry, Waiter, Applicant, Parent, Child {
  wheelSlot: WheelEntry["wheelSlot"];
  wheelNext: WheelEntry | undefined;
  wheelPrev: WheelEntry | undefined;

  readonly kind = "call";
  state: CallState = "waiting";
  place: Place | undefined;
  share: Share | undefined;
  attempt = 0;
  current: CallAttempt | undefined;
  /** Attempts whose outcome nobody knows; their late success still counts. */
  older: CallAttempt[] | undefined;
  excluded: Set<string> | undefined;
  refusals = 0;
  lastRefusal: ReachError | undefined;
  /** How the attempt before the next one ended. */
  previous: Previous | undefined;
  /** Why it waits, should the deadline come meanwhile. */
  full = false;
  /** The one instance that it waits for, if its session is at home there. */
  waitsFor: LiveInstance | undefined;
  /** Who may stand in (RES-9), and which of them is being asked. */
  fallback: Fallback | undefined;
  standIn = NOBODY;
  /** The business error for which those that it was meant for were given up. */
  givenUp: ReachError | undefined;
  parents: string[] | undefined;
  /** Others who sent the same message while it is in flight. */
  joined: Reply[] | undefined;
  /** Under which it is remembered besides its id: its idempotencyKey, where it gave one. */
  alias: string | undefined;

  constructor(
    private readonly sender: CallSender,
    readonly request: MessageRequest,
    readonly messageId: string,
    readonly traceId: string,
    readonly tenant: string,
    readonly principal: string,
    public capability: string,
    readonly contentHash: number,
    readonly idempotencyKey: string,
    readonly chain: readonly Hop[],
    readonly parent: Parent | undefined,
    /** Monotonic ms. */
    public deadline: number,
    public timeoutMs: number,
    readonly log: MessageLog,
    readonly reply: Reply,
  ) {}

  /** What it asks for in words was read after it came. */
  understood(capability: string, timeoutMs: number, deadline: number): void {
    this.capability = capability;
    this.log.capability = capability;
    this.timeoutMs = timeoutMs;
    this.deadline = deadline;
  }

  get source(): { readonly agentId?: string } {
    return this.request.caller.source;
  }

  get sourceJson(): string {
    return this.request.caller.sourceJson;
  }

  get inLine(): boolean {
    return this.place !== undefined;
  }

  get callerKey(): string {
    return callerKeyOf(this.request.caller);
  }

  /** Whoever may not go to everybody stands in a line of its own, so as not to hold up those who may. */
  get lane(): string {
    const lane = laneAt(laneOf(this.capability, this.request.envelope), this.waitsFor);
    return this.excluded === undefined ? lane : JSON.stringify([lane, ...this.excluded]);
  }

  get inputHash(): number {
    return fingerprintOf(undefined, undefined, this.request.input, this.request.sent.inputText);
  }

  /** What may be concluded if nobody waits for it from now on. */
  get outcomeIfLeft(): Outcome {
    return this.current === undefined ? "not_executed" : "unknown";
  }

  get worker(): string | undefined {
    return this.current?.offer.instance.record.agentId;
  }

  retry(): boolean {
    return this.sender.retry(this);
  }

  get retryAfterMs(): number {
    return this.sender.retryAfterMs(this);
  }

  displaced(): void {
    this.sender.displaced(this);
  }

  onDeadline(): void {
    this.sender.onDeadline(this);
  }
}

/** One delivery of a call. Its slot is given back once, whoever ends it. */
export class CallAttempt implements Receiver {
  holdsSlot = true;
  acknowledged = false;
  /** Its agent came to an end with it, well or not: how long that took is how fast the capability is. */
  answered = false;
  /** Whether it has counted as a failure of the instance: what comes of it later does not count a second time. */
  counted = false;
  /** Whether it is somebody who stands in. */
  readonly degraded: boolean;
  /** Of what its caller has in flight it is a part. */
  readonly share: Share | undefined;
  /** What of its way took too long. */
  expiry: Expiry | undefined;

  constructor(
    private readonly sender: CallSender,
    readonly call: Call,
    readonly number: number,
    readonly offer: Offer,
    /** Monotonic ms. */
    readonly sentAt: number,
  ) {
    this.degraded = call.standIn !== NOBODY;
    this.share = call.share;
  }

  accepted(): void {
    this.sender.accepted(this);
  }

  completed(data: string, receipt: string | undefined, value: unknown): void {
    this.answered = true;
    this.sender.completed(this, data, receipt, value);
  }

  failed(error: AgentErrorShape, receipt: string | undefined): void {
    this.answered = true;
    this.sender.failed(this, error, receipt);
  }

  refused(code: string, message: string, retryAfterMs: number | undefined, expiry?: Expiry): void {
    this.expiry = expiry;
    this.sender.refused(this, code, message, retryAfterMs);
  }

  lost(expiry?: Expiry): void {
    this.expiry = expiry;
    this.sender.lost(this);
  }
}
