export { openStaticEmbedder, StaticEmbedder, TEXT_CHARS_MAX } from "./embedder.js";
export { readTable, type Table } from "./table.js";
export { cut } from "./tokens.js";
