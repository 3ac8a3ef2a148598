import { centroidOf, conceptsOf, cosineOf, prototypeOf, weightsOf } from "./card-features.js";
import type { Concepts } from "./concepts.js";
import { CosineIndex } from "./cosine-index.js";
import { type CardWords, Coverage, type RequestWords } from "./coverage.js";
import type { Sheet } from "./sheets.js";
import type { Steps } from "./steps.js";
import { clausesOf, isChinese, normalise, simplify, TEXT_READ_MAX } from "./text.js";
import { Vectors } from "./vectors.js";
import { WordRanking, wordKeysOf } from "./word-ranking.js";

/** Embeds at once, in tens of microseconds. */
export interface LocalEmbedder {
  readonly dims: number;
  embedOne(text: string): Float32Array;
  /** How much a text says, more than 0; 0 of one that it does not know. */
  weightOf(text: string): number;
}

/** How near each of the first `count` documents is to a text, by its number, 0..1. */
export interface Look {
  readonly count: number;
  /** Where it is noted. */
  readonly sheet: Sheet;
  /** The text, simplified, and in normal form. */
  readonly said: string;
  readonly plain: string;
  readonly chinese: boolean;
  readonly wordKeys: ReadonlySet<number>;
  readonly vector: Float32Array | undefined;
  /** Its clauses, in normal form, and their vectors. */
  readonly clauses: () => { readonly plain: readonly string[]; readonly vectors: readonly Float32Array[] };
  /** Its words; undefined if nothing is known of words. */
  readonly request: RequestWords | undefined;
  readonly lexical: Float32Array;
  readonly concepts: Float32Array;
  readonly words: Float32Array;
  /** What a share of the words is a share of. */
  bestByWords: number;
  readonly embedding: Float32Array | undefined;
  /** Those whose embedding is no estimate; undefined: all. */
  readonly exact: Set<number> | undefined;
}

/**
 * Among so many documents that a question takes milliseconds, letters that more than such a share of them has are passed over: they
 * tell few apart, and to add them up is half of the work. On the development sets, each among 10,000 cards, that moves top-3 by
 * 0.2 points at most, up or down; an eighth costs more.
 */
const COMMON = { many: 20_000, share: 0.25 };

/** The stages that compare a text with all that cards say, each in its own way: letters, concepts, words, embedding. */
export class Stages {
  // What is in nearly every card of a few still counts a little, as in the usual smooth idf.
  private readonly grams = new CosineIndex((df, count) =>
    count > COMMON.many && df > count * COMMON.share ? 0 : Math.log((count + 1) / (df + 1)) + 1,
  );
  private readonly named = new CosineIndex((df, count) => Math.log((count + 1) / (df + 0.5)));
  private readonly words = new WordRanking();
  private readonly vectors: Vectors | undefined;
  private readonly coverage: Coverage | undefined;

  constructor(
    private readonly concepts: Concepts,
    private readonly embedder: LocalEmbedder | undefined,
  ) {
    this.vectors = embedder && new Vectors(embedder.dims);
    this.coverage = embedder && new Coverage(embedder, this.words);
  }

  /** Documents are numbered from 0 in the order in which they are added. Their texts simplified, and in normal form. */
  add(said: readonly string[], plain: readonly string[]): void {
    this.grams.add(prototypeOf(plain));
    this.named.add(conceptsOf(plain, this.concepts));
    this.words.add(plain);
    this.vectors?.add(this.centroidOf(said));
  }

  /** Compares a text with the first `count` documents, on a sheet that has room for them. */
  *look(text: string, sheet: Sheet, count: number): Steps<Look> {
    const said = simplify(text.slice(0, TEXT_READ_MAX));
    const plain = normalise(said);
    const { embedder } = this;
    const vector = embedder?.embedOne(said);
    const wordKeys = wordKeysOf(plain);
    let clauses: ReturnType<Look["clauses"]> | undefined;
    yield* this.grams.cosines(weightsOf(plain), sheet.lexical, count);
    yield;
    yield* this.named.cosines(this.concepts.in(plain), sheet.concepts, count);
    const bestByWords = this.words.shares(wordKeys, sheet.words, count);
    yield;
    const areEstimates = vector !== undefined && this.vectors!.cosines(vector, sheet.embedding, count);
    return {
      count,
      sheet,
      said,
      plain,
      chinese: isChinese(plain),
      vector,
      request: this.coverage?.requestOf(plain),
      clauses: () => {
        if (clauses === undefined) {
          const all = clausesOf(said);
          clauses = { plain: all.map(normalise), vectors: all.map((clause) => embedder!.embedOne(clause)) };
        }
        return clauses;
      },
      lexical: sheet.lexical,
      concepts: sheet.concepts,
      wordKeys,
      words: sheet.words,
      bestByWords,
      embedding: vector && sheet.embedding,
      exact: areEstimates ? new Set() : undefined,
    };
  }

  /** Puts another document in the place of one, for this look only. */
  replace(look: Look, at: number, said: readonly string[], plain: readonly string[]): void {
    look.lexical[at] = this.grams.cosine(weightsOf(look.plain), prototypeOf(plain));
    look.concepts[at] = this.named.cosine(this.concepts.in(look.plain), conceptsOf(plain, this.concepts));
    const { wordKeys: words, words: sums, bestByWords: best, count } = look;
    look.bestByWords = this.words.replace({ words, sums, best, count }, at, plain);
    if (look.vector === undefined) return;
    look.embedding![at] = cosineOf(look.vector, this.centroidOf(said));
    look.exact?.add(at);
  }

  /** Puts the exact nearness of a document in the place of an estimate. */
  refine({ embedding, exact, vector }: Look, at: number): void {
    if (exact === undefined || exact.has(at)) return;
    embedding![at] = this.vectors!.cosine(at, vector!);
    exact.add(at);
  }

  /** The words of a card's texts in normal form; undefined if nothing is known of words. */
  wordsOf(plain: readonly string[]): CardWords | undefined {
    return this.coverage?.cardOf(plain);
  }

  /** Whether so much came since the last time that it should be refreshed now. */
  get isStale(): boolean {
    return this.grams.isStale;
  }

  /** Makes good what drifted as documents came, in steps of about a millisecond. */
  *refresh(): Generator<void> {
    yield* this.grams.refresh();
    yield* this.named.refresh();
  }

  private centroidOf(said: readonly string[]): Float32Array {
    const { embedder } = this;
    return centroidOf(
      said.map((text) => embedder!.embedOne(text)),
      embedder!.dims,
    );
  }
}
