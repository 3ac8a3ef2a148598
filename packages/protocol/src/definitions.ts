/** Every schema under its name, for documents that refer to shapes instead of repeating them. */
import * as schemas from "./schemas.js";

export type JsonSchema = Record<string, unknown>;

/** Named shapes, and the parameters and results of each method as `hello.params`, `hello.result`. */
function named(): [string, JsonSchema][] {
  const list: [string, JsonSchema][] = [];
  for (const [name, value] of Object.entries(schemas)) if (/^[A-Z]/.test(name)) list.push([name, plain(value)]);
  for (const [method, schema] of Object.entries(schemas.params)) list.push([`${method}.params`, plain(schema)]);
  for (const [method, schema] of Object.entries(schemas.results)) list.push([`${method}.result`, plain(schema)]);
  for (const [method, { params, result }] of Object.entries(schemas.serverRequests)) {
    list.push([`server.${method}.params`, plain(params)], [`server.${method}.result`, plain(result)]);
  }
  for (const [method, schema] of Object.entries(schemas.serverNotifications)) {
    list.push([`server.${method}.params`, plain(schema)]);
  }
  return list.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What remains of a schema on paper: the builder's own marks are not enumerable. */
const plain = (schema: unknown): JsonSchema => JSON.parse(JSON.stringify(schema)) as JsonSchema;

export interface Definitions {
  all: Record<string, JsonSchema>;
  /** The schema with every named part of it replaced by a reference. */
  refer(schema: unknown): JsonSchema;
}

/** `prefix` is where the document keeps them, like `#/$defs/`. */
export function definitions(prefix: string): Definitions {
  const list = named();
  // A part is recognised by its text. Small anonymous shapes, like an empty object, are not worth a reference.
  const names = new Map<string, string>();
  for (const [name, schema] of list) {
    const text = JSON.stringify(schema);
    if (!name.includes(".") && text.length > 40 && !names.has(text)) names.set(text, name);
  }
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replace(member)]));
  };
  const replace = (value: unknown): unknown => {
    const name = typeof value === "object" ? names.get(JSON.stringify(value)) : undefined;
    return name === undefined ? within(value) : { $ref: prefix + name };
  };
  const all = list.map(([name, schema]): [string, JsonSchema] => {
    const first = names.get(JSON.stringify(schema));
    return [name, first === undefined || first === name ? (within(schema) as JsonSchema) : { $ref: prefix + first }];
  });
  return { all: Object.fromEntries(all), refer: (schema) => replace(plain(schema)) as JsonSchema };
}
