import type { Link, Outgoing, Receiver } from "../ports/delivery.js";
import type { System } from "../ports/system.js";

/** Deliveries that may wait to be fetched. The router sends no more than the card's concurrency, so this is a backstop. */
const WAITING_MAX = 10_000;

/** Even a pull that will not wait gives the node this long to bring what is due from its store. */
const WAIT_MIN_MS = 100;
/** After the first message, so that the rest of a batch comes with it. */
const GATHER_MS = 5;

export interface Pulled {
  /** JSON text of `{envelope, attempt}`. */
  json: string;
  messageId: string;
  attempt: number;
}

/**
 * Delivery to an agent that holds no socket: messages wait until it pulls them, and its acknowledgements come as
 * requests of their own. A pull is *sent*, the ack is *received*.
 */
export class PullLink implements Link {
  readonly kind = "pull";
  private waiting: { message: Outgoing; receiver: Receiver }[] = [];
  /** Fetched, and not answered yet. */
  private readonly fetched = new Map<string, Receiver>();
  private wake: (() => void) | undefined;
  private closed = false;
  /** What the pull that is waiting asked for and was not promised yet. */
  private wanted = 0;

  constructor(
    private readonly system: System,
    /** Called when a pull waits: whatever is due may come now. */
    private readonly onWanted: () => void,
  ) {}

  /** An agent that has not asked has no room, so nothing is sent, and no attempt spent, before it does. */
  get room(): number {
    return this.wanted;
  }

  reserve(): void {
    if (this.wanted > 0) this.wanted--;
  }

  deliver(message: Outgoing, receiver: Receiver): boolean {
    if (this.closed || this.waiting.length >= WAITING_MAX) return false;
    this.waiting.push({ message, receiver });
    if (this.waiting.length === 1 || this.wanted === 0) this.wake?.();
    return true;
  }

  /** Up to `max` messages; waits up to `waitMs` for the first, and then a moment for more. A new pull ends an older one. */
  async pull(max: number, waitMs: number, gone: AbortSignal): Promise<Pulled[]> {
    this.wake?.();
    if (this.waiting.length < max && !this.closed && !gone.aborted) {
      this.wanted = max - this.waiting.length;
      await this.wait(Math.max(waitMs, WAIT_MIN_MS), gone);
      if (this.waiting.length < max && this.waiting.length > 0) await this.wait(GATHER_MS, gone);
      this.wanted = 0;
    }
    // Whoever hung up must not take messages with it.
    if (gone.aborted) return [];
    return this.waiting.splice(0, max).map(({ message, receiver }) => {
      this.fetched.set(keyOf(message.messageId, message.attempt), receiver);
      receiver.sent?.();
      return {
        json: `{"envelope":${message.envelope},"attempt":${message.attempt}}`,
        messageId: message.messageId,
        attempt: message.attempt,
      };
    });
  }

  private wait(ms: number, gone: AbortSignal): Promise<void> {
    return new Promise<void>((resolve) => {
      const done = () => {
        cancel();
        gone.removeEventListener("abort", done);
        if (this.wake === done) this.wake = undefined;
        resolve();
      };
      const cancel = this.system.after(ms, done);
      gone.addEventListener("abort", done);
      this.wake = done;
      this.onWanted();
    });
  }

  /** Who waits for the answer of a fetched message; asking for it takes it out, unless it stays for the receipt. */
  take(messageId: string, attempt: number): Receiver | undefined {
    const key = keyOf(messageId, attempt);
    const receiver = this.fetched.get(key);
    this.fetched.delete(key);
    return receiver;
  }

  cancel(messageId: string, attempt: number): void {
    this.fetched.delete(keyOf(messageId, attempt));
    this.waiting = this.waiting.filter(({ message }) => message.messageId !== messageId || message.attempt !== attempt);
  }

  close(): void {
    this.closed = true;
    this.wake?.();
    const unheard = [...this.waiting.map((w) => w.receiver), ...this.fetched.values()];
    this.waiting = [];
    this.fetched.clear();
    for (const receiver of unheard) receiver.lost();
  }
}

function keyOf(messageId: string, attempt: number): string {
  return `${messageId}/${attempt}`;
}
