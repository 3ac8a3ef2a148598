import type { Capability, Card, CostTier } from "@agent-reach/protocol";
import type { Link, Receiver } from "../ports/delivery.js";
import type { InstanceRecord } from "../ports/registry-store.js";
import { BreakerRecord } from "./breaker-record.js";
import { type Contract, FREE } from "./contract.js";
import type { LossHistory } from "./flapping.js";
import { Measured, Starts } from "./load.js";
import { NOTHING_SAID, readReport, type SelfReport } from "./self-report.js";

/** One capability of one instance: what the router chooses among. */
export class Offer {
  readonly measured: Measured;
  readonly breaker: BreakerRecord;
  /** JSON text of the address, made once, for the envelopes of every message that goes there. */
  readonly targetJson: string;
  /** The same without braces, to be put into a larger object. */
  readonly addressJson: string;
  readonly capabilityJson: string;

  constructor(
    readonly instance: LiveInstance,
    readonly capability: Capability,
    readonly contract: Contract,
    /** The same capability on an earlier card of this run: what is known of it stays known. */
    before?: Offer,
  ) {
    this.measured = before?.measured ?? new Measured();
    this.breaker = before?.breaker ?? new BreakerRecord();
    this.targetJson = JSON.stringify({ agentId: instance.record.agentId, instanceId: instance.record.instanceId });
    this.addressJson = this.targetJson.slice(1, -1);
    this.capabilityJson = JSON.stringify(capability.name);
  }

  get idempotent(): boolean {
    return this.capability.idempotent === true;
  }

  /** What the card says of the capability, else of the agent. */
  get costTier(): CostTier {
    return this.capability.costTier ?? this.instance.said.costTier ?? "medium";
  }
}

/** Lease lengths in ms, as agreed at registration. */
export interface LeaseTerms {
  heartbeatIntervalMs: number;
  ttlMs: number;
  graceMs: number;
}

/** Of an agent that does not say. */
const CAPACITY = 10;

/** What this node knows of one instance right now. The record is what is stored; the rest lives in memory. */
export class LiveInstance {
  offers: readonly Offer[] = [];
  /** Names of what it offers. */
  names: readonly string[] = [];
  link: Link | undefined;
  /** Monotonic ms of the last message that renewed the lease, and of the loss of the link. */
  renewedAt = 0;
  lostAt: number | undefined;
  /** Wall ms, for people. */
  lastHeartbeatAt: number | undefined;
  /** Attempts that hold a slot: sent and not yet ended. */
  running = 0;
  /** What the agent says of itself: its queue, what it runs for others, its health 0..1, its own facts. */
  selfQueued = 0;
  otherRunning = 0;
  health = 1;
  probe = 1;
  facts: Record<string, unknown> | undefined;
  /** Of these facts, what routing reckons with while too little was measured. */
  said: SelfReport = NOTHING_SAID;
  /** Monotonic ms until which it asked to be left alone. */
  coolDownUntil = 0;
  readonly losses: LossHistory = [];
  /** Of one that came and went too often: how often, and until when it therefore gets no new work (monotonic, and wall ms). */
  flapping: { losses: number; until: number; restsUntil: number } | undefined;
  readonly starts = new Starts();
  /** Attempts which it accepted and has not finished; they hear when it is gone. */
  readonly held = new Set<Pick<Receiver, "lost">>();

  private readonly byTopic = new Map<string, Offer>();

  /** How many messages it takes at a time, by its card. */
  capacity = CAPACITY;
  private stored!: InstanceRecord;

  constructor(
    record: InstanceRecord,
    public terms: LeaseTerms,
  ) {
    this.record = record;
  }

  get record(): InstanceRecord {
    return this.stored;
  }

  set record(record: InstanceRecord) {
    this.stored = record;
    this.capacity = record.card.maxConcurrentTasks ?? CAPACITY;
  }

  /** How many more messages it may get right now. */
  get room(): number {
    return Math.min(this.capacity - this.running, this.link?.room ?? 0);
  }

  get card(): Card {
    return this.record.card;
  }

  /** What takes messages of a topic here: an offer that nobody finds by name and that takes any input. */
  topicOffer(topic: string): Offer {
    let offer = this.byTopic.get(topic);
    if (offer === undefined) {
      offer = new Offer(this, { name: topic }, FREE);
      this.byTopic.set(topic, offer);
    }
    return offer;
  }

  /** The agent does not subscribe to it any more. */
  forgetTopic(topic: string): void {
    this.byTopic.delete(topic);
  }

  /** Whether it still offers what this breaker guards. */
  hasBreaker(breaker: BreakerRecord): boolean {
    const guards = (offer: Offer): boolean => offer.breaker === breaker;
    return this.offers.some(guards) || [...this.byTopic.values()].some(guards);
  }

  /** Load as ROUTE-3 has it: each part between 0 and 1 of the capacity. */
  loadScore(now: number): number {
    const capacity = this.capacity;
    const share = (n: number) => Math.min(1, n / capacity);
    return (
      0.4 * share(this.running + this.otherRunning) + 0.3 * share(this.selfQueued) + 0.3 * share(this.starts.count(now))
    );
  }

  /** Own word × probe, 0..1 (LIVE-11; the share of recent successes joins in per offer). */
  healthScore(): number {
    return this.health * this.probe;
  }

  /** Takes the agent's word about itself. A part that it does not mention stays as it was. */
  report(facts: Record<string, unknown> | undefined, health: number | undefined): void {
    if (facts === undefined && health === undefined) return;
    const said = readReport(facts, health);
    if (facts !== undefined) {
      this.facts = facts;
      // What it costs does not change by not being mentioned.
      this.said = said.costTier === undefined ? { ...said, costTier: this.said.costTier } : said;
    }
    this.health = said.health ?? this.health;
  }

  /** A new run: it has said nothing yet, and nobody has asked it anything. */
  begin(): void {
    this.health = this.probe = 1;
    this.facts = undefined;
    this.said = NOTHING_SAID;
    this.byTopic.clear();
  }
}
