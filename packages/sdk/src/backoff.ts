import type { SdkSystem } from "./platform.js";

export interface ReconnectOptions {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Exponential backoff with full jitter (M. Brooker, "Exponential Backoff and Jitter", AWS, 2015): uniform in 0 … min · 2^n. */
export class Backoff {
  readonly #options: ReconnectOptions;
  readonly #system: Pick<SdkSystem, "random">;
  #attempts = 0;
  #floorMs = 0;

  constructor(options: ReconnectOptions, system: Pick<SdkSystem, "random">) {
    this.#options = options;
    this.#system = system;
  }

  /** Failed attempts since the last reset; also says which address is next. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The node asked for at least so much patience before the next attempt. */
  atLeast(ms: number | undefined): void {
    this.#floorMs = Math.max(this.#floorMs, ms ?? 0);
  }

  next(): number {
    const ceiling = Math.min(this.#options.maxMs, this.#options.minMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts++;
    const delayMs = Math.max(this.#system.random() * ceiling, this.#floorMs);
    this.#floorMs = 0;
    return delayMs;
  }

  reset(): void {
    this.#attempts = 0;
  }
}
