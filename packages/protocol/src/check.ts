import { isObject, type JsonObject } from "./json.js";

/** Where a value breaks its schema. `expected` continues a sentence that begins with the path. */
export interface Violation {
  at: (string | number)[];
  /** The schema's keyword, like `required` or `maxLength`. */
  rule: string;
  expected: string;
}

/**
 * The first violation of a schema of ours, or undefined.
 *
 * It knows the keywords that `schemas.ts` uses and no others: this is how the card's limits are written once and checked
 * without a validator library. Schemas of users go to a real validator in the server.
 */
export function violation(schema: JsonObject, value: unknown): Violation | undefined {
  const broken = (rule: string, expected: string): Violation => ({ at: [], rule, expected });
  const { type, enum: allowed } = schema as { type?: string | string[]; enum?: unknown[] };
  if (
    type !== undefined &&
    !(typeof type === "string" ? isOfType(type, value) : type.some((name) => isOfType(name, value)))
  ) {
    return broken("type", `must be ${[type].flat().map(article).join(" or ")}, not ${nameOf(value)}`);
  }
  if (allowed !== undefined && !allowed.includes(value)) return broken("enum", `must be one of ${allowed.join(", ")}`);
  if (typeof value === "string") return textViolation(schema, value);
  if (typeof value === "number") return numberViolation(schema, value);
  if (Array.isArray(value)) return listViolation(schema, value);
  if (isObject(value)) return objectViolation(schema, value);
  return undefined;
}

function textViolation(schema: JsonObject, value: string): Violation | undefined {
  const { minLength, maxLength, pattern } = schema as { minLength?: number; maxLength?: number; pattern?: string };
  if (minLength !== undefined && value.length < minLength)
    return { at: [], rule: "minLength", expected: "must not be empty" };
  // A character outside the basic plane is two units long; only count characters when the cheap test is not enough.
  if (maxLength !== undefined && value.length > maxLength && [...value].length > maxLength) {
    return {
      at: [],
      rule: "maxLength",
      expected: `must have at most ${maxLength} characters, and has ${value.length}`,
    };
  }
  if (pattern !== undefined && !compiled(pattern).test(value)) {
    return { at: [], rule: "pattern", expected: `must match ${pattern}` };
  }
  return undefined;
}

/** Patterns of our own schemas, each compiled once; there are a handful, so it cannot grow. */
const patterns = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  let expression = patterns.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern, "u");
    patterns.set(pattern, expression);
  }
  return expression;
}

function numberViolation(schema: JsonObject, value: number): Violation | undefined {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum !== undefined && value < minimum)
    return { at: [], rule: "minimum", expected: `must be at least ${minimum}` };
  if (maximum !== undefined && value > maximum)
    return { at: [], rule: "maximum", expected: `must be at most ${maximum}` };
  return undefined;
}

function listViolation(schema: JsonObject, value: unknown[]): Violation | undefined {
  const { items, maxItems } = schema as { items?: JsonObject; maxItems?: number };
  if (maxItems !== undefined && value.length > maxItems) {
    return { at: [], rule: "maxItems", expected: `must have at most ${maxItems} entries, and has ${value.length}` };
  }
  if (items === undefined) return undefined;
  for (const [index, entry] of value.entries()) {
    const found = violation(items, entry);
    if (found !== undefined) return inside(index, found);
  }
  return undefined;
}

function objectViolation(schema: JsonObject, value: JsonObject): Violation | undefined {
  const { required, properties, additionalProperties, maxProperties } = schema as {
    required?: string[];
    properties?: Record<string, JsonObject>;
    additionalProperties?: JsonObject;
    maxProperties?: number;
  };
  for (const key of required ?? []) {
    if (!Object.hasOwn(value, key)) return { at: [key], rule: "required", expected: "is missing" };
  }
  const keys = Object.keys(value);
  if (maxProperties !== undefined && keys.length > maxProperties) {
    return {
      at: [],
      rule: "maxProperties",
      expected: `must have at most ${maxProperties} entries, and has ${keys.length}`,
    };
  }
  for (const key of keys) {
    const known = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (known === undefined) continue;
    const found = violation(known, value[key]);
    if (found !== undefined) return inside(key, found);
  }
  return undefined;
}

const inside = (segment: string | number, found: Violation): Violation => ({ ...found, at: [segment, ...found.at] });

function isOfType(name: string, value: unknown): boolean {
  switch (name) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return typeof value === name;
  }
}

const article = (name: string): string => (/^[aio]/.test(name) ? `an ${name}` : `a ${name}`);

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return article(typeof value);
}
