import { type Calibration, COPY_AT, calibrate, judge, type Sample, type Thresholds } from "./calibration.js";
import { type CardText, cosineOf, textsOf } from "./card-features.js";
import type { Concepts } from "./concepts.js";
import { type Evidence, evidenceOf } from "./evidence.js";
import { OperationSets } from "./operation-sets.js";
import { type OperationReading, operationsIn, operationsOf } from "./operations.js";
import { highest, LEFT_OUT, Order, type Place } from "./order.js";
import { type LocalEmbedder, type Look, Stages } from "./stages.js";
import { isChinese, normalise, simplify } from "./text.js";

/** How near each stage finds a capability, 0..1, and the factor of its operation. */
export interface Parts {
  lexical: number;
  concepts: number;
  words: number;
  embedding: number;
  operation: number;
}

export interface Scored {
  name: string;
  score: number;
  parts: Parts;
}

/** What a text means, as far as the catalog can tell (CAT-8). */
export interface Answer {
  verdict: "match" | "ambiguous" | "no_match";
  /** How much the text is like what is served here at all, 0..1: what is accepted by. */
  fit: number;
  /** How likely the first is right, 0..1. */
  confidence: number;
  /** Best first, also where none is near enough. */
  ranked: Scored[];
}

/**
 * How the stages add up. Adding scores beat rank fusion and intersection in what was measured, and keeps a score to say no by.
 * Set on the development sets of tools/embedder/dev and on the development parts of two public sets.
 */
const WEIGHT = { lexical: 0.5, concepts: 0.2, words: 0.1, embedding: 0.5 };
/** No score is higher: every stage in full, and an operation that agrees (1.25 to the power of 0.45). */
export const SCORE_FULL = 1.3 * 1.11;
/** What a cosine of embeddings is worth as one of letters, for a card in the other language, which shares no letters. */
const LETTERS_OF_EMBEDDING = 0.45;
/** Cards whose texts are kept as vectors: those that are asked for. */
const VECTORS_MAX = 2_000;
/** Of a large catalog, so many of the nearest by estimate are compared in full. */
const REFINED_MAX = 500;
/** So many texts of cards are asked to set the thresholds; of many cards, where each question is dear, fewer. */
const SAMPLES_MAX = 300;
const SAMPLES_OF_MANY = 100;
const MANY = 4_096;

interface Document {
  readonly name: string;
  /** Its texts, simplified, and in normal form. */
  readonly said: readonly string[];
  readonly plain: readonly string[];
  /** How many of its first texts are its name and description; the others are examples. */
  readonly heads: number;
  readonly chinese: boolean;
  /** The number of its set of operations. */
  readonly operations: number;
  /** Of its texts; made when it comes near to be the one that is meant. */
  vectors: readonly Float32Array[] | undefined;
  alive: boolean;
}

/** Texts of a document, by their numbers. */
interface Without {
  readonly at: number;
  readonly texts: ReadonlySet<number>;
}

/** A request, compared with all that is there. */
interface Asked extends Look {
  readonly reading: OperationReading;
  /** Of each set of operations. */
  readonly factors: readonly number[];
}

/**
 * Finds capabilities by what a text means: letters, words, concepts and embeddings of all that cards say, added up, times how
 * well the operation agrees. Everything is computed when a card comes, so that asking is only a look.
 */
export class Meaning {
  private readonly documents: Document[] = [];
  private readonly byName = new Map<string, number>();
  private readonly operations = new OperationSets();
  private readonly stages: Stages;
  private readonly withVectors: Document[] = [];
  private scores = new Float32Array(64);
  private calibration: Calibration = calibrate([], []);

  constructor(
    concepts: Concepts,
    private readonly embedder: LocalEmbedder | undefined,
    private readonly thresholds: Thresholds = {},
  ) {
    this.stages = new Stages(concepts, embedder);
  }

  /** How many capabilities can be found. */
  get size(): number {
    return this.byName.size;
  }

  /** How many places are taken by cards that went or were learnt anew. */
  get forgotten(): number {
    return this.documents.length - this.byName.size;
  }

