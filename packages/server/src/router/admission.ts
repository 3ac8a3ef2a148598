import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";

/** Something that waits until an instance has room. */
export interface Waiter {
  /** Messages of one lane can be served by the same instances. */
  readonly lane: string;
  readonly capability: string;
  /** Tries again; false when still nobody can take it. */
  retry(): boolean;
}

/**
 * Slots and waiting lines. A slot is taken before a message is sent and given back when its attempt ends, so that no
 * instance ever holds more than its card allows, however many decisions fall in one turn.
 *
 * Calls wait here, in order of arrival per lane. Tasks wait in their store; the dispatcher only wants to hear of room.
 */
export class Admission {
  private readonly lanes = new Map<string, Map<string, Waiter[]>>();
  private readonly counts = new Map<string, number>();
  private readonly freed = new Set<string>();
  private scheduled = false;
  private readonly listeners: ((capabilities: ReadonlySet<string>) => void)[] = [];
  /** Whether anybody besides calls wants to hear of room. */
  private wanted: () => boolean = () => false;

  constructor(
    private readonly system: System,
    readonly waitingMax: number,
  ) {}

  onRoom(wanted: () => boolean, listener: (capabilities: ReadonlySet<string>) => void): void {
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
    if (this.counts.size === 0 && !this.wanted()) return;
    for (const offer of instance.offers) this.freed.add(offer.capability.name);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => this.serve());
  }

  /** An instance asked to be left alone for a while; whoever waits for it is tried again afterwards. */
  rest(instance: LiveInstance, forMs: number): void {
    instance.coolDownUntil = Math.max(instance.coolDownUntil, this.system.monotonic() + forMs);
    this.system.after(forMs + 1, () => this.room(instance));
  }

  /** False when the capability's line is full. */
  wait(waiter: Waiter): boolean {
    const count = this.counts.get(waiter.capability) ?? 0;
    if (count >= this.waitingMax) return false;
    this.counts.set(waiter.capability, count + 1);
    let lanes = this.lanes.get(waiter.capability);
    if (lanes === undefined) {
      lanes = new Map();
      this.lanes.set(waiter.capability, lanes);
    }
    const line = lanes.get(waiter.lane);
    if (line === undefined) lanes.set(waiter.lane, [waiter]);
    else line.push(waiter);
    return true;
  }

  leave(waiter: Waiter): void {
    const lanes = this.lanes.get(waiter.capability);
    const line = lanes?.get(waiter.lane);
    const at = line?.indexOf(waiter) ?? -1;
    if (line === undefined || lanes === undefined || at < 0) return;
    line.splice(at, 1);
    this.left(waiter, lanes, line);
  }

  waiting(capability: string): number {
    return this.counts.get(capability) ?? 0;
  }

  /** Capability → how many calls wait for it. */
  lines(): ReadonlyMap<string, number> {
    return this.counts;
  }

  private serve(): void {
    this.scheduled = false;
    const freed = new Set(this.freed);
    this.freed.clear();
    for (const capability of freed) {
      const lanes = this.lanes.get(capability);
      if (lanes === undefined) continue;
      for (const line of [...lanes.values()]) {
        for (let first = line[0]; first?.retry(); first = line[0]) {
          // One that ended while it was tried has left by itself.
          if (line[0] !== first) continue;
          line.shift();
          this.left(first, lanes, line);
        }
      }
    }
    for (const listener of this.listeners) listener(freed);
  }

  private left(waiter: Waiter, lanes: Map<string, Waiter[]>, line: Waiter[]): void {
    if (line.length === 0) lanes.delete(waiter.lane);
    if (lanes.size === 0) this.lanes.delete(waiter.capability);
    const count = (this.counts.get(waiter.capability) ?? 1) - 1;
    if (count <= 0) this.counts.delete(waiter.capability);
    else this.counts.set(waiter.capability, count);
  }
}
