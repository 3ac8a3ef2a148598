import type { DeliveredEnvelope } from "@agent-reach/protocol";
import { sdkLimits } from "./limits.js";
import type { SdkSystem } from "./platform.js";

/**
 * What tells two executions apart: the caller as far as the agent knows him, the capability, and the idempotencyKey. A key
 * chosen by the caller counts together with the input, since two callers without a name may choose the same one; the
 * default, the messageId, is unique and spares looking at the input.
 */
export function executionKey(envelope: DeliveredEnvelope): string {
  const key = envelope.idempotencyKey ?? envelope.messageId;
  if (key === envelope.messageId) return key;
  const input = JSON.stringify(envelope.input) ?? "";
  return `${envelope.source?.agentId ?? ""}\n${envelope.capability}\n${key}\n${input.length}:${hash(input)}`;
}

/** FNV-1a over the code units, in two lanes with different seeds. */
function hash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
}

/**
 * The successes of the last 24 h, at most 10,000 of them and 64 million characters of results; the oldest go first.
 * Failures are not remembered: they may be tried again.
 */
export class Dedupe {
  readonly #system: Pick<SdkSystem, "monotonic">;
  readonly #successes = new Map<string, { answer: string; atMs: number }>();
  /**
   * The keys by age, in a ring. The map knows their order too, but finding its oldest entry again and again walks over all
   * those deleted before.
   */
  readonly #ring: string[] = [];
  #oldest = 0;
  #count = 0;
  #chars = 0;

  constructor(system: Pick<SdkSystem, "monotonic">) {
    this.#system = system;
  }

  get size(): number {
    return this.#count;
  }

  /** The answer that was given for this key. */
  find(key: string): string | undefined {
    if (this.#count === 0) return undefined;
    const found = this.#successes.get(key);
    if (!found) return undefined;
    while (this.#count > 0 && this.#isOld()) this.#forgetOldest();
    return this.#successes.has(key) ? found.answer : undefined;
  }

  /** A key is kept once; whoever asked `find` before does not run it again. */
  keep(key: string, answer: string): void {
    while (
      this.#count > 0 &&
      (this.#count >= sdkLimits.dedupeMax || this.#chars + answer.length > sdkLimits.dedupeCharsMax)
    ) {
      this.#forgetOldest();
    }
    this.#ring[(this.#oldest + this.#count) % sdkLimits.dedupeMax] = key;
    this.#count++;
    this.#chars += answer.length;
    this.#successes.set(key, { answer, atMs: this.#system.monotonic() });
  }

  #isOld(): boolean {
    const oldest = this.#successes.get(this.#ring[this.#oldest]!)!;
    return this.#system.monotonic() - oldest.atMs >= sdkLimits.dedupeMs;
  }

  #forgetOldest(): void {
    const key = this.#ring[this.#oldest]!;
    this.#oldest = (this.#oldest + 1) % sdkLimits.dedupeMax;
    this.#count--;
    this.#chars -= this.#successes.get(key)!.answer.length;
    this.#successes.delete(key);
  }
}
