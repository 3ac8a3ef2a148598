import { randomFillSync } from "node:crypto";

const poolBytes = 8192;
const pool = Buffer.alloc(poolBytes);
let at = poolBytes;

/**
 * Text frames of a WebSocket client (RFC 6455, 5.2), many in one buffer: final, masked with a key of their own from a
 * cryptographic source, the length in 7, 16 or 64 bits.
 */
export function encodeFrames(texts: readonly string[]): Buffer {
  const lengths = new Array<number>(texts.length);
  let total = 0;
  for (let i = 0; i < texts.length; i++) {
    const length = Buffer.byteLength(texts[i]!);
    lengths[i] = length;
    total += length + (length < 126 ? 6 : length < 65_536 ? 8 : 14);
  }
  const buffer = Buffer.allocUnsafe(total);
  let offset = 0;
  for (let i = 0; i < texts.length; i++) offset = writeFrame(buffer, offset, texts[i]!, lengths[i]!);
  return buffer;
}

function writeFrame(buffer: Buffer, offset: number, text: string, length: number): number {
  buffer[offset++] = 0x81;
  if (length < 126) buffer[offset++] = 0x80 | length;
  else if (length < 65_536) {
    buffer[offset++] = 0x80 | 126;
    buffer[offset++] = length >> 8;
    buffer[offset++] = length & 0xff;
  } else {
    buffer[offset++] = 0x80 | 127;
    offset = buffer.writeUInt32BE(Math.floor(length / 2 ** 32), offset);
    offset = buffer.writeUInt32BE(length >>> 0, offset);
  }
  if (at + 4 > poolBytes) {
    randomFillSync(pool);
    at = 0;
  }
  const a = pool[at++]!;
  const b = pool[at++]!;
  const c = pool[at++]!;
  const d = pool[at++]!;
  buffer[offset++] = a;
  buffer[offset++] = b;
  buffer[offset++] = c;
  buffer[offset++] = d;
  buffer.write(text, offset, length, "utf8");
  const end = offset + length;
  const whole = offset + (length & ~3);
  let i = offset;
  for (; i < whole; i += 4) {
    buffer[i]! ^= a;
    buffer[i + 1]! ^= b;
    buffer[i + 2]! ^= c;
    buffer[i + 3]! ^= d;
  }
  if (i < end) buffer[i++]! ^= a;
  if (i < end) buffer[i++]! ^= b;
  if (i < end) buffer[i++]! ^= c;
  return end;
}
