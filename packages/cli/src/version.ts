import { createRequire } from "node:module";

/** The package.json stands one above both src/ and dist/. */
export function ownVersion(): string {
  return (createRequire(import.meta.url)("../package.json") as { version: string }).version;
}

export const protocolVersion = "1";
