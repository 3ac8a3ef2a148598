/** Trace ids: W3C inside, whatever the field uses outside. Pure, so that every language can map the same id the same way. */
import { utf8Length } from "./json.js";

export interface TraceIdentity {
  /** 32 lower-case hex digits, not all zero. */
  traceId: string;
  /** The id as it was given, where it had to be mapped; both can be searched for. */
  externalTraceId?: string;
}

const zeros = /^0+$/;

/**
 * Maps a given trace id: 32 hex digits stay (in lower case), 16 are padded with zeros on the left, everything else, all zeros
 * included, is hashed. When nothing is given, `fresh` makes one.
 */
export function traceIdOf(given: string): TraceIdentity;
export function traceIdOf(given: string | undefined, fresh: () => string): TraceIdentity;
export function traceIdOf(given: string | undefined, fresh?: () => string): TraceIdentity {
  if (given === undefined) return { traceId: fresh!() };
  if (/^[0-9a-f]{32}$/.test(given) && !zeros.test(given)) return { traceId: given };
  if (/^[0-9a-f]{32}$/i.test(given) && !zeros.test(given)) return { traceId: given.toLowerCase() };
  if (/^[0-9a-f]{16}$/i.test(given) && !zeros.test(given)) {
    return { traceId: given.toLowerCase().padStart(32, "0"), externalTraceId: given };
  }
  const first = fnv1a64(given);
  return { traceId: first + fnv1a64(first + given), externalTraceId: given };
}

export interface TraceParent {
  traceId: string;
  /** 16 hex digits: the caller's span. */
  parentId: string;
  sampled: boolean;
}

/** Reads a W3C `traceparent` header; undefined if it is not valid, which by that standard means: start a new trace. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const parts = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header?.trim() ?? "");
  if (parts === null) return undefined;
  const [, version, traceId, parentId, flags, rest] = parts as unknown as [
    string,
    string,
    string,
    string,
    string,
    string?,
  ];
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent(parent: TraceParent): string {
  return `00-${parent.traceId}-${parent.parentId}-${parent.sampled ? "01" : "00"}`;
}

/**
 * FNV-1a with 64 bits over the UTF-8 bytes, as 16 hex digits. The product with the prime 2^40 + 0x1b3 is taken in two halves
 * of 32 bits, which stay exact in a double; BigInt would be ten times slower.
 */
function fnv1a64(text: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of utf8Bytes(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 0x1_0000_0000) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}

/** Without TextEncoder, which the bare language does not have. A lone surrogate becomes U+FFFD. */
function utf8Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text));
  let at = 0;
  for (const character of text) {
    let point = character.codePointAt(0)!;
    if (point >= 0xd800 && point < 0xe000) point = 0xfffd;
    if (point < 0x80) bytes[at++] = point;
    else {
      const length = point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4;
      bytes[at++] = [0xc0, 0xe0, 0xf0][length - 2]! | (point >> (6 * (length - 1)));
      for (let shift = 6 * (length - 2); shift >= 0; shift -= 6) bytes[at++] = 0x80 | ((point >> shift) & 0x3f);
    }
  }
  return bytes;
}
