/**
 * A 64-bit hash of JSON data that does not depend on the order of keys, to tell whether two messages with one key say
 * the same. Not for secrets: FNV-1a (Fowler, Noll, Vo) in two lanes of 32 bits over texts, members of objects summed up.
 */
export function hashOf(value: unknown): string {
  const a = mix(value, 0x811c9dc5) >>> 0;
  const b = mix(value, 0x01000193) >>> 0;
  return a.toString(36) + b.toString(36);
}

/**
 * What makes two messages with one key the same: target, capability or intent, and input. Long numbers count by their
 * digits, since parsing would take neighbours beyond 2^53 for equal.
 */
export function contentHashOf(target: unknown, what: string | undefined, input: unknown, inputText: string): string {
  const hash = hashOf([target, what, input]);
  if (!LONG_NUMBER.test(inputText)) return hash;
  let sum = 0;
  for (const digits of inputText.match(LONG_NUMBERS) ?? []) sum = (sum + text(digits, 0x811c9dc5)) | 0;
  return hash + (sum >>> 0).toString(36);
}

const LONG_NUMBER = /[\d.]{16}/;
const LONG_NUMBERS = /-?[\d.]{16,}(?:[eE][+-]?\d+)?/g;

function mix(value: unknown, seed: number): number {
  switch (typeof value) {
    case "string":
      return text(value, seed ^ 0x53);
    case "number":
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
      sum = (sum + Math.imul(text(key, seed) ^ mix((value as Record<string, unknown>)[key], seed ^ 0x3a), 0x85ebca6b)) | 0;
    }
  }
  return sum;
}

function text(s: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 0x01000193);
  return h ^ s.length;
}
