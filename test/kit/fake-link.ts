import type { AgentErrorShape, DeliveredEnvelope } from "@agent-reach/protocol";
import type { Expiry, Link, Outgoing, Receiver } from "../../packages/server/src/ports/delivery.js";

/** One message that was put on the link, and the agent's ways to answer it: one of them, once (D2). */
export class FakeDelivery {
  readonly envelope: DeliveredEnvelope;
  answered = false;

  constructor(
    readonly message: Outgoing,
    private readonly receiver: Receiver,
  ) {
    this.envelope = JSON.parse(message.envelope) as DeliveredEnvelope;
  }

  get attempt(): number {
    return this.message.attempt;
  }

  /** An agent on pull has it now. */
  fetch(): void {
    this.receiver.sent?.();
  }

  accept(): void {
    this.once().accepted();
  }

  complete(value: unknown = { ok: true }, receipt?: string): Promise<void> | void {
    return this.once().completed(JSON.stringify(value), receipt, value);
  }

  fail(error: AgentErrorShape = { code: "NO_SUCH_ORDER", message: "no such order" }): Promise<void> | void {
    return this.once().failed(error, undefined);
  }

  refuse(code: string, retryAfterMs?: number, expiry?: Expiry): void {
    this.once().refused(code, "not now", retryAfterMs, expiry);
  }

  /** The link went before the answer, or that took too long. */
  lose(expiry?: Expiry): void {
    if (!this.answered) this.once().lost(expiry);
  }

  private once(): Receiver {
    if (this.answered) throw new Error(`attempt ${this.attempt} of ${this.message.messageId} was answered already`);
    this.answered = true;
    return this.receiver;
  }
}

/** A link without a wire: what is delivered lies in a list until the test answers it. */
export class FakeLink implements Link {
  readonly deliveries: FakeDelivery[] = [];
  readonly cancels: { messageId: string; attempt: number; reason: string }[] = [];
  readonly closes: number[] = [];
  /** Takes nothing more, like a socket whose other side does not read. */
  full = false;
  private taken = 0;

  constructor(
    readonly kind: Link["kind"] = "ws",
    /** Answers at once, within `deliver`. */
    public handler: ((delivery: FakeDelivery) => void) | undefined = undefined,
  ) {}

  get room(): number {
    return this.full || this.closes.length > 0 ? 0 : Number.POSITIVE_INFINITY;
  }

  deliver(message: Outgoing, receiver: Receiver): boolean {
    if (this.full || this.closes.length > 0) return false;
    const delivery = new FakeDelivery(message, receiver);
    this.deliveries.push(delivery);
    this.handler?.(delivery);
    return true;
  }

  cancel(messageId: string, attempt: number, reason: string): void {
    this.cancels.push({ messageId, attempt, reason });
  }

  close(code: number): void {
    this.closes.push(code);
    this.drop();
  }

  /** Nothing on its way will be answered any more. */
  drop(): void {
    for (const delivery of this.deliveries) delivery.lose();
  }

  /** The oldest delivery that no test has looked at. */
  next(): FakeDelivery {
    const delivery = this.deliveries[this.taken];
    if (delivery === undefined) throw new Error(`no further delivery; there were ${this.deliveries.length}`);
    this.taken++;
    return delivery;
  }

  get waiting(): number {
    return this.deliveries.length - this.taken;
  }
}
