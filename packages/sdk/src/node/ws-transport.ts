import type { Socket } from "node:net";
import { WebSocket } from "ws";
import type { Dial, Transport, TransportEvents } from "../transport.js";
import { encodeFrames } from "./frames.js";

/** So many frames are written together at most; waiting for more makes peers work in lock-step. */
const togetherMax = 16;
const payloadBytesMax = 64 * 1024 * 1024;
/** How long a peer may take to answer our close before the socket is destroyed. */
const closeTimeoutMs = 2_000;

/** Sockets of Node: opened, read and closed by `ws`. */
export const wsDial: Dial = (url, events) => new WsTransport(url, events);

/**
 * Frames of one turn of the event loop, or 16 of them, go out as one buffer in one write. `ws` would write each by itself,
 * which costs more than all the rest of a call. Its own frames (pong, close) are whole writes too, so they never fall into
 * the middle of one of ours.
 */
class WsTransport implements Transport {
  readonly #socket: WebSocket;
  #net: Socket | undefined;
  #texts: string[] = [];
  #hold = true;
  readonly #flush = () => {
    if (this.#texts.length === 0) return;
    const texts = this.#texts;
    this.#texts = [];
    if (this.#socket.readyState === WebSocket.OPEN) this.#net?.write(encodeFrames(texts));
  };

  constructor(url: string, events: TransportEvents) {
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: payloadBytesMax,
      skipUTF8Validation: true,
    });
    this.#socket = socket;
    socket.on("upgrade", (response) => {
      this.#net = response.socket;
      response.socket.setNoDelay(true);
      this.hold(this.#hold);
    });
    socket.on("open", () => events.opened());
    socket.on("message", (data: Buffer, isBinary) => {
      if (!isBinary) events.received(data.toString());
    });
    // `close` follows every error, and with it the reason; without a listener an error would end the process.
    let failure = "";
    socket.on("error", (error) => {
      failure = error.message;
    });
    socket.on("close", (code, reason) => events.closed(code, reason.toString() || failure));
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(text: string): void {
    const waiting = this.#texts.push(text);
    if (waiting === 1) setImmediate(this.#flush);
    else if (waiting >= togetherMax) this.#flush();
  }

  close(code: number, reason: string): void {
    this.#flush();
    this.#socket.close(code, reason.slice(0, 40));
    if (this.#socket.readyState !== WebSocket.CLOSED)
      setTimeout(() => this.#socket.terminate(), closeTimeoutMs).unref();
  }

  hold(on: boolean): void {
    this.#hold = on;
    if (on) this.#net?.ref();
    else this.#net?.unref();
  }
}
