import type { Setting, SettingValue } from "./settings.js";

export type ReadValue = { ok: true; value: SettingValue; warning?: string } | { ok: false; rule: string };

const perUnit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const perSize = { b: 1, kb: 1000, mb: 1_000_000, gb: 1e9, kib: 1024, mib: 1_048_576, gib: 1_073_741_824 } as const;

/**
 * Reads what somebody wrote for a setting. The same rules hold for a YAML scalar and for the text of a variable or flag,
 * so that a value may move from one place to another unchanged.
 */
export function readValue(setting: Setting, raw: unknown): ReadValue {
  switch (setting.type) {
    case "string":
      return typeof raw === "string" && raw.trim() !== ""
        ? { ok: true, value: raw }
        : no("must be text that is not empty");
    case "choice":
      return typeof raw === "string" && setting.choices?.includes(raw)
        ? { ok: true, value: raw }
        : no(`must be ${orList(setting.choices ?? [])}`);
    case "boolean":
      return readBoolean(raw);
    case "integer":
    case "number":
      return inRange(setting, readNumber(raw), setting.type === "integer");
    case "bytes":
      return inRange(setting, readMeasure(raw, perSize, 1), true);
    case "duration":
      return readDuration(setting, raw);
    case "durations":
      return readDurations(setting, raw);
    case "strings":
      return readStrings(raw);
  }
}

/** How values of this setting are written, for messages and the reference. */
export function describeType(setting: Setting): string {
  const { min, max } = setting;
  const range = min === undefined || max === undefined ? "" : ` from ${min} to ${max}`;
  switch (setting.type) {
    case "duration":
      return `a duration like "${setting.unit === "ms" ? "500ms" : "30s"}", or a number of ${unitName(setting)}${range}`;
    case "durations":
      return `a list of durations, or of numbers of ${unitName(setting)}${range}`;
    case "bytes":
      return `a size like "1MiB", or a number of bytes${range}`;
    case "integer":
      return `a whole number${range}`;
    case "number":
      return `a number${range}`;
    case "choice":
      return orList(setting.choices ?? []);
    case "boolean":
      return "true or false";
    case "strings":
      return "a list of texts (separated by commas in variables and flags)";
    case "string":
      return "text";
  }
}

const no = (rule: string): ReadValue => ({ ok: false, rule });
const unitName = (setting: Setting) =>
  setting.unit === "ms" ? "milliseconds" : setting.unit === "sec" ? "seconds" : "bytes";
const orList = (choices: readonly string[]) => choices.map((choice) => `"${choice}"`).join(" or ");

function readBoolean(raw: unknown): ReadValue {
  if (typeof raw === "boolean") return { ok: true, value: raw };
  if (raw === "true" || raw === "1") return { ok: true, value: true };
  if (raw === "false" || raw === "0") return { ok: true, value: false };
  return no("must be true or false");
}

/** Only plain decimal numbers: `Number("")` is 0 and `Number("0x1f")` is 31, and nobody means either. */
function readNumber(raw: unknown): number | undefined {
  if (typeof raw === "number") return Number.isFinite(raw) ? raw : undefined;
  if (typeof raw === "string" && /^[+-]?\d+(\.\d+)?$/.test(raw.trim())) return Number(raw);
  return undefined;
}

/** A bare number counts in `bareUnit`s; text may name its unit. The result is in base units (ms or bytes). */
function readMeasure(raw: unknown, table: Readonly<Record<string, number>>, bareUnit: number): number | undefined {
  const bare = readNumber(raw);
  if (bare !== undefined) return bare * bareUnit;
  const parts = typeof raw === "string" ? /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(raw.trim()) : null;
  const factor = parts?.[2] === undefined ? undefined : ownValue(table, parts[2].toLowerCase());
  return factor === undefined ? undefined : Number(parts?.[1]) * factor;
}

function ownValue(table: Readonly<Record<string, number>>, key: string): number | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function inRange(setting: Setting, value: number | undefined, integer: boolean): ReadValue {
  const { min, max } = setting;
  const fits =
    value !== undefined &&
    (!integer || Number.isSafeInteger(value)) &&
    (min === undefined || value >= min) &&
    (max === undefined || value <= max);
  return fits ? { ok: true, value } : no(`must be ${describeType(setting)}`);
}

function readDuration(setting: Setting, raw: unknown): ReadValue {
  const unitMs = setting.unit === "sec" ? 1000 : 1;
  const ms = readMeasure(raw, perUnit, unitMs);
  const value = ms === undefined ? undefined : ms / unitMs;
  const read = inRange(setting, value, setting.unit === "ms");
  if (!read.ok || readNumber(raw) === undefined || value === undefined || setting.plausible === undefined) return read;
  const [low, high] = setting.plausible;
  if (value >= low && value <= high) return read;
  return { ...read, warning: unitDoubt(setting, value) };
}

/** Case D14: a value in another unit than the name says works in a test and hurts for months. */
function unitDoubt(setting: Setting, value: number): string {
  const meant = setting.unit === "ms" ? `${value}s` : `${value}ms`;
  const sure = setting.unit === "ms" ? `${value}ms` : `${value}s`;
  return `${value} counts as ${value} ${unitName(setting)}, which is unusual; if another unit was meant write "${meant}", and if not write "${sure}" to say so`;
}

function readDurations(setting: Setting, raw: unknown): ReadValue {
  const items =
    typeof raw === "string" ? splitList(raw) : Array.isArray(raw) ? raw : typeof raw === "number" ? [raw] : undefined;
  if (items === undefined || items.length > 100) return no(`must be ${describeType(setting)}`);
  const values: number[] = [];
  let warning: string | undefined;
  for (const item of items) {
    const read = readDuration(setting, item);
    if (!read.ok) return no(`must be ${describeType(setting)}`);
    values.push(read.value as number);
    warning ??= read.warning;
  }
  return { ok: true, value: values, ...(warning === undefined ? {} : { warning }) };
}

function readStrings(raw: unknown): ReadValue {
  if (typeof raw === "string") return { ok: true, value: splitList(raw) };
  if (Array.isArray(raw) && raw.every((item) => typeof item === "string" && item !== ""))
    return { ok: true, value: raw as string[] };
  return no("must be a list of texts");
}

const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
