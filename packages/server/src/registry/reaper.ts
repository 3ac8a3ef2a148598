import type { System } from "../ports/system.js";
import type { Wheel, WheelEntry } from "../time/wheel.js";
import type { LiveInstance } from "./instance.js";
import { type Doubt, MassExpiry, type Silence, TOGETHER_MS } from "./mass-expiry.js";
import type { Registry } from "./registry.js";

/** The loop's own pulse; when it comes much too late, it was the node that slept, not the agents. */
const PULSE_MS = 1000;
const STALL_MS = 3000;
/** However short the heartbeat, a look within this time is in time. */
const LATE_MS = 500;
const PURGE_EVERY_MS = 60_000;

/**
 * Ends leases that were not renewed. Durations are monotonic, so a wall clock that jumps expires nobody; after a stall
 * of the node itself every lease gets one fresh ttl (LIVE-7), as after a restart. When most of the fleet falls silent at
 * once, nobody is given up or purged for a while, see `mass-expiry`.
 */
export class Reaper {
  private readonly timers = new Map<string, LeaseTimer>();
  /** No lease counts from before this moment, monotonic ms. */
  private floor: number;
  private pulsedAt: number;
  private purgedAt: number;
  private stopPulse: (() => void) | undefined;
  private readonly massExpiry: MassExpiry;
  /** Told in a sentence when the node begins or ends to doubt itself. */
  onDoubt: (text: string) => void = () => {};

  constructor(
    private readonly registry: Registry,
    private readonly system: System,
    private readonly wheel: Wheel,
    private readonly onError: (error: unknown) => void,
  ) {
    this.floor = this.pulsedAt = this.purgedAt = system.monotonic();
    this.massExpiry = new MassExpiry(registry.settings.massExpiryHoldSec * 1000);
    registry.onChange((change) => {
      if (change.instance !== undefined) this.follow(change.instance, change.removed);
    });
  }

  /** While the node suspects itself rather than its fleet. */
  get doubt(): Doubt | undefined {
    return this.massExpiry.doubt;
  }

  start(): void {
    this.floor = this.pulsedAt = this.system.monotonic();
    for (const live of this.registry.view.instances.values()) this.follow(live, false);
    this.pulse();
  }

  stop(): void {
    this.stopPulse?.();
    for (const timer of this.timers.values()) this.wheel.clear(timer);
    this.timers.clear();
  }

  private follow(live: LiveInstance, removed: boolean): void {
    const id = live.record.instanceId;
    if (removed || live.record.state === "offline") {
      const timer = this.timers.get(id);
      if (timer !== undefined) this.wheel.clear(timer);
      this.timers.delete(id);
      return;
    }
    let timer = this.timers.get(id);
    if (timer === undefined) {
      timer = new LeaseTimer(live, (instance) => this.look(instance));
      this.timers.set(id, timer);
      // A new instance has not been renewed yet when this is heard; it is due one ttl from now. One that was loaded counts
      // from the start, and as unheard.
      if (this.stopPulse !== undefined) live.renewedAt = Math.max(live.renewedAt, this.system.monotonic());
    }
    this.arm(timer, Math.max(this.system.monotonic(), this.endOf(live)) + 1);
  }

  private arm(timer: LeaseTimer, at: number): void {
    timer.dueAt = at;
    this.wheel.set(timer, at);
  }

  private heardAt(live: LiveInstance): number {
    return Math.max(live.renewedAt, this.floor);
  }

  private endOf(live: LiveInstance): number {
    const { ttlMs, graceMs } = live.terms;
    return this.heardAt(live) + (live.record.state === "online" ? ttlMs : ttlMs + graceMs);
  }

