/** One look of an agent at itself. */
export type Sample = {
  /** ISO 8601. */
  readonly at: string;
  readonly running: number;
  readonly queued: number;
  readonly health?: number;
};

/** The agent's own check of itself: how well it is, 0 to 1, or whether. */
export type SelfCheck = () => number | boolean | Promise<number | boolean>;

/** Samples of one heartbeat that are kept; a heartbeat that could not be sent must not grow without end. */
const samplesMax = 100;

/**
 * Several looks in one heartbeat (LIVE-12). Whoever beats rarely must not be slow to say that something is wrong, so a look
 * that differs much from what was said last is news, and news are told at once.
 */
export class Sampler {
  #samples: Sample[] = [];
  #told: Sample | undefined;
  #last: Sample | undefined;

  /** The node has heard nothing yet of this run. */
  begin(): void {
    this.#told = undefined;
  }

  /** Whether the look is news: its health changed, or its load jumped by half of the capacity or more. */
  add(sample: Sample, capacity: number): boolean {
    this.#last = sample;
    this.#samples.push(sample);
    if (this.#samples.length > samplesMax) this.#samples.shift();
    // Of one that has said nothing yet, nothing but good is known.
    const told = this.#told ?? { running: 0, queued: 0, health: sample.health === undefined ? undefined : 1 };
    const jump = Math.abs(sample.running + sample.queued - told.running - told.queued);
    return sample.health !== told.health || jump * 2 >= capacity;
  }

  /** What goes out with a heartbeat, said from now on. */
  take(): { samples?: Sample[]; health?: number } {
    if (this.#last === undefined) return {};
    this.#told = this.#last;
    const samples = this.#samples;
    this.#samples = [];
    const { health } = this.#last;
    return { ...(samples.length > 0 && { samples }), ...(health !== undefined && { health }) };
  }
}

/** The check's word as a number; one that throws says 0. */
export async function healthBy(check: SelfCheck): Promise<number> {
  try {
    const health = await check();
    return typeof health === "number" ? Math.min(Math.max(health, 0), 1) : health ? 1 : 0;
  } catch {
    return 0;
  }
}
