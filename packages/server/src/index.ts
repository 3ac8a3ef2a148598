export { type Node, type NodeOptions, startNode } from "./compose.js";
export * from "./config.js";
