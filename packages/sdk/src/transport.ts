/**
 * A socket as the SDK needs it.
 *
 * T1  Texts arrive whole and in order, or `closed` is called once and nothing after it.
 * T2  `send` never throws and never blocks; after the end it does nothing.
 * T3  Frames of one turn of the event loop may be written together.
 */
export interface Transport {
  send(text: string): void;
  /** Bytes handed over and not yet written. */
  readonly bufferedBytes: number;
  close(code: number, reason: string): void;
  /** Whether the socket keeps the process alive; only Node knows the question. */
  hold?(on: boolean): void;
}

export interface TransportEvents {
  opened(): void;
  received(text: string): void;
  closed(code: number, reason: string): void;
}

/** Begins to open a socket. Failures come as `closed`, never as an exception. */
export type Dial = (url: string, events: TransportEvents) => Transport;
