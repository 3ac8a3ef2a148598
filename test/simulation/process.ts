import { uuidV7 } from "../../packages/server/src/engines/os/ids.js";
import type { System } from "../../packages/server/src/ports/system.js";
import type { Chance } from "./chance.js";
import type { World } from "./world.js";

/** 2026-11-29 10:00 in Peking, where the wall clocks begin. */
const BEGINNING = Date.UTC(2026, 10, 29, 2, 0, 0);

/** A host's wall clock, by how much it is off. */
export interface WallClock {
  offsetMs: number;
}

/**
 * One process, from its start to its end: its clocks, its timers, its chance. Whatever comes from outside comes through
 * `enter`, so that a process which is stopped hears nothing until it goes on, and one that has ended nothing at all.
 */
export class Process implements System {
  alive = true;
  /** Resumed last at this moment of the world. */
  resumedAt = 0;
  readonly newId: () => string;
  readonly #world: World;
  readonly #chance: Chance;
  /** Clocks of two processes never show the same. */
  readonly #monotonicFrom: number;
  #paused = false;
  #held: (() => void)[] = [];
  #timers = 0;

  constructor(
    world: World,
    readonly name: string,
    chance: Chance,
    /** Its host's, which goes on when it has ended. */
    readonly wall: WallClock,
  ) {
    this.#world = world;
    this.#chance = chance;
    this.#monotonicFrom = chance.int(1_000, 1_000_000);
    this.newId = uuidV7(
      () => this.now(),
      (pool) => {
        for (let i = 0; i < pool.length; i++) pool[i] = chance.int(0, 256);
      },
    );
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Timers that wait: a test for leaks. */
  get timers(): number {
    return this.#timers;
  }

  now(): number {
    return Math.floor(BEGINNING + this.#world.now + this.wall.offsetMs);
  }

  monotonic(): number {
    return this.#monotonicFrom + this.#world.now;
  }

  /** A timer is late by up to a millisecond, as timers are. */
  after(delayMs: number, run: () => void): () => void {
    let waits = true;
    this.#timers++;
    const done = () => {
      if (!waits) return false;
      waits = false;
      this.#timers--;
      return true;
    };
    const callOff = this.#world.in(Math.max(delayMs, 0) + this.#chance.next(), () =>
      this.enter(() => {
        if (done()) run();
      }),
    );
    return () => {
      if (done()) callOff();
    };
  }

  newSecret(): string {
    let secret = "";
    while (secret.length < 32)
      secret += this.#chance
        .int(0, 2 ** 24)
        .toString(16)
        .padStart(6, "0");
    return secret;
  }

  random(): number {
    return this.#chance.next();
  }

  /** Something happens to it: now, when it goes on, or never. */
  enter(run: () => void): void {
    if (!this.alive) return;
    if (this.#paused) this.#held.push(run);
    else run();
  }

  /** SIGSTOP: time passes, and nothing is noticed. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.resumedAt = this.#world.now;
    // One after another, with all that follows from each, as the event loop does it.
    for (const run of this.#held.splice(0)) this.#world.in(0, () => this.enter(run));
  }

  /** SIGKILL: whatever it still had in mind is forgotten. */
  kill(): void {
    this.alive = false;
    this.#held = [];
  }
}
