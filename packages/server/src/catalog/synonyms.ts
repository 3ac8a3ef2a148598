import { normalise } from "./text.js";

/**
 * Other words for a capability or a tag: `{ data_fetch: ["sql查询", "run sql"] }`. A phrase stands for the capability of
 * that name, or else for the tag.
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
}
