/** Ids as numbers: a message's is a UUID, a trace's the same 32 hexadecimal digits without dashes. Both make four words. */

export const UUID_LENGTH = 36;
export const TRACE_LENGTH = 32;

export function writeUuid(words: Int32Array, at: number, id: string): void {
  words[at] = hex(id, 0, 8);
  words[at + 1] = (hex(id, 9, 4) << 16) | hex(id, 14, 4);
  words[at + 2] = (hex(id, 19, 4) << 16) | hex(id, 24, 4);
  words[at + 3] = hex(id, 28, 8);
}

export function writeHex(words: Int32Array, at: number, digits: string): void {
  for (let i = 0; i < 4; i++) words[at + i] = hex(digits, i * 8, 8);
}

export function wordsOf(digits: string): Int32Array {
  const words = new Int32Array(4);
  writeHex(words, 0, digits);
  return words;
}

export function hexOf(words: Int32Array, at: number): string {
  return [...words.subarray(at, at + 4)].map((w) => (w >>> 0).toString(16).padStart(8, "0")).join("");
}

export function uuidOf(words: Int32Array, at: number): string {
  const digits = hexOf(words, at);
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    "-",
  );
}

/** Value of hexadecimal digits, in either case. */
function hex(text: string, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const c = text.charCodeAt(i);
    // The digits of 0-9 are the low bits of their codes; a-f and A-F begin with 1 there, for ten.
    value = (value << 4) | ((c & 15) + (c >> 6) * 9);
  }
  return value;
}
