import type { ReachError } from "@agent-reach/protocol";
import { type Caller, callerKeyOf } from "../access/access.js";
import { HashTable } from "../collections/hash-table.js";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import { Bulkhead, type BulkheadSettings, type Gate, type Share } from "./bulkhead.js";
import { Line, type Waiter } from "./line.js";
import { UNKNOWN_MS } from "./pace.js";
import { RateLimits, type RateSettings } from "./rate-limit.js";
import { rateLimited, shareFull } from "./refusals.js";

export type { Waiter } from "./line.js";

export interface AdmissionSettings extends BulkheadSettings, RateSettings {
  /** Calls that may wait, per capability. */
  queuedCallsMax: number;
}

/** A call that wants in. */
export interface Applicant {
  readonly request: { readonly caller: Caller };
  readonly capability: string;
  /** Its caller's, once it is in. */
  share: Share | undefined;
}

/** Hears what instances offer that have room, and whose they are. */
type RoomListener = (capabilities: ReadonlySet<string>, agentIds: ReadonlySet<string>) => void;

/**
 * Who may come in, and who waits. How often and how many at a time a caller may (rate limits, bulkhead) is asked before
 * anybody is looked for. A slot is taken before a message is sent and given back when its attempt ends, so that no
 * instance ever holds more than its card allows, however many decisions fall in one turn.
 *
 * Calls wait here, in lines of bounded length. Tasks wait in their store; the dispatcher only wants to hear of room.
 */
export class Admission {
  private readonly byCapability = new HashTable<string, Line>();
  private readonly bulkhead: Bulkhead;
  private readonly rates: RateLimits;
  private readonly freed = new Set<string>();
  private readonly freedAgents = new Set<string>();
  private scheduled = false;
  private readonly listeners: RoomListener[] = [];
  /** Whether anybody besides calls wants to hear of room. */
  private wanted: () => boolean = () => false;
  private onTurn: (gate: Gate) => void = () => {};
  /** How many messages were refused, by reason. */
  readonly refused = { rate: 0, share: 0 };

  constructor(
    private readonly system: System,
    private readonly settings: AdmissionSettings,
  ) {
    this.bulkhead = new Bulkhead(settings, (gate) => this.onTurn(gate));
    this.rates = new RateLimits(settings);
  }

  /** What stands against one more message of this caller, by the rate limits. */
  tooOften(caller: Caller, capability: string, now = this.system.monotonic()): ReachError | undefined {
    if (!this.rates.any) return undefined;
    const keys = { caller: callerKeyOf(caller), capability, tenant: caller.tenant };
    const excess = this.rates.take(keys, now);
    if (excess === undefined) return undefined;
    this.refused.rate++;
    return rateLimited(excess, capability);
  }

  /** The same for many messages at once, by capability: what comes over the limit with them is made up for afterwards. */
  tooMany(caller: Caller, counts: ReadonlyMap<string, number>): ReachError | undefined {
    if (!this.rates.any) return undefined;
    const now = this.system.monotonic();
    const [key, { tenant }] = [callerKeyOf(caller), caller];
    for (const capability of counts.keys()) {
      const excess = this.rates.excess({ caller: key, capability, tenant }, now);
      if (excess === undefined) continue;
      this.refused.rate++;
      return rateLimited(excess, capability);
    }
    for (const [capability, count] of counts) this.rates.spend({ caller: key, capability, tenant }, now, count);
    return undefined;
  }

  /** Lets a call in, or says what stands against it. Whoever is in leaves by `share.leave`, once. */
  enter(call: Applicant): ReachError | undefined {
    const now = this.system.monotonic();
    const { caller } = call.request;
    const tooOften = this.tooOften(caller, call.capability, now);
    if (tooOften !== undefined) return tooOften;
    const share = this.bulkhead.gate(call.capability, now).of(callerKeyOf(caller));
    if (share.enter(now)) {
      call.share = share;
      return undefined;
    }
    this.refused.share++;
    return shareFull(call.capability, share.limit, share.inFlight, share.retryAfterMs(now));
  }

  /** Takes a call that is in to another capability's share; false, and all is as before, if there is no place. */
  move(call: Applicant, capability: string): boolean {
    const now = this.system.monotonic();
    const share = this.bulkhead.gate(capability, now).of(callerKeyOf(call.request.caller));
    if (share === call.share) return true;
    if (!share.enter(now)) {
      this.refused.share++;
      return false;
    }
    call.share?.leave(now);
    call.share = share;
    return true;
  }

  /** Hears when the callers of a capability begin to be held back, and when they no longer are. */
  onHeldBack(listener: (gate: Gate) => void): void {
    this.onTurn = listener;
  }

  /** Capabilities which are slow, so that their callers are held back. */
  heldBack(): number {
    return this.bulkhead.heldBack(this.system.monotonic());
  }

  onRoom(wanted: () => boolean, listener: RoomListener): void {
    this.wanted = wanted;
    this.listeners.push(listener);
  }

  /** `now`: monotonic ms. */
  take(instance: LiveInstance, now = this.system.monotonic()): void {
    instance.running++;
    instance.link?.reserve?.();
    instance.starts.add(now);
  }

  give(instance: LiveInstance): void {
    instance.running--;
    this.room(instance);
  }

  /** An instance has room, or has come: whoever waits for what it offers is tried again, soon. */
  room(instance: LiveInstance): void {
    if (this.byCapability.size === 0 && !this.wanted()) return;
    for (const offer of instance.offers) this.freed.add(offer.capability.name);
    this.freedAgents.add(instance.record.agentId);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => this.serve());
  }

  /** An instance asked to be left alone for a while; whoever waits for it is tried again afterwards. */
  rest(instance: LiveInstance, forMs: number): void {
    instance.coolDownUntil = Math.max(instance.coolDownUntil, this.system.monotonic() + forMs);
    this.system.after(forMs + 1, () => this.room(instance));
  }

  get waitingMax(): number {
    return this.settings.queuedCallsMax;
  }

  /** False when the capability's line is full, and it has its fair part of it. */
  wait(waiter: Waiter): boolean {
    const { capability } = waiter;
    const line = this.byCapability.get(capability) ?? new Line(capability, this.waitingMax);
    if (!line.join(waiter, this.system.monotonic())) return false;
    this.byCapability.set(capability, line);
    return true;
  }

  leave(waiter: Waiter): void {
    const line = this.byCapability.get(waiter.capability);
    line?.leave(waiter);
    if (line?.count === 0) this.byCapability.delete(waiter.capability);
  }

  waiting(capability: string): number {
    return this.byCapability.get(capability)?.count ?? 0;
  }

  /** Capability → how many calls wait for it. */
  lines(): ReadonlyMap<string, number> {
    return new Map(this.byCapability.all().map(({ capability, count }) => [capability, count]));
  }

  /** When those who wait now will have been served, as far as can be told. */
  retryAfterMs(capability: string): number {
    const line = this.byCapability.get(capability);
    return line === undefined ? UNKNOWN_MS : line.pace.msUntil(line.count, this.system.monotonic());
  }

  private serve(): void {
    this.scheduled = false;
    const freed = new Set(this.freed);
    this.freed.clear();
    const agentIds = new Set(this.freedAgents);
    this.freedAgents.clear();
    for (const capability of freed) {
      const line = this.byCapability.get(capability);
      if (line === undefined) continue;
      line.serve(() => this.system.monotonic());
      if (line.count === 0 && this.byCapability.get(capability) === line) this.byCapability.delete(capability);
    }
    for (const listener of this.listeners) listener(freed, agentIds);
  }
}
