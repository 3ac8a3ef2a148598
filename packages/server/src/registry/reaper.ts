import type { System } from "../ports/system.js";
import type { Wheel, WheelEntry } from "../time/wheel.js";
import type { LiveInstance } from "./instance.js";
import type { Registry } from "./registry.js";

/** The loop's own pulse; when it comes much too late, it was the node that slept, not the agents. */
const PULSE_MS = 1000;
const STALL_MS = 3000;
const PURGE_EVERY_MS = 60_000;

/**
 * Ends leases that were not renewed. Durations are monotonic, so a wall clock that jumps expires nobody; after a stall
 * of the node itself every lease gets one fresh ttl (LIVE-7), as after a restart.
 */
export class Reaper {
  private readonly timers = new Map<string, LeaseTimer>();
  /** No lease counts from before this moment, monotonic ms. */
  private floor: number;
  private pulsedAt: number;
  private purgedAt: number;
  private stopPulse: (() => void) | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly system: System,
    private readonly wheel: Wheel,
    private readonly onError: (error: unknown) => void,
  ) {
    this.floor = this.pulsedAt = this.purgedAt = system.monotonic();
    registry.onChange((change) => {
      if (change.instance !== undefined) this.follow(change.instance, change.removed);
    });
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
    }
    // A new instance has not been renewed yet when this is heard; it is due one ttl from now.
    this.wheel.set(timer, Math.max(this.system.monotonic(), this.endOf(live)) + 1);
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
    if (now < end) {
      this.wheel.set(timer, end);
      return;
    }
    void this.registry.change(live, { type: live.record.state === "online" ? "expired" : "graceExpired" });
    this.wheel.set(timer, now + live.terms.heartbeatIntervalMs);
  }

  private pulse(): void {
    this.stopPulse = this.system.after(PULSE_MS, () => {
      const now = this.system.monotonic();
      this.noticeStall(now);
      this.pulsedAt = now;
      if (now - this.purgedAt >= PURGE_EVERY_MS) {
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
  }
}

class LeaseTimer implements WheelEntry {
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
