export * from "./errors.js";
export * from "./limits.js";
export * from "./trace-name.js";
export type * from "./types.js";
