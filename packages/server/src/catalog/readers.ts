import type { Chooser } from "../ports/chooser.js";
import type { FineStage } from "./fine-stage.js";
import type { Meaning } from "./meaning.js";

/** What reads requests in words. */
export interface Readers {
  /** Makes an index over cards, which answers at once. */
  newMeaning(): Meaning;
  /** A better embedder, for a second look at what the index found. */
  fine?: FineStage | undefined;
  /** Asked where nothing else is sure. */
  chooser?: Chooser | undefined;
}
