import type { SdkSystem } from "./platform.js";

const tickMs = 10;
/** A power of two; one turn is about ten seconds. */
const slotCount = 1024;

/** Something that waits on a wheel. Extended by what waits, so that a message needs no closure and no timer of its own. */
export abstract class Waiter {
  dueTick = -1;
  previous: Waiter | undefined = undefined;
  next: Waiter | undefined = undefined;
  abstract onDue(): void;
}

/** A waiter that has nothing of its own but what to do when its time has come. */
export class Alarm extends Waiter {
  readonly #run: () => void;

  constructor(run: () => void) {
    super();
    this.#run = run;
  }

  onDue(): void {
    this.#run();
  }
}

/**
 * One timer for all that waits (a hashed wheel: Varghese and Lauck, 1987). Adding and removing cost a few assignments.
 *
 * W1  A waiter is called once, not before its time, and at most about two ticks (20 ms) after it.
 * W2  The wheel sleeps until the next slot that holds somebody; an empty wheel has no timer.
 */
export class Wheel {
  readonly #system: SdkSystem;
  readonly #slots: (Waiter | undefined)[] = new Array(slotCount).fill(undefined);
  #size = 0;
  #turnedTo = 0;
  #armedFor = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | undefined;

  constructor(system: SdkSystem) {
    this.#system = system;
  }

  get size(): number {
    return this.#size;
  }

  /** Sets or moves the waiter. `now` spares reading the clock to whoever just did. */
  set(waiter: Waiter, delayMs: number, now = this.#system.monotonic()): void {
    if (waiter.dueTick >= 0) this.clear(waiter);
    if (this.#size === 0) this.#turnedTo = Math.floor(now / tickMs);
    const due = Math.max(Math.ceil((now + delayMs) / tickMs), this.#turnedTo + 1);
    waiter.dueTick = due;
    const slot = due & (slotCount - 1);
    const head = this.#slots[slot];
    waiter.previous = undefined;
    waiter.next = head;
    if (head) head.previous = waiter;
    this.#slots[slot] = waiter;
    this.#size++;
    if (due < this.#armedFor) this.#arm(due, now);
  }

  clear(waiter: Waiter): void {
    if (waiter.dueTick < 0) return;
    if (waiter.previous) waiter.previous.next = waiter.next;
    else this.#slots[waiter.dueTick & (slotCount - 1)] = waiter.next;
    if (waiter.next) waiter.next.previous = waiter.previous;
    waiter.previous = waiter.next = undefined;
    waiter.dueTick = -1;
    this.#size--;
  }

  /** Drops the timer; nobody is called any more. */
  stop(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    for (const head of this.#slots) for (let w = head; w; w = this.#slots[w.dueTick & (slotCount - 1)]) this.clear(w);
  }

  #arm(tick: number, now: number): void {
    this.#disarm?.();
    this.#armedFor = tick;
    this.#disarm = this.#system.after(Math.max(tick * tickMs - now, 0), () => this.#turn());
  }

  #turn(): void {
    this.#disarm = undefined;
    // Nobody arms while the wheel turns; afterwards it is armed once, for the earliest of all.
    this.#armedFor = Number.NEGATIVE_INFINITY;
    // Rounded, since a timer may fire a fraction of a millisecond early by its own clock.
    const until = Math.floor((this.#system.monotonic() + 1) / tickMs);
    const from = Math.max(this.#turnedTo + 1, until - slotCount + 1);
    this.#turnedTo = Math.max(until, this.#turnedTo);
    const due: Waiter[] = [];
    for (let tick = from; tick <= until; tick++) {
      for (let w = this.#slots[tick & (slotCount - 1)]; w; w = w.next) if (w.dueTick <= until) due.push(w);
    }
    try {
      for (const waiter of due) {
        // An earlier one of the same turn may have taken it back or moved it.
        if (waiter.dueTick < 0 || waiter.dueTick > until) continue;
        this.clear(waiter);
        waiter.onDue();
      }
    } finally {
      this.#armedFor = Number.POSITIVE_INFINITY;
      this.#rest();
    }
  }

  #rest(): void {
    if (this.#size === 0) return;
    for (let tick = this.#turnedTo + 1; tick <= this.#turnedTo + slotCount; tick++) {
      if (this.#slots[tick & (slotCount - 1)]) {
        this.#arm(tick, this.#system.monotonic());
        return;
      }
    }
  }
}
