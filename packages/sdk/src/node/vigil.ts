/** How long a thread may keep the lease of a loop that is blocked: as long as a task may take unless it says otherwise. */
export const blockedMaxMs = 600_000;

/**
 * When one thread must speak for another: looks at a count that the other one raises as long as its event loop turns.
 *
 *   turning ── the count stood still for a heartbeat ──▶ blocked: a heartbeat each interval
 *      ▲                                                   │
 *      └───────────────── the count moves ─────────────────┴── for too long ──▶ given up: silence, so the lease ends
 */
export class Vigil {
  readonly #intervalMs: number;
  #count: number;
  #movedAt: number;
  #spokeAt = Number.NEGATIVE_INFINITY;

  /** `now` is any clock that only goes forward, in milliseconds. */
  constructor(intervalMs: number, count: number, now: number) {
    this.#intervalMs = intervalMs;
    this.#count = count;
    this.#movedAt = now;
  }

  /** For how long the loop has been blocked, if a heartbeat is due for it now; else undefined. */
  look(count: number, now: number): number | undefined {
    if (count !== this.#count) {
      this.#count = count;
      this.#movedAt = now;
      return undefined;
    }
    const blockedMs = now - this.#movedAt;
    if (blockedMs < this.#intervalMs || blockedMs > blockedMaxMs) return undefined;
    if (now - this.#spokeAt < this.#intervalMs) return undefined;
    this.#spokeAt = now;
    return blockedMs;
  }
}
