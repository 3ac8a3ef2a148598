import { readFileSync } from "node:fs";

/** The lexicon in the box, as texts: see data/concepts.txt and data/broader.txt. */
export function readLexicon(): { concepts: string; broader: string } {
  const textOf = (name: string): string => readFileSync(new URL(`../../../data/${name}.txt`, import.meta.url), "utf8");
  return { concepts: textOf("concepts"), broader: textOf("broader") };
}
