/** Small tools for values that came from JSON and whose keys nobody chose: `__proto__` and `constructor` are data like any other. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets an own property whatever its name; a plain assignment to `__proto__` would change the prototype instead. */
export function put(target: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** The own property, or undefined. Never what an object inherits, so that a key called `constructor` is absent unless it was sent. */
export function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** `["capabilities", 1, "name"]` as `capabilities[1].name`; a key that is no plain word stands quoted in brackets. */
export function pathOf(segments: readonly (string | number)[]): string {
  let path = "";
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(segment)) path += path === "" ? segment : `.${segment}`;
    else path += `[${JSON.stringify(segment.length > 64 ? `${segment.slice(0, 64)}…` : segment)}]`;
  }
  return path;
}

/** Bytes of a string in UTF-8. A lone surrogate counts three, as the replacement character that it becomes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    const next = text.charCodeAt(i + 1);
    if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000) i += 1;
  }
  // A pair is two units and four bytes: two units were counted, and two bytes added at the first of them.
  return bytes;
}

export interface Measure {
  /** Bytes as compact JSON. */
  bytes: number;
  /** Containers inside each other: 0 for a scalar, 1 for `{}`. Stops counting one past `depthMax`. */
  depth: number;
}

/** Measures without building the text, and without recursing deeper than `depthMax`, so that no input can exhaust the stack. */
export function measure(value: unknown, depthMax: number): Measure {
  const total = { bytes: 0, depth: 0 };
  add(value, 0, depthMax, total);
  return total;
}

function add(value: unknown, depth: number, depthMax: number, total: Measure): void {
  if (typeof value === "string") {
    total.bytes += textBytes(value);
    return;
  }
  if (typeof value !== "object" || value === null) {
    total.bytes += String(value).length;
    return;
  }
  if (depth + 1 > total.depth) total.depth = depth + 1;
  total.bytes += 2;
  if (depth === depthMax) return;
  let members = 0;
  if (Array.isArray(value)) {
    for (const member of value) add(member, depth + 1, depthMax, total);
    members = value.length;
  } else {
    for (const key of Object.keys(value)) {
      total.bytes += textBytes(key) + 1;
      add((value as JsonObject)[key], depth + 1, depthMax, total);
      members += 1;
    }
  }
  if (members > 1) total.bytes += members - 1;
}

/** Bytes of a string with its quotes; nearly all are plain and need no second look. */
function textBytes(text: string): number {
  return plainText.test(text) ? text.length + 2 : utf8Length(JSON.stringify(text));
}

const plainText = /^[ !#-[\]-~]*$/;
