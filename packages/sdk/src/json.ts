import { limits } from "@agent-reach/protocol";

/** Why a value cannot go over the wire, and where in it. */
export interface Uncarriable {
  readonly path: string;
  readonly reason: string;
}

/**
 * The JSON text of a value, or why there is none. `undefined` becomes null and a Date its ISO text, as JSON says; what JSON
 * would drop or empty without a word (functions, symbols, Map, Set, NaN, Infinity) or cannot write (BigInt, cycles) is refused
 * by its path.
 */
export function toJson(value: unknown): string | Uncarriable {
  const found = find(value, 0);
  if (found) return { path: found.path || "$", reason: found.reason };
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    return { path: "$", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The path is put together on the way out, so that a value that is fine costs no strings. */
function find(value: unknown, depth: number): Uncarriable | undefined {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? undefined : { path: "", reason: `${value}, which JSON does not have` };
    case "bigint":
      return { path: "", reason: "a BigInt; give a string or a number" };
    case "function":
      return { path: "", reason: "a function" };
    case "symbol":
      return { path: "", reason: "a symbol" };
    case "object":
      return value === null ? undefined : findInside(value, depth);
    default:
      return undefined;
  }
}

function findInside(value: object, depth: number): Uncarriable | undefined {
  if (depth >= limits.nestingMax) return { path: "", reason: `nested deeper than ${limits.nestingMax}, or a cycle` };
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = find(value[i], depth + 1);
      if (found) return { path: `[${i}]${joint(found.path)}`, reason: found.reason };
    }
    return undefined;
  }
  if (value instanceof Map || value instanceof Set) {
    return { path: "", reason: `a ${value instanceof Map ? "Map" : "Set"}; give a plain object or an array` };
  }
  // A Date, a Buffer, or whatever else knows its own JSON.
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return undefined;
  if (ArrayBuffer.isView(value)) return { path: "", reason: "binary data; give base64 text or a reference" };
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const found = find((value as Record<string, unknown>)[key], depth + 1);
    if (found) return { path: `${key}${joint(found.path)}`, reason: found.reason };
  }
  return undefined;
}

function joint(path: string): string {
  return path === "" || path.startsWith("[") ? path : `.${path}`;
}
