const POOL_BYTES = 4096;
const COUNTER_MAX = 0xfff;
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * Makes UUIDs of version 7 (RFC 9562, method 1: a counter in `rand_a`), each sorting after the one before (S4).
 *
 * It runs once a message, so chance is fetched a pool at a time. When the wall clock jumps back, or one millisecond asks
 * for more ids than the counter has room for, the time in the id runs ahead of the clock rather than ever going back.
 */
export function uuidV7(now: () => number, fill: (pool: Uint8Array) => void): () => string {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let lastMs = 0;
  let counter = 0;
  let prefix = "";

  return () => {
    if (used + 10 > POOL_BYTES) {
      fill(pool);
      used = 0;
    }
    const ms = Math.floor(now());
    if (ms > lastMs || counter === COUNTER_MAX) {
      lastMs = Math.max(ms, lastMs + 1);
      const time = lastMs.toString(16).padStart(12, "0");
      prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
      // Half of the range stays free, so that a millisecond has room for at least 2,048 more.
      counter = ((pool[used]! << 8) | pool[used + 1]!) & 0x7ff;
    } else {
      counter += 1;
    }
    const at = used + 2;
    used += 10;
    const variant = hex[(pool[at]! & 0x3f) | 0x80]! + hex[pool[at + 1]!]!;
    const node =
      hex[pool[at + 2]!]! +
      hex[pool[at + 3]!]! +
      hex[pool[at + 4]!]! +
      hex[pool[at + 5]!]! +
      hex[pool[at + 6]!]! +
      hex[pool[at + 7]!]!;
    return `${prefix}${hex[counter >> 4]!}${(counter & 0xf).toString(16)}-${variant}-${node}`;
  };
}
