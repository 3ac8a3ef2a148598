import type { System } from "../ports/system.js";
import { LISTENS_MS, STOOD_STILL_MS } from "./stand-still.js";

/** Something with a deadline. The links belong to the wheel; keep them undefined outside. */
export interface WheelEntry {
  wheelSlot: WheelSlot | undefined;
  wheelNext: WheelEntry | undefined;
  wheelPrev: WheelEntry | undefined;
  /** Called once when its time has come, not before. */
  onDeadline(): void;
}

interface WheelSlot {
  tick: number;
  first: WheelEntry | undefined;
}

/**
 * One timer for all deadlines: entries hang in slots of `slotMs`, so setting and taking back are constant time and
 * allocate nothing. Deadlines are kept to within one slot, and are never early; after the node stood still it listens first.
 * (Varghese & Lauck 1987, scheme 6, with a map instead of an array so that any distance fits.)
 */
export class Wheel {
  private readonly slots = new Map<number, WheelSlot>();
  private wake: (() => void) | undefined;
  private wakeTick = Number.POSITIVE_INFINITY;
  /** The last slot that had its turn. */
  private turned = -1;

  constructor(
    private readonly system: System,
    private readonly slotMs = 10,
  ) {}

  /** Sets or moves the entry's deadline; `at` is monotonic milliseconds. */
  set(entry: WheelEntry, at: number): void {
    this.clear(entry);
    // Never into a slot that has had its turn: an entry that is set for this moment while it fires would fire for ever.
    const tick = Math.max(Math.ceil(at / this.slotMs), this.turned + 1);
    let slot = this.slots.get(tick);
    if (slot === undefined) {
      slot = { tick, first: undefined };
      this.slots.set(tick, slot);
      if (tick < this.wakeTick) this.arm(tick);
    }
    entry.wheelSlot = slot;
    entry.wheelNext = slot.first;
    entry.wheelPrev = undefined;
    if (slot.first !== undefined) slot.first.wheelPrev = entry;
    slot.first = entry;
  }

  clear(entry: WheelEntry): void {
    const slot = entry.wheelSlot;
    if (slot === undefined) return;
    if (entry.wheelPrev === undefined) slot.first = entry.wheelNext;
    else entry.wheelPrev.wheelNext = entry.wheelNext;
    if (entry.wheelNext !== undefined) entry.wheelNext.wheelPrev = entry.wheelPrev;
    entry.wheelSlot = entry.wheelNext = entry.wheelPrev = undefined;
    if (slot.first === undefined) this.slots.delete(slot.tick);
  }

  stop(): void {
    this.wake?.();
    this.wake = undefined;
    this.slots.clear();
  }

  private arm(tick: number): void {
    this.wake?.();
    this.wakeTick = tick;
    this.wake = this.system.after(Math.max(0, tick * this.slotMs - this.system.monotonic()), () => this.wakeUp());
  }

  private wakeUp(): void {
    if (this.system.monotonic() - this.wakeTick * this.slotMs < STOOD_STILL_MS) return this.turn();
    this.wakeTick = Number.NEGATIVE_INFINITY;
    this.wake = this.system.after(LISTENS_MS, () => this.turn());
  }

  private turn(): void {
    this.wake = undefined;
    this.wakeTick = Number.POSITIVE_INFINITY;
    const now = this.system.monotonic();
    this.turned = Math.floor(now / this.slotMs);
    let next = Number.POSITIVE_INFINITY;
    const due: WheelSlot[] = [];
    for (const slot of this.slots.values()) {
      if (slot.tick * this.slotMs <= now) due.push(slot);
      else if (slot.tick < next) next = slot.tick;
    }
    due.sort((a, b) => a.tick - b.tick);
    for (const slot of due) {
      for (let entry = slot.first; entry !== undefined; entry = slot.first) {
        this.clear(entry);
        entry.onDeadline();
      }
    }
    if (next < this.wakeTick && Number.isFinite(next)) this.arm(next);
  }
}
