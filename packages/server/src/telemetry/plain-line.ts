/** What stands at fixed places of the line; all else is shown as `key=value`. */
const placed = new Set(["level", "time", "node", "msg", "err"]);

/**
 * A log line for people, from the JSON line of the same event: `10:00:00.000 INFO  ready host=127.0.0.1 port=8800`, in
 * local time. The stack of an error follows on lines of its own.
 */
export function plainLine(json: string): string {
  const event = JSON.parse(json) as Record<string, unknown>;
  const level = String(event["level"]).toUpperCase().padEnd(5);
  const rest = Object.entries(event)
    .filter(([key]) => !placed.has(key))
    .map(([key, value]) => ` ${key}=${word(value)}`);
  return `${clock(String(event["time"]))} ${level} ${event["msg"] ?? ""}${rest.join("")}\n${stackOf(event["err"])}`;
}

function clock(iso: string): string {
  const at = new Date(iso);
  const two = (value: number) => String(value).padStart(2, "0");
  const ms = String(at.getMilliseconds()).padStart(3, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`;
}

/** Texts of one word stand bare, so that a line stays readable and a copied value stays whole. */
function word(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function stackOf(err: unknown): string {
  if (err === null || typeof err !== "object") return err === undefined ? "" : `  ${word(err)}\n`;
  const { type: _type, stack, message, ...more } = err as Record<string, unknown>;
  const facts = Object.entries(more).map(([key, value]) => `${key}=${word(value)}`);
  const text = [stack ?? message ?? "no reason given", ...facts].join("\n");
  return `${text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n")}\n`;
}
