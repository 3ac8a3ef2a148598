import { readFileSync } from "node:fs";
import { ReachError } from "@agent-reach/protocol";
import { parse } from "yaml";

/** Reads `catalog.synonymsFile`, YAML or JSON: each capability or tag with the other phrases for it. */
export function readSynonyms(file: string): Record<string, string[]> {
  let table: unknown;
  try {
    table = parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new ReachError(
      "INVALID_REQUEST",
      `catalog.synonymsFile ${file} cannot be read: ${(cause as Error).message}; check the path, or leave it out to run without synonyms.`,
      { path: "catalog.synonymsFile", cause },
    );
  }
  if (!isTable(table)) {
    throw new ReachError(
      "INVALID_REQUEST",
      `catalog.synonymsFile ${file} must map each capability or tag to a list of phrases, like "data_fetch: [run sql]".`,
      { path: "catalog.synonymsFile" },
    );
  }
  return table;
}

function isTable(value: unknown): value is Record<string, string[]> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  return Object.values(value).every((list) => Array.isArray(list) && list.every((word) => typeof word === "string"));
}
