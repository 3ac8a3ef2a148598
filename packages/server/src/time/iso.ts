/**
 * Seconds whose text is remembered: moments that are written together share few of them. A prime, since what lies a whole number
 * of minutes, hours or days apart, as an arrival and its deadline, must not fall on one place.
 */
const SECONDS = 17;
const seconds = new Array<number>(SECONDS).fill(Number.NaN);
const texts = new Array<string>(SECONDS).fill("");

/** ISO 8601 in UTC, of wall ms. */
export function iso(ms: number): string {
  const second = Math.floor(ms / 1000);
  const slot = Math.abs(second % SECONDS);
  if (seconds[slot] !== second) {
    texts[slot] = new Date(second * 1000).toISOString().slice(0, -4);
    seconds[slot] = second;
  }
  const rest = ms - second * 1000;
  return `${texts[slot]}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${Math.floor(rest)}Z`;
}