  /** Learns a card, in place of the one of that name. */
  put(card: CardText): void {
    this.remove(card.name);
    const said = textsOf(card).map(simplify);
    const plain = said.map(normalise);
    const heads = card.description === undefined || card.description === "" ? 1 : 2;
    this.byName.set(card.name, this.documents.length);
    this.documents.push({
      name: card.name,
      said,
      plain,
      heads,
      chinese: isChinese(plain.slice(0, heads).join(" ")),
      operations: this.operations.of(operationsOf(card), card.operation !== undefined),
      vectors: undefined,
      alive: true,
    });
    this.stages.add(said, plain);
  }

  remove(name: string): void {
    const at = this.byName.get(name);
    if (at === undefined) return;
    this.byName.delete(name);
    this.documents[at]!.alive = false;
  }

  /** What a text means, among all or among the named. */
  ask(text: string, limit: number, among?: ReadonlySet<string>): Answer {
    const look = this.look(text);
    const order = this.order(look, Math.max(limit, 2), (document) => among === undefined || among.has(document.name));
    const judgement = judge(this.evidence(look, order), this.calibration, this.thresholds);
    const ranked = order.best.slice(0, limit).map((place) => this.scored(look, place));
    const first = order.best[0];
    const refused =
      first !== undefined && this.operations.onlyLooks(look.reading, this.documents[first.at]!.operations);
    return { ...judgement, verdict: refused ? "no_match" : judgement.verdict, ranked };
  }

  /** The capabilities nearest to a text, best first. */
  rank(text: string, limit: number): Scored[] {
    const look = this.look(text);
    return this.order(look, limit, () => true).best.map((place) => this.scored(look, place));
  }

  /** Whether so much came since the last time that it should settle now. */
  get isStale(): boolean {
    return this.stages.isStale;
  }

  /** Makes good what drifted as cards came, and sets the thresholds anew; in steps of about a millisecond. */
  *settle(): Generator<void> {
    yield* this.stages.refresh();
    const served: Sample[] = [];
    const unserved: Evidence[] = [];
    for (const [at, text] of this.samples()) {
      if (!this.documents[at]!.alive) continue;
      const sample = this.asked(at, text);
      served.push(sample.served);
      unserved.push(sample.unserved);
      yield;
    }
    this.calibration = calibrate(served, unserved);
  }

  private look(text: string): Asked {
    const look = this.stages.look(text);
    const reading = operationsIn(look.said);
    return { ...look, reading, factors: this.operations.factors(reading) };
  }

  private order(look: Asked, limit: number, isMeant: (document: Document) => boolean): Order {
    const order = new Order(limit);
    const count = this.documents.length;
    if (this.scores.length < count) this.scores = new Float32Array(count * 2);
    const { scores, documents } = this;
    for (let at = 0; at < count; at++) {
      const document = documents[at]!;
      const isLeftOut = !document.alive || !isMeant(document);
      const plain = isLeftOut ? 0 : this.plainScore(look, document, at);
      scores[at] = isLeftOut ? LEFT_OUT : plain * look.factors[document.operations]!;
      if (!isLeftOut) order.count(plain);
    }
    for (const at of highest(scores, count, look.exact === undefined ? limit : REFINED_MAX)) {
      this.stages.refine(look, at);
      const document = documents[at]!;
      const plain = this.plainScore(look, document, at);
      order.offer(at, plain, plain * look.factors[document.operations]!);
    }
    return order;
  }

  /** What the stages add up to, before the operation. */
  private plainScore({ lexical, concepts, words, embedding, chinese }: Asked, document: Document, at: number): number {
    const near = embedding === undefined ? 0 : embedding[at]!;
    const letters = lexical[at]!;
    const like = document.chinese === chinese ? letters : Math.max(letters, LETTERS_OF_EMBEDDING * near);
    return (
      WEIGHT.lexical * like + WEIGHT.concepts * concepts[at]! + WEIGHT.words * words[at]! + WEIGHT.embedding * near
    );
  }

  private scored({ lexical, concepts, words, embedding, factors }: Asked, { at, score }: Place): Scored {
    const { name, operations } = this.documents[at]!;
    const parts = {
      lexical: lexical[at]!,
      concepts: concepts[at]!,
      words: words[at]!,
      embedding: embedding?.[at] ?? 0,
      operation: factors[operations]!,
    };
    return { name, score, parts };
  }

