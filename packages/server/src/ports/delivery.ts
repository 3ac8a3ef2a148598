import type { AgentErrorShape } from "@agent-reach/protocol";

/**
 * The way to one instance: its socket, its pull queue, or its HTTP endpoint.
 *
 * D1  `deliver` either takes the message on its way or answers false at once; it never throws and never blocks.
 * D2  For each message taken, the receiver hears at most one answer over this link: accepted, completed, failed, refused
 *     or lost. After `accepted` the receipt comes by `complete`, over any connection.
 * D3  It keeps no message beyond its answer, and promises neither arrival nor order: attempts and time-outs are the
 *     caller's business.
 */
export interface Link {
  readonly kind: "ws" | "pull" | "http";
  /** How many more messages it would take right now; 0 while its peer is behind, or has not asked for any. */
  readonly room: number;
  /** One of that room is promised to a message that will be delivered in a moment. */
  reserve?(): void;
  deliver(message: Outgoing, receiver: Receiver): boolean;
  cancel(messageId: string, attempt: number, reason: string): void;
  /** Ends the link; 4001 superseded, 4010 draining, … */
  close(code: number, reason: string): void;
}

/** A message on its way to an instance. `envelope` is JSON text, made once. */
export interface Outgoing {
  readonly messageId: string;
  readonly attempt: number;
  readonly envelope: string;
  /** How long the answer may take in all, on a way where each message is a request of its own. */
  readonly timeoutMs: number;
  /** How long the work usually takes, by the card. */
  readonly hintMs: number | undefined;
}

/** Which part of a request of its own took longer than it may (RES-10), and how long that is. */
export interface Expiry {
  readonly phase: "connect" | "first byte" | "total";
  readonly limitMs: number;
}

/** Who waits for the answer of one attempt. All texts are raw JSON. */
export interface Receiver {
  /** A pull agent has fetched it; sockets and webhooks are sent at once. */
  sent?(): void;
  accepted(): void;
  /** `value` is the parsed data. A promise says when the result is safe: nothing may be acknowledged before. */
  completed(data: string, receipt: string | undefined, value: unknown): Promise<void> | void;
  failed(error: AgentErrorShape, receipt: string | undefined): Promise<void> | void;
  /** Not executed. */
  refused(code: string, message: string, retryAfterMs: number | undefined, expiry?: Expiry): void;
  /** The link went before the answer came, or the answer took too long: nobody can tell what was done. */
  lost(expiry?: Expiry): void;
}
