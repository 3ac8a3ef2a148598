import { LEFT_OUT } from "./order.js";
import type { Steps } from "./steps.js";
import { isAlive, isChinese, operationsOf, type Traits } from "./traits.js";

/** How near each stage finds each document, by its number, and what a request asks of its traits. */
export interface Scannable {
  readonly chinese: boolean;
  readonly lexical: Float32Array;
  readonly concepts: Float32Array;
  readonly words: Float32Array;
  readonly embedding: Float32Array | undefined;
  /** Of each set of operations. */
  readonly factors: readonly number[];
}

/** So many documents are scored at a stretch: about a millisecond. */
const STRETCH = 32_768;

/** What is said of all scores before the operation. */
export interface Totals {
  counted: number;
  most: number;
  sum: number;
}

/**
 * How the stages add up. Adding scores beat rank fusion and intersection in what was measured, and keeps a score to say no by.
 * Set on the development sets of tools/embedder/dev and on the development parts of two public sets.
 */
const WEIGHT = { lexical: 0.5, concepts: 0.2, words: 0.1, embedding: 0.5 };
/** What the share of a request's words that a card says adds, for the first few; set on the same sets. */
export const WORDS_WEIGHT = 0.15;
/** No score is higher: every stage in full, and an operation that agrees (1.25 to the power of 0.45). */
export const SCORE_FULL = (1.3 + WORDS_WEIGHT) * 1.11;
/** What a cosine of embeddings is worth as one of letters, for a card in the other language, which shares no letters. */
const LETTERS_OF_EMBEDDING = 0.45;

/** What the stages add up to for one document, before the operation. */
export function plainScore(nearness: Scannable, isChinese: boolean, at: number): number {
  const { lexical, concepts, words, embedding, chinese } = nearness;
  const near = embedding === undefined ? 0 : embedding[at]!;
  return sumOf(lexical[at]!, concepts[at]!, words[at]!, near, isChinese === chinese);
}

function sumOf(lexical: number, concepts: number, words: number, near: number, sameLanguage: boolean): number {
  const foreign = LETTERS_OF_EMBEDDING * near;
  const like = sameLanguage || lexical > foreign ? lexical : foreign;
  return WEIGHT.lexical * like + WEIGHT.concepts * concepts + WEIGHT.words * words + WEIGHT.embedding * near;
}

/**
 * Scores the first `count` documents that are there and meant (all, if that is not said), in steps; the others are left out.
 */
export function* scan(
  look: Scannable,
  traits: Traits,
  count: number,
  scores: Float32Array,
  isMeant?: (at: number) => boolean,
): Steps<Totals> {
  const totals = { counted: 0, most: 0, sum: 0 };
  for (let from = 0; from < count; from += STRETCH) {
    scanSome(look, traits, [from, Math.min(count, from + STRETCH)], scores, totals, isMeant);
    yield;
  }
  return totals;
}

/**
 * The one loop of a question that is as long as the catalog and does more than add: what it needs of each document lies in arrays,
 * and these in variables, as they would be looked up anew each time otherwise.
 */
function scanSome(
  { lexical, concepts, words, embedding, chinese, factors }: Scannable,
  { column }: Traits,
  [from, to]: readonly [number, number],
  scores: Float32Array,
  totals: Totals,
  isMeant: ((at: number) => boolean) | undefined,
): void {
  let { counted, most, sum } = totals;
  for (let at = from; at < to; at++) {
    const trait = column[at]!;
    if (!isAlive(trait) || (isMeant !== undefined && !isMeant(at))) {
      scores[at] = LEFT_OUT;
      continue;
    }
    const near = embedding === undefined ? 0 : embedding[at]!;
    const plain = sumOf(lexical[at]!, concepts[at]!, words[at]!, near, isChinese(trait) === chinese);
    scores[at] = plain * factors[operationsOf(trait)]!;
    counted++;
    sum += plain;
    if (plain > most) most = plain;
  }
  totals.counted = counted;
  totals.most = most;
  totals.sum = sum;
}
