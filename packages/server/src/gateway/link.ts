import type { Link, Outgoing, Receiver } from "../ports/delivery.js";
import type { FaultyWay } from "./chaos.js";
import type { Session } from "./session.js";

/** Deliveries that an agent may leave unanswered before it gets no more. */
const UNANSWERED_MAX = 65_536;

/** Delivery over the agent's own socket. */
export class SocketLink implements Link {
  readonly kind = "ws";
  /** What spoils the way on demand. */
  way: FaultyWay | undefined;

  constructor(private readonly session: Session) {}

  get room(): number {
    const { session } = this;
    return session.closed || session.socket.isClosing || session.socket.isBehind || session.unanswered >= UNANSWERED_MAX
      ? 0
      : Number.POSITIVE_INFINITY;
  }

  deliver(message: Outgoing, receiver: Receiver): boolean {
    return this.way === undefined ? this.send(message, receiver) : this.way.deliver(message, receiver, this.sending);
  }

  private readonly sending = (message: Outgoing, receiver: Receiver) => this.send(message, receiver);

  private send(message: Outgoing, receiver: Receiver): boolean {
    const { session } = this;
    if (session.closed || session.socket.isClosing) return false;
    session.request("deliver", `{"envelope":${message.envelope},"attempt":${message.attempt}}`, receiver);
    return true;
  }

  cancel(messageId: string, attempt: number, reason: string): void {
    this.session.notify("cancel", JSON.stringify({ messageId, attempt, reason }));
  }

  /** Ends it without a word. */
  cut(): void {
    this.session.socket.destroy();
  }

  close(code: number, reason: string): void {
    this.session.close(code, reason);
  }
}
