import { HashTable } from "../collections/hash-table.js";
import { AGES, Latency, type Tempo, windowOf } from "./latency.js";
import { Pace } from "./pace.js";

/** The most and the least that one caller may have in flight of one capability. */
export interface BulkheadSettings {
  inFlightCallsMax: number;
  /** While the capability is slow. */
  inFlightCallsMin: number;
}

/** From the least to the most in as many windows, so that after an outage the limit is back within 4 s. */
const STEPS_BACK = 6;
/** Idle entries are looked for when there are twice as many as were left the last time, and not below this. */
const SWEEP_FROM = 64;

/**
 * How many calls of one capability each of its callers may have in flight (RES-3).
 *
 * Additive increase, multiplicative decrease, by which TCP finds its window (Jacobson 1988) and which converges to fair
 * shares (Chiu & Jain 1989): each window that was slow halves the limit, each that was fine gives back one step. It starts
 * from the most: what is not known to be slow is not held back.
 */
export class Gate {
  limit: number;
  readonly latency = new Latency();
  private readonly shares = new HashTable<string, Share>();
  private sweepAt = SWEEP_FROM;
  private window = 0;

  constructor(
    readonly capability: string,
    private readonly settings: BulkheadSettings,
    now: number,
    private readonly onTurn: (gate: Gate) => void = () => {},
  ) {
    this.limit = settings.inFlightCallsMax;
    this.window = windowOf(now);
  }

  /** What this caller has in flight. */
  of(caller: string): Share {
    const known = this.shares.get(caller);
    if (known !== undefined) return known;
    if (this.shares.size >= this.sweepAt) this.sweep();
    const share = new Share(this, caller);
    this.shares.set(caller, share);
    return share;
  }

  /** Closes the windows that are over; answers the one at hand. */
  roll(now: number): number {
    const window = windowOf(now);
    if (window === this.window) return window;
    const { isNarrow } = this;
    // After a long silence the last ones say all there is: by then every age has passed by.
    for (let next = Math.max(this.window + 1, window - AGES); next <= window; next++)
      this.limit = nextLimit(this.limit, this.latency.close(next), this.settings);
    this.window = window;
    if (this.isNarrow !== isNarrow) this.onTurn(this);
    return window;
  }

  /** Whether callers are held back. */
  get isNarrow(): boolean {
    return this.limit < this.settings.inFlightCallsMax;
  }

  get callers(): number {
    return this.shares.size;
  }

  /** Forgets callers who have nothing in flight; answers whether nobody is left. */
  sweep(): boolean {
    for (const share of this.shares.all()) if (share.inFlight === 0) this.shares.delete(share.caller);
    this.sweepAt = Math.max(SWEEP_FROM, this.shares.size * 2);
    return this.shares.size === 0;
  }
}

/** The next limit after a window of this tempo. Equal bounds make a fixed limit. */
export function nextLimit(limit: number, tempo: Tempo, settings: BulkheadSettings): number {
  const most = settings.inFlightCallsMax;
  const least = Math.min(settings.inFlightCallsMin, most);
  switch (tempo) {
    case "slow":
      return Math.max(least, Math.floor(limit / 2));
    case "fine":
      return Math.min(most, limit + Math.ceil((most - least) / STEPS_BACK));
    case "unclear":
      return limit;
  }
}

/** What one caller has in flight of one capability. All times are monotonic ms. */
export class Share {
  inFlight = 0;
  private readonly pace = new Pace();

  constructor(
    private readonly gate: Gate,
    readonly caller: string,
  ) {}

  get limit(): number {
    return this.gate.limit;
  }

  /** Takes a place; false when there is none. */
  enter(now: number): boolean {
    this.gate.roll(now);
    if (this.inFlight >= this.gate.limit) return false;
    if (this.inFlight++ === 0) this.pace.begin(now);
    return true;
  }

  /** Its call has an end. */
  leave(now: number): void {
    this.inFlight--;
    this.pace.tick(now);
  }

  /** An attempt of its call is on its way: from now on it counts how long that takes. */
  sent(now: number): void {
    this.gate.latency.sent(this.gate.roll(now));
  }

  /** The attempt sent at that moment is over. */
  over(sentAt: number, now: number, answered: boolean): void {
    this.gate.latency.over(sentAt, now, answered, this.gate.roll(now));
  }

  /** When a place will be free, as far as can be told. */
  retryAfterMs(now: number): number {
    return this.pace.msUntil(this.inFlight - this.gate.limit + 1, now);
  }
}

/** The gates of all capabilities. Those that nobody uses vanish, so memory is bounded by who calls what at a time. */
export class Bulkhead {
  private readonly gates = new HashTable<string, Gate>();
  private sweepAt = SWEEP_FROM;

  constructor(
    private readonly settings: BulkheadSettings,
    /** Hears when callers begin to be held back, and when they no longer are. */
    private readonly onTurn: (gate: Gate) => void = () => {},
  ) {}

  gate(capability: string, now: number): Gate {
    const known = this.gates.get(capability);
    if (known !== undefined) return known;
    if (this.gates.size >= this.sweepAt) {
      for (const gate of this.gates.all()) if (gate.sweep()) this.gates.delete(gate.capability);
      this.sweepAt = Math.max(SWEEP_FROM, this.gates.size * 2);
    }
    const gate = new Gate(capability, this.settings, now, this.onTurn);
    this.gates.set(capability, gate);
    return gate;
  }

  get size(): number {
    return this.gates.size;
  }

  /** Capabilities whose callers are held back at this moment. */
  heldBack(now: number): number {
    let count = 0;
    for (const gate of this.gates.all()) {
      gate.roll(now);
      if (gate.isNarrow) count++;
    }
    return count;
  }
}
