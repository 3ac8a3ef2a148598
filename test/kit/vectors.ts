import { readFileSync } from "node:fs";

/** A file of `spec/vectors`. Parsed here and not imported, because a module would take a key `__proto__` for the prototype. */
export function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../spec/vectors/${name}.json`, import.meta.url), "utf8")) as T;
}

/** JSON with sorted keys: two values are the same on the wire if and only if these texts are. Sees own keys of any name. */
export function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${sorted((value as Record<string, unknown>)[key])}`).join(",")}}`;
}
