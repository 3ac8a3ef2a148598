/**
 * The one source of the wire's shapes: TypeScript types, JSON Schemas and OpenAPI all come from here.
 * No schema closes an object: unknown fields are kept and ignored on both sides, for as long as the major version lives.
 */
export * from "./schema/agents.js";
export * from "./schema/card.js";
export * from "./schema/envelope.js";
export * from "./schema/frame.js";
export * from "./schema/http.js";
export * from "./schema/messages.js";
export * from "./schema/names.js";
export * from "./schema/params.js";
export * from "./schema/pushes.js";
export * from "./schema/results.js";
