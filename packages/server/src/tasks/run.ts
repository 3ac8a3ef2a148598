import type { AgentErrorShape, Receipt } from "@agent-reach/protocol";
import type { MessageLog } from "../journal/journal.js";
import type { Expiry, Receiver } from "../ports/delivery.js";
import type { TaskRecord } from "../ports/task-store.js";
import type { Offer } from "../registry/instance.js";
import type { Hop, Parent } from "../router/chain.js";
import { fingerprintOf } from "../router/content.js";
import type { WheelEntry } from "../time/wheel.js";
import type { Losses } from "./losses.js";
import type { Results } from "./results.js";

/** Who hears what becomes of a run. */
export interface RunOwner {
  readonly results: Results;
  readonly losses: Losses;
  parentOf(messageId: string): Parent | undefined;
}

/** A task that some instance has in its hands: what the node remembers of it beyond the record. */
export class TaskRun implements Receiver, WheelEntry, Parent {
  wheelSlot: WheelEntry["wheelSlot"];
  wheelNext: WheelEntry | undefined;
  wheelPrev: WheelEntry | undefined;
  holdsSlot = false;
  /** Until when (monotonic ms) it is not to be judged as overdue, whatever the wall clock says: its agent still has time. */
  patienceUntil = 0;
  acknowledged = false;
  /** Monotonic ms since when its agent has it: sent, later fetched or accepted. */
  begunAt: number;
  /** Whether its outcome has counted for the instance: what comes of it later does not count a second time. */
  counted = false;
  /** Changes of one task are written one after another. */
  turn: Promise<unknown> | undefined;
  /** Who has it. */
  readonly instanceId: string;
  readonly epoch: number;

  constructor(
    private readonly owner: RunOwner,
    public record: TaskRecord,
    readonly attempt: number,
    /** Undefined after a restart: which offer it was is not kept. */
    readonly offer: Offer | undefined,
    readonly log: MessageLog,
    /** Monotonic ms. */
    readonly sentAt: number,
  ) {
    const { instanceId, epoch } = record.attempts[record.attempts.length - 1]!;
    this.instanceId = instanceId;
    this.epoch = epoch;
    this.begunAt = sentAt;
  }

  get messageId(): string {
    return this.record.messageId;
  }
  get traceId(): string {
    return this.record.traceId;
  }
  get capability(): string {
    return this.record.capability;
  }
  get inputHash(): number {
    const { input } = this.record;
    return fingerprintOf(undefined, undefined, JSON.parse(input), input);
  }
  /** What it was submitted for, if that is not over. */
  get parent(): Parent | undefined {
    const { parentId } = this.record.request;
    return parentId === undefined ? undefined : this.owner.parentOf(parentId);
  }
  get source(): { agentId?: string } {
    return this.record.request.source;
  }
  get chain(): readonly Hop[] {
    return this.record.request.chain ?? [];
  }
  get worker(): string | undefined {
    return this.record.agentId;
  }
  /** Calls for its sake end then: when it is taken for overdue itself. */
  get deadline(): number {
    return this.begunAt + this.record.request.completionTimeoutMs;
  }
  /** Whether it was in somebody's hands already when this node started. */
  get recovered(): boolean {
    return this.offer === undefined;
  }

  onDeadline(): void {
    this.owner.losses.giveUp(this);
  }

  accepted(): void {
    this.owner.results.accepted(this);
  }

  completed(data: string, receipt: string | undefined): Promise<void> {
    return this.owner.results.answered(this, { data, receipt: parseReceipt(receipt) });
  }

  failed(error: AgentErrorShape, receipt: string | undefined): Promise<void> {
    return this.owner.results.answered(this, { error, receipt: parseReceipt(receipt) });
  }

  refused(code: string, message: string, retryAfterMs: number | undefined, expiry?: Expiry): void {
    this.owner.results.refused(this, code, message, retryAfterMs, expiry);
  }

  sent(): void {
    this.owner.results.pulled(this);
  }

  lost(expiry?: Expiry): void {
    if (expiry === undefined) this.owner.losses.lost(this);
    else this.owner.results.expired(this, expiry);
  }
}

export function parseReceipt(json: string | undefined): Receipt | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Receipt);
}
