import type { System } from "../ports/system.js";
import type { Wheel, WheelEntry } from "../time/wheel.js";

export interface Lane {
  readonly name: string;
  readonly capability: string;
}

/** Moments closer together than this are one. */
const GRAIN_MS = 50;

/** Which lanes to look at now, which at a later moment, and which not before an instance has room. */
export class LaneBook {
  private readonly due = new Map<string, Lane>();
  /** By capability, since that is what an instance has room for. */
  private readonly blocked = new Map<string, Map<string, Lane>>();
  private readonly alarms = new Map<string, LaneAlarm>();

  constructor(
    private readonly wheel: Wheel,
    private readonly system: System,
    private readonly wake: () => void,
  ) {}

  get hasReady(): boolean {
    return this.due.size > 0;
  }

  get anyBlocked(): boolean {
    return this.blocked.size > 0;
  }

  /** Whether nothing waits in this lane that has come due, as far as is known here. */
  isClear(name: string, capability: string): boolean {
    return !this.due.has(name) && this.blocked.get(capability)?.has(name) !== true;
  }

  ready(name: string, capability: string): void {
    // A lane that waits for room has been looked at; one more task in it changes nothing.
    if (this.blocked.get(capability)?.has(name) === true) return;
    this.due.set(name, { name, capability });
    this.wake();
  }

  later(name: string, capability: string, waitMs: number): void {
    const at = Math.ceil((this.system.monotonic() + Math.max(0, waitMs)) / GRAIN_MS) * GRAIN_MS;
    const key = `${at}|${name}`;
    if (this.alarms.has(key)) return;
    const alarm = new LaneAlarm(() => {
      this.alarms.delete(key);
      this.unblockLane(name, capability);
      this.ready(name, capability);
    });
    this.alarms.set(key, alarm);
    this.wheel.set(alarm, at);
  }

  /** A task waits in this lane, from `dueAt` (wall ms) on. */
  waits(name: string, capability: string, dueAt: number): void {
    const wait = dueAt - this.system.now();
    if (wait <= 0) this.ready(name, capability);
    else this.later(name, capability, wait);
  }

  block(name: string, capability: string): void {
    const lanes = this.blocked.get(capability);
    if (lanes === undefined) this.blocked.set(capability, new Map([[name, { name, capability }]]));
    else lanes.set(name, { name, capability });
  }

  unblock(capabilities: ReadonlySet<string>): void {
    for (const capability of capabilities) {
      const lanes = this.blocked.get(capability);
      if (lanes === undefined) continue;
      this.blocked.delete(capability);
      for (const lane of lanes.values()) this.due.set(lane.name, lane);
    }
    if (this.due.size > 0) this.wake();
  }

  /** Takes the lane that has been ready for longest. */
  next(): Lane | undefined {
    for (const lane of this.due.values()) {
      this.due.delete(lane.name);
      return lane;
    }
    return undefined;
  }

  stop(): void {
    for (const alarm of this.alarms.values()) this.wheel.clear(alarm);
    this.alarms.clear();
    this.due.clear();
  }

  private unblockLane(name: string, capability: string): void {
    const lanes = this.blocked.get(capability);
    lanes?.delete(name);
    if (lanes?.size === 0) this.blocked.delete(capability);
  }
}

class LaneAlarm implements WheelEntry {
  wheelSlot: WheelEntry["wheelSlot"];
  wheelNext: WheelEntry | undefined;
  wheelPrev: WheelEntry | undefined;

  constructor(private readonly ring: () => void) {}

  onDeadline(): void {
    this.ring();
  }
}
