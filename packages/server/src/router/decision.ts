import type { Candidate, Decision as DecisionShape, Verdict } from "@agent-reach/protocol";
import type { Described, MessageLog } from "../journal/journal.js";
import type { LiveInstance, Offer } from "../registry/instance.js";

/**
 * What was known of one candidate at the moment of choice. One is made for every candidate of every call and tens of
 * thousands are kept, so it is flat, and its fractions are whole thousandths: small integers need no box of their own.
 */
export interface Considered {
  offer: Offer;
  verdict: Verdict;
  match: number;
  /** Thousandths. */
  score: number;
  p50: number | undefined;
  success: number | undefined;
  load: number;
  health: number;
  running: number;
  queued: number;
  state: Offer["instance"]["record"]["state"];
}

/** How the attempt before this one ended, in the words of a task's attempts (`refused`, `no_ack`, `lost`, …). */
export interface Previous {
  readonly attempt: number;
  readonly agentId: string;
  readonly instanceId: string;
  readonly outcome: string;
  /** What the agent said, where it said something. */
  readonly code?: string;
}

/** Candidates listed in a decision's record; the others are counted. */
export const LISTED_MAX = 16;

/** Why this instance was chosen: the record behind `why` (ROUTE-7). Put into words when somebody asks. */
export class Decision implements Described {
  chosen: Offer | undefined;
  /** Whether anybody would have been able but for being full. */
  full = false;
  /** The home of the message's session, which is full: nobody else is asked. */
  waitsFor: LiveInstance | undefined;
  /** Whether anybody was left out because of its breaker. */
  broken = false;
  /** Whether it is sent to find out whether the one who gets it is well again. */
  probe = false;
  /** Whether it goes to somebody whose recent outcomes are bad, since nobody else is able. */
  panic = false;
  /** Undefined for a first attempt. */
  previous: Previous | undefined;
  omitted = 0;
  /** Thousandths of a millisecond. */
  took = 0;
  considered: readonly Considered[] = [];

  constructor(
    private readonly log: MessageLog,
    readonly attempt: number,
    /** Milliseconds since the message came. */
    readonly after: number,
    /** Undefined: nothing but the capability was asked for. */
    readonly request: Record<string, unknown> | undefined,
    readonly reasons: readonly string[],
  ) {}

  /** Keeps everybody who was looked at, the chosen one first, up to what a record lists. */
  list(all: Considered[], chosen: Considered | undefined): void {
    for (const { verdict } of all) {
      if (verdict === "full") this.full = true;
      else if (verdict === "breaker_open") this.broken = true;
    }
    if (all.length > 1 && chosen !== undefined) {
      all.splice(all.indexOf(chosen), 1);
      all.unshift(chosen);
    }
    this.omitted = Math.max(0, all.length - LISTED_MAX);
    this.considered = this.omitted > 0 ? all.slice(0, LISTED_MAX) : all;
  }

  /** Wall ms. */
  get at(): number {
    return this.log.startedAt + this.after;
  }

  get decisionId(): string {
    return `${this.log.messageId}-${this.attempt}`;
  }

  toShape(): DecisionShape {
    const { chosen, log, previous, waitsFor } = this;
    return {
      decisionId: this.decisionId,
      messageId: log.messageId,
      traceId: log.traceId,
      attempt: this.attempt,
      at: new Date(this.at).toISOString(),
      tookMs: this.took / 1000,
      request: this.request ?? { capability: log.capability },
      candidates: this.considered.map((c) => ({ ...describeCandidate(c, this.reasons), verdict: c.verdict })),
      ...(chosen && {
        chosen: { agentId: chosen.instance.record.agentId, instanceId: chosen.instance.record.instanceId },
      }),
      ...(waitsFor && {
        waitsFor: { agentId: waitsFor.record.agentId, instanceId: waitsFor.record.instanceId },
      }),
      ...(this.omitted > 0 && { omitted: this.omitted }),
      ...(this.probe && { probe: true }),
      ...(this.panic && { panic: true }),
      ...(previous && { previous: this.compared(previous) }),
    };
  }

  /** Whether the instance changed, and what is said of the earlier one by now: that is why (ROUTE-7). */
  private compared(previous: Previous): NonNullable<DecisionShape["previous"]> {
    const { chosen } = this;
    const known = this.considered.find(({ offer }) => offer.instance.record.instanceId === previous.instanceId);
    return {
      ...previous,
      ...(chosen && { moved: chosen.instance.record.instanceId !== previous.instanceId }),
      ...(known && { verdict: known.verdict }),
    };
  }

  describe(): Record<string, unknown> {
    return { decision: this.toShape() };
  }
}

/** The wire's shape of a candidate. Numbers are rounded: they are for reading and ranking, not for arithmetic. */
export function describeCandidate(c: Considered, reasons: readonly string[]): Candidate {
  const { instance, capability } = c.offer;
  return {
    agentId: instance.record.agentId,
    instanceId: instance.record.instanceId,
    capability: capability.name,
    ...(capability.version !== undefined && { version: capability.version }),
    match: c.match,
    score: c.score / 1000,
    reasons: [...reasons],
    facts: {
      state: c.state,
      ...(c.p50 !== undefined && { p50Ms: c.p50 / 1000 }),
      ...(c.success !== undefined && { successRate: c.success / 1000 }),
      running: c.running,
      queued: c.queued,
      load: c.load / 1000,
      costTier: c.offer.costTier,
      health: c.health / 1000,
      ...(instance.facts !== undefined && { selfReported: instance.facts }),
    },
  };
}

export function thousandths(n: number): number {
  return Math.round(n * 1000);
}
