import { openStaticEmbedder } from "@agent-reach/embedder-static";
import type { Thresholds } from "./catalog/calibration.js";
import { Concepts } from "./catalog/concepts.js";
import type { Finder } from "./catalog/finder.js";
import { Meaning } from "./catalog/meaning.js";
import { readLexicon } from "./engines/os/lexicon.js";

export { type Confusion, type Evaluation, evaluate, type LabelledQuery, type Reply } from "./catalog/evaluate.js";
export type { Answer, CardText, Finder, Scored } from "./catalog/finder.js";
export { type LintRule, type LintWarning, lint } from "./catalog/lint.js";

/** Results of a question that names no number. */
const LIMIT = 3;

/** Makes indexes over what is in the box, which is read once: the lexicon and the table of word vectors. */
export async function openMeaning(thresholds?: Thresholds): Promise<() => Meaning> {
  const [concepts, embedder] = [new Concepts(readLexicon()), await openStaticEmbedder()];
  return () => new Meaning(concepts, embedder, thresholds);
}

/** What a node finds with, without a node: for trying cards before they are registered. */
export async function openFinder(): Promise<Finder> {
  const meaning = (await openMeaning())();
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
