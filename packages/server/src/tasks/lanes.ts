import type { System } from "../ports/system.js";
import type { Wheel, WheelEntry } from "../time/wheel.js";

export interface Lane {
  readonly name: string;
  readonly capability: string;
  readonly agentId?: string | undefined;
}

/** Moments closer together than this are one. */
const GRAIN_MS = 50;

/** Which lanes to look at now, which at a later moment, and which not before an instance has room. */
export class LaneBook {
  private readonly due = new Map<string, Lane>();
  private readonly blocked = new Map<string, Lane>();
  /** Names of blocked lanes by what an instance must offer, or by its agent where that is the only one they are for. */
  private readonly forCapability = new Map<string, Set<string>>();
  private readonly forAgent = new Map<string, Set<string>>();
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
  isClear(name: string): boolean {
    return !this.due.has(name) && !this.blocked.has(name);
  }

  ready(name: string, capability: string): void {
    // A lane that waits for room has been looked at; one more task in it changes nothing.
    if (this.blocked.has(name)) return;
    this.due.set(name, { name, capability });
    this.wake();
  }

  later(name: string, capability: string, waitMs: number): void {
    const at = Math.ceil((this.system.monotonic() + Math.max(0, waitMs)) / GRAIN_MS) * GRAIN_MS;
    const key = `${at}|${name}`;
    if (this.alarms.has(key)) return;
    const alarm = new LaneAlarm(() => {
      this.alarms.delete(key);
      this.unblockLane(name);
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

  /**
   * `agentId`: the only agent that the lane is for. What is published to thousands makes a lane for each of them, and the room
   * of one of them must not have all the others looked at.
   */
  block(name: string, capability: string, agentId?: string): void {
    this.blocked.set(name, { name, capability, agentId });
    const [waiting, key] = this.placeOf(capability, agentId);
    const names = waiting.get(key);
    if (names === undefined) waiting.set(key, new Set([name]));
    else names.add(name);
  }

  /** There is room with instances that offer these, and are of these agents. */
  unblock(capabilities: ReadonlySet<string>, agentIds: ReadonlySet<string>): void {
    for (const capability of capabilities) this.free(this.forCapability, capability);
    for (const agentId of agentIds) this.free(this.forAgent, agentId);
    if (this.due.size > 0) this.wake();
  }

  private free(waiting: Map<string, Set<string>>, key: string): void {
    const names = waiting.get(key);
    if (names === undefined) return;
    waiting.delete(key);
    for (const name of names) {
      this.due.set(name, this.blocked.get(name)!);
      this.blocked.delete(name);
    }
  }

  private placeOf(capability: string, agentId: string | undefined): [Map<string, Set<string>>, string] {
    return agentId === undefined ? [this.forCapability, capability] : [this.forAgent, agentId];
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

  private unblockLane(name: string): void {
    const lane = this.blocked.get(name);
    if (lane === undefined) return;
    this.blocked.delete(name);
    const [waiting, key] = this.placeOf(lane.capability, lane.agentId);
    const names = waiting.get(key);
    names?.delete(name);
    if (names?.size === 0) waiting.delete(key);
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
