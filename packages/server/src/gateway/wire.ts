/**
 * A connection as its session needs it: the writing half, and how far the reader is behind. `Socket` is the real one.
 *
 * Q1  Texts leave whole and in order. `send` never throws and never blocks; once closing, it does nothing.
 * Q2  `close` says what waits, then why it goes; `destroy` ends without ceremony. However it ends, whoever accepted the
 *     connection hears it once.
 */
export interface Wire {
  /** Called when something was handed to the network. */
  onWritten: () => void;
  /** Bytes that the peer has not taken yet, roughly. */
  readonly backlog: number;
  /** Whether so much was left waiting that its peer counts as unable to take more until it has taken everything. */
  readonly isBehind: boolean;
  readonly isClosing: boolean;
  send(text: string): void;
  /** Asks for a pong, below the messages. */
  ping(): void;
  /** The peer took everything. */
  drained(): void;
  close(code: number, reason: string): void;
  destroy(): void;
}
