/**
 * Tells whether two messages with one key say the same: hashes of target, capability or intent, and input, which do not
 * depend on the order of keys. FNV-1a (Fowler, Noll, Vo) over texts, members of objects summed up. Not for secrets.
 */

/** 32 bits as one small integer: for calls, of which there are many, and where it is compared within a minute. */
export function fingerprintOf(target: unknown, what: string | undefined, input: unknown, inputText: string): number {
  return digest(target, what, input, inputText, 0x811c9dc5);
}

/** 64 bits as text: for tasks, whose keys live as long as their results. */
export function contentHashOf(target: unknown, what: string | undefined, input: unknown, inputText: string): string {
  const lane = (seed: number) => (digest(target, what, input, inputText, seed) >>> 0).toString(36);
  return lane(0x811c9dc5) + lane(0x01000193);
}

/** Long numbers count by their digits, since parsing takes neighbours beyond 2^53 for equal. */
function digest(target: unknown, what: string | undefined, input: unknown, inputText: string, seed: number): number {
  sawLong = false;
  let h = Math.imul(mix(input, seed), 0x01000193) ^ text(what ?? "", seed);
  if (target !== undefined) h = Math.imul(h, 0x01000193) ^ mix(target, seed);
  if (sawLong) for (const digits of inputText.match(LONG_NUMBERS) ?? []) h = (h + text(digits, seed)) | 0;
  return h | 0;
}

const LONG_NUMBERS = /-?[\d.]{16,}(?:[eE][+-]?\d+)?/g;
/** Set by `mix` when it met a number that may have lost digits; one digest at a time on one thread. */
let sawLong = false;

function mix(value: unknown, seed: number): number {
  switch (typeof value) {
    case "string":
      return text(value, seed ^ 0x53);
    case "number":
      if (!(Math.abs(value) < 1e15)) sawLong = true;
      else if (!Number.isInteger(value) && String(value).length >= 16) sawLong = true;
      return text(String(value), seed ^ 0x4e);
    case "boolean":
      return text(value ? "t" : "f", seed ^ 0x42);
    case "object":
      break;
    default:
      return seed ^ 0x55;
  }
  if (value === null) return seed ^ 0x30;
  if (Array.isArray(value)) {
    let h = seed ^ 0x41;
    for (const item of value) h = Math.imul(h ^ mix(item, seed), 0x01000193);
    return h ^ value.length;
  }
  let sum = seed ^ 0x4f;
  for (const key in value as object) {
    if (Object.hasOwn(value as object, key)) {
      sum =
        (sum + Math.imul(text(key, seed) ^ mix((value as Record<string, unknown>)[key], seed ^ 0x3a), 0x85ebca6b)) | 0;
    }
  }
  return sum;
}

function text(s: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 0x01000193);
  return h ^ s.length;
}
