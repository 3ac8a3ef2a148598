import type { CardText } from "./card-features.js";
import type { Answer } from "./meaning.js";

export type { CardText } from "./card-features.js";
export type { Answer, Scored } from "./meaning.js";

/** Finds capabilities by what a text means, and may say that none fits: as much of the index as is needed to try cards. */
export interface Finder {
  /** Learns a card, in place of the one of that name. */
  put(card: CardText): void;
  remove(name: string): void;
  /** To be called when all cards are there: makes good what drifted as they came, and learns from them where to say no. */
  calibrate(): void;
  /** Best first, at most `limit`, whatever the verdict. */
  ask(text: string, limit?: number): Answer;
}

/** The same where a better embedder, which lives elsewhere, ranks again what is found. Both wait for it, and reject if it fails. */
export interface TwoStageFinder {
  put(card: CardText): void;
  calibrate(): Promise<void>;
  ask(text: string, limit?: number): Promise<Answer>;
  close(): void;
}
