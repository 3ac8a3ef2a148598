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
  readonly #answers = new Map<string, string>();
  /**
   * The keys by age and when they were kept, in rings. The map knows the order too, but finding its oldest entry again and
   * again walks over all those deleted before. No object per success: what lives long is what garbage collection costs.
   */
  readonly #keys: string[] = [];
  readonly #atMs: number[] = [];
  #oldest = 0;
  #chars = 0;

  constructor(system: Pick<SdkSystem, "monotonic">) {
    this.#system = system;
  }

  get size(): number {
    return this.#answers.size;
  }

  /** The answer that was given for this key. */
  find(key: string): string | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    while (this.size > 0 && this.#system.monotonic() - this.#atMs[this.#oldest]! >= sdkLimits.dedupeMs) this.#forgetOldest();
    return this.#answers.has(key) ? answer : undefined;
  }

  /** A key is kept once; whoever asked `find` before does not run it again. */
  keep(key: string, answer: string): void {
    while (
      this.size > 0 &&
      (this.size >= sdkLimits.dedupeMax || this.#chars + answer.length > sdkLimits.dedupeCharsMax)
    ) {
      this.#forgetOldest();
    }
    const at = (this.#oldest + this.size) % sdkLimits.dedupeMax;
    this.#keys[at] = key;
    this.#atMs[at] = this.#system.monotonic();
    this.#chars += answer.length;
    this.#answers.set(key, answer);
  }

  #forgetOldest(): void {
    const key = this.#keys[this.#oldest]!;
    this.#oldest = (this.#oldest + 1) % sdkLimits.dedupeMax;
    this.#chars -= this.#answers.get(key)!.length;
    this.#answers.delete(key);
  }
}
