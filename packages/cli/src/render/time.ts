/** 7 ms, 1.2 s, 4 m 10 s, 2 h 5 m, 3 d 4 h: two units at most, for people. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole} ms`;
  if (whole < 60_000) return `${(whole / 1000).toFixed(whole < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(whole / 1000);
  if (seconds < 3600) return pair(seconds, 60, "m", "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return pair(minutes, 60, "h", "m");
  return pair(Math.round(minutes / 60), 24, "d", "h");
}

function pair(value: number, base: number, large: string, small: string): string {
  const rest = value % base;
  return rest === 0 ? `${Math.floor(value / base)} ${large}` : `${Math.floor(value / base)} ${large} ${rest} ${small}`;
}

/** "12 s ago", "in 3 s", or "-" for what never was. */
export function formatAge(at: string | undefined, now: number): string {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(time)) return "-";
  return time > now + 1000 ? `in ${formatDuration(time - now)}` : `${formatDuration(now - time)} ago`;
}

/** Local time of day to the millisecond. */
export function formatClock(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}
