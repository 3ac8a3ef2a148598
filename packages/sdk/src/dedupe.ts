import { sdkLimits } from "./limits.js";
import type { SdkSystem } from "./platform.js";

/** A success as it is remembered: the JSON text of its data, and when it ran. */
export interface Success {
  readonly data: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

/**
 * The successes of the last 24 h, at most 10,000 of them and 64 million characters of results; the oldest go first.
 * Failures are not remembered: they may be tried again.
 *
 * They stand in rings, one for each part: an object per success, or the many pieces of a whole answer, would be copied by
 * every garbage collection until the next ten thousand have come. The map knows the order of its keys too, but finding its
 * oldest entry again and again walks over all those deleted before.
 */
export class Dedupe {
  readonly #system: Pick<SdkSystem, "monotonic">;
  /** Where a key stands in the rings. */
  readonly #places = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #data: string[] = [];
  readonly #startedAtMs: number[] = [];
  readonly #finishedAtMs: number[] = [];
  readonly #keptAtMs: number[] = [];
  #oldest = 0;
  #chars = 0;

  constructor(system: Pick<SdkSystem, "monotonic">) {
    this.#system = system;
  }

  get size(): number {
    return this.#places.size;
  }

  find(key: string): Success | undefined {
    if (!this.#places.has(key)) return undefined;
    while (this.size > 0 && this.#system.monotonic() - this.#keptAtMs[this.#oldest]! >= sdkLimits.dedupeMs) {
      this.#forgetOldest();
    }
    const at = this.#places.get(key);
    if (at === undefined) return undefined;
    return { data: this.#data[at]!, startedAtMs: this.#startedAtMs[at]!, finishedAtMs: this.#finishedAtMs[at]! };
  }

  /** A key is kept once; whoever asked `find` before does not run it again. */
  keep(key: string, data: string, startedAtMs: number, finishedAtMs: number): void {
    while (
      this.size > 0 &&
      (this.size >= sdkLimits.dedupeMax || this.#chars + data.length > sdkLimits.dedupeCharsMax)
    ) {
      this.#forgetOldest();
    }
    const at = (this.#oldest + this.size) % sdkLimits.dedupeMax;
    this.#keys[at] = key;
    this.#data[at] = data;
    this.#startedAtMs[at] = startedAtMs;
    this.#finishedAtMs[at] = finishedAtMs;
    this.#keptAtMs[at] = this.#system.monotonic();
    this.#chars += data.length;
    this.#places.set(key, at);
  }

  #forgetOldest(): void {
    const at = this.#oldest;
    this.#oldest = (at + 1) % sdkLimits.dedupeMax;
    this.#chars -= this.#data[at]!.length;
    this.#places.delete(this.#keys[at]!);
    this.#data[at] = "";
  }
}
