import { type Calibration, COPY_AT, calibrate, judge, type Sample, START, type Thresholds } from "./calibration.js";
import { type CardText, cosineOf, descriptionOf, textsOf } from "./card-features.js";
import type { Concepts } from "./concepts.js";
import { type Evidence, evidenceOf } from "./evidence.js";
import { OperationSets } from "./operation-sets.js";
import { type Contest, strengthOf } from "./operation-strength.js";
import { type OperationReading, operationsIn, operationsOf } from "./operations.js";
import { highest, LEFT_OUT, Order, type Place } from "./order.js";
import type { Nearness, Passages } from "./passages.js";
import { type LocalEmbedder, type Look, Stages } from "./stages.js";
import { isChinese, normalise, simplify } from "./text.js";

/** How near each stage finds a capability, 0..1, and the factor of its operation. */
export interface Parts {
  lexical: number;
  concepts: number;
  words: number;
  embedding: number;
  operation: number;
  /** How near the fine stage finds it, if it ranked; undefined too of what that has not read yet. */
  fine?: number;
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
/**
 * How the fine stage ranks again what the others found: its nearness, and their sum; the operation counts less, since a better
 * embedder hears some of it. On the same scale as theirs. Set on the same sets, with multilingual-e5-small.
 */
const FINE = { near: 0.65, others: 0.52, operation: 0.75, shortList: 50 };
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

/** A sample is compared with so many cards to learn how much operations count. */
const RIVALS = 20;

/** What thresholds are learnt from. */
interface Samples {
  readonly served: Sample[];
  readonly unserved: Evidence[];
}

/** What is learnt from asking texts of cards, without the fine stage and with it. */
interface Lessons {
  readonly coarse: Samples;
  readonly fine: Samples;
  readonly contests: Contest[];
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
  /** With the fine stage: thresholds are kept for each and never carried over. */
  private fineCalibration: Calibration = calibrate([], [], START.fine);

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
    const heads = descriptionOf(card) === "" ? 1 : 2;
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

  /** What a text means, among all or among the named; with the fine stage, if that has read the text. */
  ask(text: string, limit: number, { among, near }: { among?: ReadonlySet<string>; near?: Nearness } = {}): Answer {
    const look = this.look(text);
    const isMeant = (document: Document) => among === undefined || among.has(document.name);
    const found = this.order(look, near === undefined ? Math.max(limit, 2) : FINE.shortList, isMeant);
    const order = near === undefined ? found : this.finely(look, found, near, Math.max(limit, 2));
    const calibration = near === undefined ? this.calibration : this.fineCalibration;
    const judgement = judge(this.evidence(look, order), calibration, this.thresholds);
    const ranked = order.best.slice(0, limit).map((place) => this.scored(look, place));
    const first = order.best[0];
    const refused =
      first !== undefined && this.operations.onlyLooks(look.reading, this.documents[first.at]!.operations);
    return { ...judgement, verdict: refused ? "no_match" : judgement.verdict, ranked };
  }

  /** Whether a text wants something changed, and this capability only looks (CAT-7). */
  contradicts(text: string, name: string): boolean {
    const at = this.byName.get(name);
    return at !== undefined && this.operations.onlyLooks(operationsIn(simplify(text)), this.documents[at]!.operations);
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

  /**
   * Makes good what drifted as cards came, and sets the thresholds anew, those with the fine stage from what it has embedded; in
   * steps of about a millisecond.
   */
  *settle(passages?: Passages): Generator<void> {
    yield* this.stages.refresh();
    let learnt = yield* this.lessons(passages);
    const strength = strengthOf(learnt.contests);
    if (strength !== this.operations.strength) {
      // All scores move with it, and so do thresholds.
      this.operations.strength = strength;
      learnt = yield* this.lessons(passages);
    }
    this.calibration = calibrate(learnt.coarse.served, learnt.coarse.unserved);
    this.fineCalibration = calibrate(learnt.fine.served, learnt.fine.unserved, START.fine);
  }

  private *lessons(passages: Passages | undefined): Generator<void, Lessons> {
    const samples = (): Samples => ({ served: [], unserved: [] });
    const lessons: Lessons = { coarse: samples(), fine: samples(), contests: [] };
    for (const [at, text] of this.samples()) {
      const { alive, name } = this.documents[at]!;
      if (!alive) continue;
      lessons.contests.push(this.sample(lessons.coarse, at, text));
      yield;
      const near = passages?.nearnessOf(name, text);
      if (near === undefined) continue;
      this.sample(lessons.fine, at, text, near);
      yield;
    }
    return lessons;
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

  /** A short list, ranked again by the fine stage. What that has not read yet is as near as the embedding here finds it. */
  private finely(look: Asked, found: Order, near: Nearness, limit: number, without?: Without): Order {
    return found.again(limit, ({ at, plain }) => {
      const { name, operations } = this.documents[at]!;
      const seen = near.of(name, without?.at === at ? without.texts : undefined);
      const sum = FINE.near * (seen ?? look.embedding?.[at] ?? 0) + FINE.others * plain;
      return { score: sum * look.factors[operations]! ** FINE.operation, near: seen };
    });
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

  private scored({ lexical, concepts, words, embedding, factors }: Asked, { at, score, near }: Place): Scored {
    const { name, operations } = this.documents[at]!;
    const parts = {
      lexical: lexical[at]!,
      concepts: concepts[at]!,
      words: words[at]!,
      embedding: embedding?.[at] ?? 0,
      operation: factors[operations]!,
      ...(near !== undefined && { fine: near }),
    };
    return { name, score, parts };
  }

  /** What the decision looks at. `without`: texts of a document that are taken for not there. */
  private evidence(look: Asked, order: Order, without?: Without): Evidence {
    const top = order.best.slice(0, 2).map(({ at, score, plain, near }) => {
      const nearest = this.nearness(look, at, without?.at === at ? without.texts : undefined);
      return { score, plain, fine: near ?? null, ...nearest };
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
   * had never held it, which makes it one that is served. Answers how that went.
   */
  private sample({ served, unserved }: Samples, at: number, text: number, near?: Nearness): Contest {
    const document = this.documents[at]!;
    const { plain, heads } = document;
    const look = this.look(document.said[text]!);
    this.stages.replace(look, at, [], []);
    const all = { at, texts: new Set(plain.keys()) };
    const ranked = (isMeant: (other: Document) => boolean, without: Without): Order => {
      if (near === undefined) return this.order(look, RIVALS, isMeant);
      return this.finely(look, this.order(look, FINE.shortList, isMeant), near, 2, without);
    };
    unserved.push(
      this.evidence(
        look,
        ranked((other) => other !== document, all),
        all,
      ),
    );
    const without = { at, texts: this.copiesOf(look, document, text) };
    const rest = (texts: readonly string[]) => texts.filter((_, i) => !without.texts.has(i));
    this.stages.replace(look, at, rest(document.said), rest(plain));
    const order = ranked(() => true, without);
    served.push({
      ...this.evidence(look, order, without),
      place: order.placeOf(at),
      source: text >= heads ? "example" : "description",
      beside: plain.filter((_, i) => i >= heads && !without.texts.has(i)).length,
      copies: without.texts.size - 1,
    });
    return this.contest(look, order, at);
  }

  private contest({ factors }: Asked, { best }: Order, at: number): Contest {
    const all = best.map((place) => ({
      at: place.at,
      plain: place.plain,
      factor: factors[this.documents[place.at]!.operations]! ** (1 / this.operations.strength),
    }));
    return { own: all.find((one) => one.at === at), all };
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
