import { readFileSync } from "node:fs";
import { ReachError } from "@agent-reach/protocol";
import { parse } from "yaml";
import { normalise } from "./match.js";

/**
 * Other words for a capability or a tag: `{ data_fetch: ["sql查询", "run sql"] }`. A phrase stands for the capability of
 * that name, or else for the tag. Read from a YAML or JSON file.
 */
export class Synonyms {
  private readonly phrases = new Map<string, string>();

  constructor(table: Readonly<Record<string, readonly string[]>> = {}) {
    for (const [name, others] of Object.entries(table)) {
      for (const other of others) this.phrases.set(normalise(other), name);
    }
  }

  /** The name that a phrase stands for. */
  find(phrase: string): string | undefined {
    return this.phrases.get(normalise(phrase));
  }

  static read(file: string): Synonyms {
    let table: unknown;
    try {
      table = parse(readFileSync(file, "utf8"));
    } catch (cause) {
      throw new ReachError("INVALID_REQUEST", `catalog.synonymsFile ${file} cannot be read: ${(cause as Error).message}`, { cause });
    }
    const fine =
      table !== null && typeof table === "object" && !Array.isArray(table) &&
      Object.values(table).every((v) => Array.isArray(v) && v.every((w) => typeof w === "string"));
    if (!fine) {
      throw new ReachError("INVALID_REQUEST", `catalog.synonymsFile ${file} must map each capability or tag to a list of phrases, like "data_fetch: [run sql]".`);
    }
    return new Synonyms(table as Record<string, string[]>);
  }
}
