import { openStaticEmbedder } from "@agent-reach/embedder-static";
import { Concepts } from "./catalog/concepts.js";
import type { Finder } from "./catalog/finder.js";
import { Meaning } from "./catalog/meaning.js";
import { readLexicon } from "./engines/os/lexicon.js";

export { type Confusion, type Evaluation, evaluate, type LabelledQuery, type Reply } from "./catalog/evaluate.js";
export type { Answer, CardText, Finder, Scored } from "./catalog/finder.js";
export { type LintRule, type LintWarning, lint } from "./catalog/lint.js";

/** Results of a question that names no number. */
const LIMIT = 3;

/** What a node finds with, without a node: for trying cards before they are registered. */
export async function openFinder(): Promise<Finder> {
  const meaning = new Meaning(new Concepts(readLexicon()), await openStaticEmbedder());
  return {
    put: (card) => meaning.put(card),
    remove: (name) => meaning.remove(name),
    calibrate: () => {
      // Nobody waits for the event loop here.
      for (const _ of meaning.settle());
    },
    ask: (text, limit = LIMIT) => meaning.ask(text, limit),
  };
}
