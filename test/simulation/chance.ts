/**
 * Chance that is the same for the same seed, everywhere: a counter, mixed by the 32-bit finalizer of MurmurHash3
 * (A. Appleby, 2011). Neighbouring seeds have nothing in common, which a plain xorshift would not give.
 */
export class Chance {
  #state: number;
  readonly #step: number;

  constructor(seed: number) {
    this.#state = mix(seed ^ 0x5bf03635);
    this.#step = mix(seed + 0x3c6ef372) | 1;
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + this.#step) | 0;
    return (mix(this.#state) >>> 0) / 2 ** 32;
  }

  /** A source of its own, so that what one part draws does not move what the others see. */
  fork(): Chance {
    return new Chance(this.int(0, 2 ** 31));
  }

  /** A whole number in [from, to). */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from));
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** True in this share of the cases. */
  in(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(0, from.length)]!;
  }

  /** A pick where each option has a weight. */
  weighted<T>(options: readonly (readonly [number, T])[]): T {
    let ticket = this.next() * options.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, option] of options) {
      ticket -= weight;
      if (ticket < 0) return option;
    }
    return options[options.length - 1]![1];
  }
}

function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
