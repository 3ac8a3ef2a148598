import { openStaticEmbedder } from "@agent-reach/embedder-static";
import { ReachError } from "@agent-reach/protocol";
import type { Thresholds } from "./catalog/calibration.js";
import { Concepts } from "./catalog/concepts.js";
import type { Finder, TwoStageFinder } from "./catalog/finder.js";
import type { FineStage } from "./catalog/fine-stage.js";
import { Meaning } from "./catalog/meaning.js";
import { readLexicon } from "./engines/os/lexicon.js";

export { type Confusion, type Evaluation, evaluate, type LabelledQuery, type Reply } from "./catalog/evaluate.js";
export type { Answer, CardText, Finder, Scored } from "./catalog/finder.js";
export { type LintRule, type LintWarning, lint } from "./catalog/lint.js";
export { openSynonyms } from "./synonyms.js";

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
    // Nobody waits for the event loop here.
    calibrate: () => runThrough(meaning.settle()),
    ask: (text, limit = LIMIT) => meaning.ask(text, limit),
  };
}

/** The same with a fine stage, which is waited for: `calibrate` resolves when all cards are embedded. */
export async function openTwoStageFinder(fine: FineStage): Promise<TwoStageFinder> {
  const meaning = (await openMeaning())();
  fine.start();
  return {
    put: (card) => {
      meaning.put(card);
      fine.put(card);
    },
    calibrate: async () => {
      while (fine.behind > 0 || fine.passages === undefined)
        await new Promise<void>((done) => {
          fine.onEmbedded = done;
        });
      runThrough(meaning.settle(fine.passages));
    },
    ask: async (text, limit = LIMIT) => {
      const { near, trouble } = await fine.read(text);
      if (trouble !== undefined) throw new ReachError("UNAVAILABLE", `the fine stage does not answer: ${trouble}`);
      return meaning.ask(text, limit, { near });
    },
    close: () => fine.stop(),
  };
}

function runThrough(steps: Generator<void>): void {
  for (const _ of steps);
}