  /** What the decision looks at. `without`: texts of a document that are taken for not there. */
  private evidence(look: Asked, order: Order, without?: Without): Evidence {
    const top = order.best.slice(0, 2).map(({ at, score, plain }) => {
      const near = this.nearness(look, at, without?.at === at ? without.texts : undefined);
      return { score, plain, ...near };
    });
    const first = order.best[0];
    // Across languages words cannot occur, and that they do not is no evidence.
    const foreign = first !== undefined && this.documents[first.at]!.chinese !== look.chinese;
    const texts = without === undefined ? [] : this.documents[without.at]!.plain;
    const gone = texts.filter((_, i) => without!.texts.has(i));
    const kept = texts.filter((_, i) => !without!.texts.has(i));
    const known = foreign ? null : this.stages.known(look, gone, kept);
    return evidenceOf(top, { candidates: order.counted, best: order.most, sum: order.sum, known });
  }

  /** How near a request, and its nearest clause, comes to one text of a card. */
  private nearness(
    look: Look,
    at: number,
    without: ReadonlySet<number> | undefined,
  ): { nearest: number; nearestPart: number } {
    if (look.vector === undefined) return { nearest: 0, nearestPart: 0 };
    const texts = this.vectorsOf(this.documents[at]!);
    const nearest = (vector: Float32Array): number => {
      let most = 0;
      for (const [i, text] of texts.entries()) if (!without?.has(i)) most = Math.max(most, cosineOf(text, vector));
      return most;
    };
    const whole = nearest(look.vector!);
    return {
      nearest: whole,
      nearestPart: look.clauses().reduce((most, clause) => Math.max(most, nearest(clause)), whole),
    };
  }

  private vectorsOf(document: Document): readonly Float32Array[] {
    if (document.vectors !== undefined) return document.vectors;
    if (this.withVectors.length >= VECTORS_MAX) {
      for (const each of this.withVectors) each.vectors = undefined;
      this.withVectors.length = 0;
    }
    document.vectors = document.said.map((text) => this.embedder!.embedOne(text));
    this.withVectors.push(document);
    return document.vectors;
  }

  /** Which texts of which cards are asked to set the thresholds: spread over all cards, examples before descriptions. */
  private samples(): [at: number, text: number][] {
    const alive = [...this.byName.values()];
    const most = alive.length > MANY ? SAMPLES_OF_MANY : SAMPLES_MAX;
    const step = Math.max(1, Math.ceil(alive.length / most));
    const each = Math.max(1, Math.floor(most / Math.ceil(alive.length / step)));
    const samples: [number, number][] = [];
    for (let i = 0; i < alive.length; i += step) {
      const { heads, said } = this.documents[alive[i]!]!;
      const texts = said.map((_, text) => text).slice(said.length > heads ? heads : 1);
      for (const text of texts.slice(0, each)) samples.push([alive[i]!, text]);
    }
    return samples;
  }

  /**
   * A text of a card, asked as if its whole card were not there, which makes it a request that nobody serves; and as if its card
   * had never held it, which makes it one that is served.
   */
  private asked(at: number, text: number): { served: Sample; unserved: Evidence } {
    const document = this.documents[at]!;
    const { plain, heads } = document;
    const look = this.look(document.said[text]!);
    this.stages.replace(look, at, [], []);
    const ofOthers = this.order(look, 2, (other) => other !== document);
    const unserved = this.evidence(look, ofOthers, { at, texts: new Set(plain.keys()) });
    const without = this.copiesOf(look, document, text);
    const rest = (texts: readonly string[]) => texts.filter((_, i) => !without.has(i));
    this.stages.replace(look, at, rest(document.said), rest(plain));
    const order = this.order(look, 2, () => true);
    const served: Sample = {
      ...this.evidence(look, order, { at, texts: without }),
      place: order.placeOf(at),
      source: text >= heads ? "example" : "description",
      beside: plain.filter((_, i) => i >= heads && !without.has(i)).length,
      copies: without.size - 1,
    };
    return { served, unserved };
  }

  /** A text of a card, and those of the card that say nearly the same. */
  private copiesOf(look: Look, document: Document, text: number): ReadonlySet<number> {
    const copies = new Set([text]);
    const vectors = look.vector === undefined ? [] : this.vectorsOf(document);
    for (const [i, plain] of document.plain.entries()) {
      const near = vectors[i] === undefined ? 0 : cosineOf(vectors[i], look.vector!);
      if (plain === look.plain || near >= COPY_AT) copies.add(i);
    }
    return copies;
  }
}
