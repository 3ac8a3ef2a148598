import { uuidV7 } from "../../packages/server/src/engines/os/ids.js";
import type { System } from "../../packages/server/src/ports/system.js";
import { within } from "./within.js";

interface Timer {
  dueAt: number;
  order: number;
  run: () => void;
}

/**
 * A System whose time moves only when a test says so, and whose ids and chance are the same for the same seed.
 *
 * The wall clock and the monotonic one move together by `advance`; `jumpWall` moves the wall clock alone, as NTP or an
 * operator does.
 */
export class FakeSystem implements System {
  readonly newId: () => string;
  readonly #next: () => number;
  readonly #timers: Timer[] = [];
  #monotonic = 0;
  #wall: number;
  #order = 0;

  constructor(options: { seed?: number; now?: number } = {}) {
    this.#wall = options.now ?? Date.UTC(2026, 10, 29, 2, 0, 0);
    this.#next = xorshift32(options.seed ?? 1);
    this.newId = uuidV7(
      () => this.#wall,
      (pool) => {
        for (let i = 0; i < pool.length; i++) pool[i] = Math.floor(this.#next() * 256);
      },
    );
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer: Timer = { dueAt: this.#monotonic + Math.max(delayMs, 0), order: this.#order++, run };
    // Kept sorted, newest last among equals; most timers belong near the end.
    let at = this.#timers.length;
    while (at > 0 && this.#timers[at - 1]!.dueAt > timer.dueAt) at--;
    this.#timers.splice(at, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  newSecret(): string {
    let secret = "";
    while (secret.length < 32) secret += Math.floor(this.#next() * 16).toString(16);
    return secret;
  }

  random(): number {
    return this.#next();
  }

  /** How many timers wait: a test for leaks. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Milliseconds until the next timer, or undefined when none waits. */
  get nextInMs(): number | undefined {
    return this.#timers[0] && this.#timers[0].dueAt - this.#monotonic;
  }

  /** Moves both clocks, and runs on the way every timer that comes due, each at its own moment, also those set meanwhile. */
  advance(ms: number): void {
    const until = this.#monotonic + ms;
    for (let timer = this.#take(until); timer; timer = this.#take(until)) timer.run();
    this.#moveTo(until);
  }

  /** As `advance`, but lets promises and immediates come to rest before, between and after the timers. */
  async advanceAsync(ms: number): Promise<void> {
    const until = this.#monotonic + ms;
    await settle();
    for (let timer = this.#take(until); timer; timer = this.#take(until)) {
      timer.run();
      await settle();
    }
    this.#moveTo(until);
    await settle();
  }

  /** The wall clock alone, either way. */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  /** Both clocks move and no timer runs, as while the process is stopped; what came due meanwhile runs late. */
  stall(ms: number): void {
    this.#moveTo(this.#monotonic + ms);
  }

  #take(until: number): Timer | undefined {
    const first = this.#timers[0];
    if (!first || first.dueAt > until) return undefined;
    this.#timers.shift();
    this.#moveTo(first.dueAt);
    return first;
  }

  #moveTo(monotonic: number): void {
    // Timers set by a test while others ran may lie behind; time itself never does.
    const byMs = Math.max(monotonic - this.#monotonic, 0);
    this.#monotonic += byMs;
    this.#wall += byMs;
  }
}

/** A few turns of the event loop: enough for chains of promises and for a grouped commit, which takes one turn. */
export async function settle(turns = 4): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Resolves when so many timers are set: what was asked came back over the wire, and whoever asked waits for time to move. */
export async function untilTimers(system: FakeSystem, count: number): Promise<void> {
  const waiting = (async () => {
    while (system.pending < count) await settle(1);
  })();
  await within(waiting, `${count} timers`);
}

/** Marsaglia's xorshift with 32 bits of state (2003): good enough for tests, and the same everywhere. */
function xorshift32(seed: number): () => number {
  // A state of zero would stay zero; the multiplication spreads small seeds over all bits.
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