  private look(live: LiveInstance): void {
    const now = this.system.monotonic();
    this.noticeStall(now);
    const timer = this.timers.get(live.record.instanceId);
    if (timer === undefined) return;
    const end = this.endOf(live);
    if (now < end) return this.arm(timer, end);
    // Looked at so late that a heartbeat may have come and not been read: that is read first, before it is judged.
    if (now - timer.dueAt > Math.max(live.terms.heartbeatIntervalMs, LATE_MS))
      return this.arm(timer, now + live.terms.ttlMs);
    const online = live.record.state === "online";
    if (online || !this.holds(live, now))
      void this.registry.change(live, { type: online ? "expired" : "graceExpired" });
    this.arm(timer, now + live.terms.heartbeatIntervalMs);
  }

  /** Whether to keep one that would be offline now, since it is likely the node that does not hear. */
  private holds(live: LiveInstance, now: number): boolean {
    const silence = silenceOf(live, now);
    if (silence === undefined) return false;
    const before = this.massExpiry.doubt;
    const held = this.massExpiry.holds(silence, this.fleet(now), now);
    if (before === undefined && this.massExpiry.doubt !== undefined)
      this.onDoubt(this.doubtText(this.massExpiry.doubt));
    return held;
  }

  private *fleet(now: number): Generator<Silence | undefined> {
    for (const live of this.registry.view.instances.values()) {
      if (live.record.state !== "offline") yield silenceOf(live, now);
    }
  }

  /** Whether it hears again, or has waited long enough. */
  private review(now: number): void {
    const ended = this.massExpiry.review(this.fleet(now), now);
    if (ended === undefined) return;
    // Who was not heard yet may still be on its way back: one lease more, as after a stall.
    if (ended === "heard") this.floor = now;
    this.onDoubt(
      ended === "heard"
        ? "most instances are heard again: leases end as usual from now on."
        : `nothing was heard for ${this.registry.settings.massExpiryHoldSec} s (lease.massExpiryHoldSec): the silent instances are taken to be gone.`,
    );
  }

  private doubtText({ silent, fleet }: Doubt): string {
    return (
      `${silent} of ${fleet} instances fell silent at once, so more likely this node does not hear them than that all are gone: ` +
      `nobody is made offline for up to ${this.registry.settings.massExpiryHoldSec} s (lease.massExpiryHoldSec); look at this node's network and load.`
    );
  }

  private pulse(): void {
    this.stopPulse = this.system.after(PULSE_MS, () => {
      const now = this.system.monotonic();
      this.noticeStall(now);
      this.pulsedAt = now;
      this.review(now);
      if (now - this.purgedAt >= PURGE_EVERY_MS && this.doubt === undefined) {
        this.purgedAt = now;
        this.registry.purge().catch(this.onError);
      }
      this.pulse();
    });
  }

  private noticeStall(now: number): void {
    if (now - this.pulsedAt < STALL_MS) return;
    this.floor = now;
    this.pulsedAt = now;
    // Connections that end so soon after a stall ended because of it.
    this.registry.excuseLosses(now + TOGETHER_MS);
  }
}

/** Undefined for one that is heard, and for one that was not heard yet since the node started: it never fell silent. */
function silenceOf(live: LiveInstance, now: number): Silence | undefined {
  const { renewedAt, lostAt, terms, record } = live;
  if (renewedAt === 0 || record.state === "online") return undefined;
  if (record.state === "draining" && now - renewedAt < terms.ttlMs) return undefined;
  if (lostAt !== undefined && lostAt >= renewedAt) return { from: lostAt, to: lostAt + TOGETHER_MS };
  return { from: renewedAt, to: renewedAt + terms.heartbeatIntervalMs };
}

class LeaseTimer implements WheelEntry {
  /** Monotonic ms. */
  dueAt = 0;
  wheelSlot: WheelEntry["wheelSlot"];
  wheelNext: WheelEntry | undefined;
  wheelPrev: WheelEntry | undefined;

  constructor(
    private readonly live: LiveInstance,
    private readonly look: (live: LiveInstance) => void,
  ) {}

  onDeadline(): void {
    this.look(this.live);
  }
}
