const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const poolBytes = 4096;

/**
 * Makes UUIDs of version 7 (RFC 9562): 48 bits of time, 74 of chance, taken from a pool so that the random source is
 * asked once in four hundred ids.
 */
export function uuidV7(now: () => number, fill: (pool: Uint8Array) => void): () => string {
  const pool = new Uint8Array(poolBytes);
  let at = poolBytes;
  let lastMs = -1;
  let time = "";
  return () => {
    const ms = now();
    if (ms !== lastMs) {
      lastMs = ms;
      const digits = Math.floor(ms).toString(16).padStart(12, "0");
      time = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
    }
    if (at + 10 > poolBytes) {
      fill(pool);
      at = 0;
    }
    const a = hex[pool[at]!]!;
    const b = hex[pool[at + 1]!]!;
    const c = hex[(pool[at + 2]! & 0x3f) | 0x80]!;
    const d = hex[pool[at + 3]!]!;
    const e = hex[pool[at + 4]!]! + hex[pool[at + 5]!]! + hex[pool[at + 6]!]!;
    const f = hex[pool[at + 7]!]! + hex[pool[at + 8]!]! + hex[pool[at + 9]!]!;
    at += 10;
    return `${time}${a[1]}${b}-${c}${d}-${e}${f}`;
  };
}
