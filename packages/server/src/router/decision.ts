import type { Candidate, Decision as DecisionShape, Verdict } from "@agent-reach/protocol";
import type { Described } from "../journal/journal.js";
import type { Offer } from "../registry/instance.js";

/** What was known of one candidate at the moment of choice. Flat, since one is made for every candidate of every call. */
export interface Considered {
  offer: Offer;
  verdict: Verdict;
  match: number;
  score: number;
  p50Ms: number | undefined;
  successRate: number | undefined;
  running: number;
  queued: number;
  load: number;
  health: number;
  state: Offer["instance"]["record"]["state"];
}

/** Candidates listed in a decision's record; the others are counted. */
export const LISTED_MAX = 16;

/** Why this instance was chosen: the record behind `why` (ROUTE-7). Put into words when somebody asks. */
export class Decision implements Described {
  chosen: Offer | undefined;
  /** Whether anybody would have been able but for being full. */
  full = false;
  omitted = 0;
  tookMs = 0;
  readonly considered: Considered[] = [];

  constructor(
    readonly messageId: string,
    readonly traceId: string,
    readonly attempt: number,
    readonly at: number,
    readonly request: Record<string, unknown>,
    readonly reasons: readonly string[],
  ) {}

  get decisionId(): string {
    return `${this.messageId}-${this.attempt}`;
  }

  toShape(): DecisionShape {
    const { chosen } = this;
    return {
      decisionId: this.decisionId,
      messageId: this.messageId,
      traceId: this.traceId,
      attempt: this.attempt,
      at: new Date(this.at).toISOString(),
      tookMs: this.tookMs,
      request: this.request,
      candidates: this.considered.map((c) => ({ ...describeCandidate(c, this.reasons), verdict: c.verdict })),
      ...(chosen && { chosen: { agentId: chosen.instance.record.agentId, instanceId: chosen.instance.record.instanceId } }),
      ...(this.omitted > 0 && { omitted: this.omitted }),
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
    match: round(c.match),
    score: round(c.score),
    reasons: [...reasons],
    facts: {
      state: c.state,
      ...(c.p50Ms !== undefined && { p50Ms: round(c.p50Ms) }),
      ...(c.successRate !== undefined && { successRate: round(c.successRate) }),
      running: c.running,
      queued: c.queued,
      load: round(c.load),
      costTier: capability.costTier ?? "medium",
      health: round(c.health),
      ...(instance.facts !== undefined && { selfReported: instance.facts }),
    },
  };
}

function round(n: number): number {
  return Math.round(n * 1000) / 1000;
}
