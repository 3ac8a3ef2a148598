import type { ErrorBody } from "@agent-reach/protocol";
import { failure } from "./failure.js";
import { sdkLimits } from "./limits.js";
import type { Pending } from "./pending.js";
import type { Wheel } from "./wheel.js";

/**
 * Requests of ours that wait for their answers, whatever happens to the sockets meanwhile.
 *
 * R1  A request is answered, failed, or late; once.
 * R2  It keeps its id and its place over reconnects; an answer from an older socket cannot reach a newer request.
 *
 * They stand in slots by the low bits of their ids; an id whose slot is taken by an older request is never given. A Map would
 * do the same, but each of its tables, outgrown by coming and going, holds the next one, and with it all requests that stood
 * there: once one of them has grown old, the garbage collector copies every call's remains until its next great round.
 */
export class Requests {
  readonly #wheel: Wheel;
  readonly #onBusy: () => void;
  /** A power of two of them, and at most half of them taken. */
  #slots: (Pending | undefined)[] = new Array(64).fill(undefined);
  #size = 0;
  #nextId = 1;

  /** `onBusy` is called when the first one comes and when the last one is gone. */
  constructor(wheel: Wheel, onBusy: () => void) {
    this.#wheel = wheel;
    this.#onBusy = onBusy;
  }

  get size(): number {
    return this.#size;
  }

  /** No request so far has this id or a higher one. */
  get nextId(): number {
    return this.#nextId;
  }

  add(pending: Pending): void {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    const slots = this.#slots;
    const mask = slots.length - 1;
    let id = this.#nextId;
    while (slots[id & mask] !== undefined) id++;
    this.#nextId = id + 1;
    pending.id = id;
    slots[id & mask] = pending;
    if (++this.#size === 1) this.#onBusy();
  }

  get(id: number): Pending | undefined {
    const pending = this.#slots[id & (this.#slots.length - 1)];
    return pending?.id === id ? pending : undefined;
  }

  /** A copy, oldest first, so that what happens on the way may change the table. */
  all(): Pending[] {
    return this.#slots.filter((pending) => pending !== undefined).sort((a, b) => a.id - b.id);
  }

  /** False: it did not wait any more. */
  forget(pending: Pending): boolean {
    const slot = pending.id & (this.#slots.length - 1);
    if (this.#slots[slot] !== pending) return false;
    this.#slots[slot] = undefined;
    this.#wheel.clear(pending);
    if (--this.#size === 0) this.#onBusy();
    return true;
  }

  fail(pending: Pending, error: ErrorBody): void {
    if (this.forget(pending)) pending.failed(error);
  }

  failAll(error: ErrorBody): void {
    for (const pending of this.all()) {
      this.fail(pending, { ...error, outcome: pending.sent ? "unknown" : "not_executed" });
    }
  }

  /** The socket is gone, and with it what belongs to it alone. */
  socketLost(error: ErrorBody): void {
    for (const pending of this.all()) if (pending.lives === "socket") this.fail(pending, error);
  }

  /**
   * The node knows nothing of the session in which these were sent: it is another process, or it has forgotten. Sent again
   * they would be executed again, so whoever waits is told what is known, which is nothing. What was never sent goes out.
   */
  sessionLost(where: string): void {
    for (const pending of this.all()) {
      if (pending.lives !== "session" || !pending.sent) continue;
      const text =
        `${pending.method} was sent to ${where} and not answered before the node restarted or forgot this session, so it is ` +
        "unknown whether it was executed, and it is not repeated; call again if the capability is idempotent, else look " +
        "what it did first, or submit a task, which survives this";
      this.fail(pending, failure("DELIVERY_TIMEOUT", text, { outcome: "unknown", retryable: false }));
    }
  }

  /** The node closed for a frame over its limit: the largest one under way was it, and is not sent for ever (C06). */
  failLargest(): void {
    let largest: Pending | undefined;
    for (const pending of this.all()) if (pending.size > (largest?.size ?? 0)) largest = pending;
    if (!largest || largest.lives === "socket") return;
    const text = `the node closed the connection over a frame of ${largest.method}; send a reference instead`;
    this.fail(largest, failure("PAYLOAD_TOO_LARGE", text));
  }

  #grow(): void {
    const slots: (Pending | undefined)[] = new Array(this.#slots.length * 2).fill(undefined);
    for (const pending of this.#slots) if (pending) slots[pending.id & (slots.length - 1)] = pending;
    this.#slots = slots;
  }
}

/** There is no room for one more request. */
export function tooMany(where: string): ErrorBody {
  const text = `${sdkLimits.pendingMax} requests already wait for ${where}; slow down`;
  return failure("BUSY", text, { retryAfterMs: 100 });
}
