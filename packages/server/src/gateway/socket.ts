import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Wire } from "./wire.js";

/** A flush happens early once this many messages wait, so that peers on the other side need not work in lock-step. */
const EARLY_FLUSH = 16;

/** Bytes that may wait for a slow reader. */
const BACKLOG_MAX = 8 * 1024 * 1024;

/** Flushes every socket that has something to say once per turn of the event loop, however many messages wait. */
export class Flusher {
  private readonly dirty: Socket[] = [];
  private scheduled = false;

  mark(socket: Socket): void {
    this.dirty.push(socket);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      for (const each of this.dirty.splice(0)) each.flush();
    });
  }
}

/**
 * The writing half of one WebSocket. Texts are gathered and leave as one buffer per turn, with their frames made here:
 * frames from a server are unmasked and take ten lines, and one write in place of two per message is a third of a
 * relayed call's cost. Reading, the handshake and control frames are the library's.
 */
export class Socket implements Wire {
  private waiting: string[] = [];
  private marked = false;
  private closing = false;
  private behind = false;
  onWritten: () => void = () => {};

  constructor(
    private readonly ws: WebSocket,
    private readonly stream: Duplex,
    private readonly flusher: Flusher,
  ) {}

  get backlog(): number {
    return this.stream.writableLength;
  }

  get isBehind(): boolean {
    return this.behind;
  }

  drained(): void {
    this.behind = false;
  }

  get isClosing(): boolean {
    return this.closing;
  }

  send(text: string): void {
    if (this.closing) return;
    this.waiting.push(text);
    if (this.waiting.length >= EARLY_FLUSH) this.flush();
    else if (!this.marked) {
      this.marked = true;
      this.flusher.mark(this);
    }
  }

  flush(): void {
    this.marked = false;
    const texts = this.waiting;
    if (texts.length === 0) return;
    this.waiting = [];
    if (this.ws.readyState !== this.ws.OPEN || !this.stream.writable) return;
    this.stream.write(frames(texts));
    this.behind = this.backlog > BACKLOG_MAX;
    this.onWritten();
  }

  ping(): void {
    if (this.ws.readyState === this.ws.OPEN) this.ws.ping();
  }

  close(code: number, reason: string): void {
    if (this.closing) return;
    this.flush();
    this.closing = true;
    this.ws.close(code, reason.slice(0, 120));
  }

  destroy(): void {
    this.closing = true;
    this.waiting = [];
    this.ws.terminate();
  }
}

/** One unmasked, final text frame per message (RFC 6455, section 5.2), in one buffer. */
export function frames(texts: readonly string[]): Buffer {
  let total = 0;
  const sizes = new Array<number>(texts.length);
  for (let i = 0; i < texts.length; i++) {
    const size = Buffer.byteLength(texts[i]!);
    sizes[i] = size;
    total += size + (size < 126 ? 2 : size < 65536 ? 4 : 10);
  }
  const buffer = Buffer.allocUnsafe(total);
  let at = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    const size = sizes[i]!;
    buffer[at++] = 0x81;
    if (size < 126) buffer[at++] = size;
    else if (size < 65536) {
      buffer[at++] = 126;
      at = buffer.writeUInt16BE(size, at);
    } else {
      buffer[at++] = 127;
      at = buffer.writeUInt32BE(Math.floor(size / 0x100000000), at);
      at = buffer.writeUInt32BE(size >>> 0, at);
    }
    // A text with as many bytes as characters is ASCII, which can be copied as it is.
    at += size === text.length ? buffer.latin1Write(text, at, size) : buffer.utf8Write(text, at, size);
  }
  return buffer;
}

declare global {
  interface Buffer {
    /** The encoders behind `write`, which it chooses among by name. */
    latin1Write(text: string, offset: number, length: number): number;
    utf8Write(text: string, offset: number, length: number): number;
  }
}
