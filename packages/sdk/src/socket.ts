import type { Connection } from "./connection.js";
import type { Transport, TransportEvents } from "./transport.js";

/** The events of one socket, so that words of an old one are known as such. */
export class Socket implements TransportEvents {
  readonly url: string;
  readonly #connection: Connection;
  transport: Transport = unopened;
  giveUp: () => void = () => {};

  constructor(connection: Connection, url: string) {
    this.#connection = connection;
    this.url = url;
  }

  opened(): void {
    this.#connection.opened(this);
  }

  received(text: string): void {
    this.#connection.received(this, text);
  }

  closed(code: number, reason: string): void {
    this.#connection.closed(this, code, reason);
  }
}

const unopened: Transport = { bufferedBytes: 0, send: () => {}, close: () => {} };
