import type { Paint } from "./paint.js";
import { renderFields, renderTable } from "./table.js";
import { formatAge, formatDuration } from "./time.js";

/**
 * A view whose members differ from one version of a node to the next: lists of objects become tables, objects of plain
 * values lists of fields. `…At` is shown as an age and `…Ms` as a duration, as their names promise.
 */
export function renderView(view: Readonly<Record<string, unknown>>, now: number, paint: Paint): string {
  const plain: [string, string][] = [];
  const parts: string[] = [];
  for (const [key, value] of Object.entries(view)) {
    if (isListOfObjects(value)) parts.push(`${paint.strong(title(key))}\n${renderList(value, now, paint)}`);
    else if (isObject(value))
      parts.push(
        `${paint.strong(title(key))}\n${renderFields(
          Object.entries(value).map(([name, each]) => [words(name), cell(name, each, now)] as const),
          paint,
        )}`,
      );
    else plain.push([words(key), cell(key, value, now)]);
  }
  if (plain.length > 0) parts.unshift(renderFields(plain, paint));
  return parts.join("\n");
}

export function renderList(list: readonly Readonly<Record<string, unknown>>[], now: number, paint: Paint): string {
  if (list.length === 0) return "none\n";
  const keys = [...new Set(list.flatMap((each) => Object.keys(each)))];
  return renderTable(
    keys.map((key) => words(key).toUpperCase()),
    list.map((each) => keys.map((key) => cell(key, each[key], now))),
    paint,
  );
}

function cell(key: string, value: unknown, now: number): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "string" && key.endsWith("At")) return formatAge(value, now);
  if (typeof value === "number" && key.endsWith("Ms")) return formatDuration(value);
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : value.toFixed(2);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** `oldestAgeMs` is "oldest age": the unit stands with the value. */
const words = (key: string): string =>
  key
    .replace(/(Ms|At)$/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();

const title = (key: string): string => words(key).replace(/^./, (letter) => letter.toUpperCase());

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isListOfObjects = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.every(isObject);
