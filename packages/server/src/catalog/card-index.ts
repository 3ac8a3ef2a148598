import { type CardText, cosineOf, descriptionOf, textsOf } from "./card-features.js";
import type { Concepts } from "./concepts.js";
import type { CardWords } from "./coverage.js";
import { type Evidence, evidenceOf } from "./evidence.js";
import { OperationSets } from "./operation-sets.js";
import { type OperationReading, operationsIn, operationsOf } from "./operations.js";
import { highest, Order, type Place } from "./order.js";
import type { Nearness } from "./passages.js";
import { plainScore, type Scannable, scan, WORDS_WEIGHT } from "./scan.js";
import { Sheets } from "./sheets.js";
import { type LocalEmbedder, type Look, Stages } from "./stages.js";
import type { Steps } from "./steps.js";
import { isChinese, normalise, simplify } from "./text.js";
import { Traits } from "./traits.js";

/** How near each stage finds a capability, 0..1, and the factor of its operation. */
export interface Parts {
  lexical: number;
  concepts: number;
  words: number;
  embedding: number;
  operation: number;
  /** How much of the request's words it says, in the same word or a near one; where the fine stage does not rank. */
  covered?: number;
  /** How near the fine stage finds it, if it ranked; undefined too of what that has not read yet. */
  fine?: number;
}

export interface Scored {
  name: string;
  score: number;
  parts: Parts;
}

/**
 * How the fine stage ranks again what the others found: its nearness, and their sum; the operation counts less, since a better
 * embedder hears some of it. On the same scale as theirs. Set on the same sets, with multilingual-e5-small.
 */
const FINE = { near: 0.65, others: 0.52, operation: 0.75, shortList: 50 };
/** So many cards are kept at hand with the vectors of their texts and words: those that are asked for. */
const AT_HAND_MAX = 2_000;
/** So many of the nearest are compared with the request word by word. */
const CLOSELY = 5;
/** So many of the first cards cover what a request says: one alone lacks words that its like have. */
export const COVERING = 3;
/** Of a large catalog, so many of the nearest by estimate are compared in full. */
const REFINED_MAX = 500;

export interface Document {
  readonly name: string;
  /** Its texts, simplified, and in normal form. */
  readonly said: readonly string[];
  readonly plain: readonly string[];
  /** How many of its first texts are its name and description; the others are examples. */
  readonly heads: number;
  readonly chinese: boolean;
  /** The number of its set of operations. */
  readonly operations: number;
  /** Of its texts, and all its words; made when it comes near to be the one that is meant. */
  vectors: readonly Float32Array[] | undefined;
  words: CardWords | undefined;
}

/** Texts of a document, by their numbers. */
export interface Without {
  readonly at: number;
  readonly texts: ReadonlySet<number>;
}

/** A request, compared with all that is there. */
export interface Asked extends Look, Scannable {
  readonly reading: OperationReading;
}

/** Whom a ranking is of, and who ranks. */
export interface Ranking {
  /** Of all if that is not said. */
  isMeant?: ((at: number) => boolean) | undefined;
  /** By the fine stage as well, if that has read the text. */
  near?: Nearness | undefined;
  /** Texts of a document that are taken for not there. */
  without?: Without | undefined;
}

/**
 * Cards, and how near each is to a text: letters, words, concepts and embeddings of all that cards say, added up, times how well
 * the operation agrees. Everything is computed when a card comes, so that asking is only a look.
 */
export class CardIndex {
  readonly documents: Document[] = [];
  readonly operations = new OperationSets();
  private readonly traits = new Traits();
  private readonly byName = new Map<string, number>();
  private readonly stages: Stages;
  private readonly atHand: Document[] = [];
  private readonly sheets = new Sheets();

  constructor(
    concepts: Concepts,
    private readonly embedder: LocalEmbedder | undefined,
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
    const chinese = isChinese(plain.slice(0, heads).join(" "));
    const operations = this.operations.of(operationsOf(card), card.operation !== undefined);
    this.documents.push({
      name: card.name,
      said,
      plain,
      heads,
      chinese,
      operations,
      vectors: undefined,
      words: undefined,
    });
    this.traits.add(operations, chinese);
    this.stages.add(said, plain);
  }

  remove(name: string): void {
    const at = this.byName.get(name);
    if (at === undefined) return;
    this.byName.delete(name);
    this.traits.forget(at);
  }

  /** The number of the card of this name. */
  placeOf(name: string): number | undefined {
    return this.byName.get(name);
  }

  /** The numbers of all that can be found. */
  alive(): number[] {
    return [...this.byName.values()];
  }

  isAlive(at: number): boolean {
    return this.traits.isAlive(at);
  }

  /** Whether so much came since the last time that it should settle now. */
  get isStale(): boolean {
    return this.stages.isStale;
  }

  /** Makes good what drifted as cards came, in steps of about a millisecond. */
  refresh(): Generator<void> {
    return this.stages.refresh();
  }

  /** In steps of a few milliseconds for a hundred thousand cards. To be let go of when it is done with. */
  *look(text: string): Steps<Asked> {
    const count = this.documents.length;
    const look = yield* this.stages.look(text, this.sheets.take(count), count);
    yield;
    const reading = operationsIn(look.said);
    return { ...look, reading, factors: this.operations.factors(reading) };
  }

  /** Nothing of it is looked at any more. */
  letGo({ sheet }: Look): void {
    this.sheets.give(sheet);
  }

  /** Puts other texts in the place of a document's, for this look only; simplified, and in normal form. */
  replace(look: Look, at: number, said: readonly string[], plain: readonly string[]): void {
    this.stages.replace(look, at, said, plain);
  }

  /** The best few. */
  *rank(look: Asked, limit: number, { isMeant, near, without }: Ranking = {}): Steps<Order> {
    if (near !== undefined) {
      return this.finely(look, yield* this.order(look, FINE.shortList, isMeant), near, limit, without);
    }
    const found = yield* this.order(look, Math.max(limit, CLOSELY), isMeant);
    yield;
    return this.closely(look, found, limit, without);
  }

  /** A short list, ranked again by how much of what the request says each card says too. */
  private closely(look: Asked, found: Order, limit: number, without?: Without): Order {
    const { request } = look;
    return found.again(limit, ({ at, score }) => {
      const words = request && this.wordsLeft(at, without);
      if (words === undefined) return { score };
      const covered = request!.share(words);
      return { score: score + WORDS_WEIGHT * covered * look.factors[this.documents[at]!.operations]!, covered };
    });
  }

  /** The words of a card, without those of texts that are taken for not there. */
  private wordsLeft(at: number, without?: Without): CardWords | undefined {
    const document = this.documents[at]!;
    if (without?.at !== at) return this.wordsOf(document);
    return this.stages.wordsOf(document.plain.filter((_, i) => !without.texts.has(i)));
  }

  /** The best among those that are meant; all of them, if that is not said. */
  private *order(look: Asked, limit: number, isMeant?: (at: number) => boolean): Steps<Order> {
    const order = new Order(limit);
    const { traits } = this;
    const { count } = look;
    const { scores } = look.sheet;
    order.countAll(yield* scan(look, traits, count, scores, isMeant));
    let most = 0;
    for (const at of highest(scores, count, look.exact === undefined ? limit : REFINED_MAX)) {
      this.stages.refine(look, at);
      const plain = plainScore(look, traits.isChinese(at), at);
      order.offer(at, plain, { score: plain * look.factors[traits.operations(at)]! });
      most = Math.max(most, plain);
    }
    // The highest of many estimates is high by chance for a good part; whether anybody serves is told better by what is exact.
    if (look.exact !== undefined) order.most = most;
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

  scored({ lexical, concepts, words, embedding, factors }: Asked, { at, score, near, covered }: Place): Scored {
    const { name, operations } = this.documents[at]!;
    const parts = {
      lexical: lexical[at]!,
      concepts: concepts[at]!,
      words: words[at]!,
      embedding: embedding?.[at] ?? 0,
      operation: factors[operations]!,
      ...(covered !== undefined && { covered }),
      ...(near !== undefined && { fine: near }),
    };
    return { name, score, parts };
  }

  /** What the decision looks at. `without`: texts of a document that are taken for not there. */
  evidence(look: Asked, order: Order, without?: Without): Evidence {
    const top = order.best.slice(0, 2).map(({ at, score, plain, near }) => {
      const nearest = this.nearness(look, at, without?.at === at ? without.texts : undefined);
      return { score, plain, fine: near ?? null, ...nearest };
    });
    const first = order.best[0];
    // Words of two languages are not as near as those of one, and that they are not is no evidence.
    const foreign = first !== undefined && this.documents[first.at]!.chinese !== look.chinese;
    const covered = foreign ? undefined : this.covered(look, order, without);
    return evidenceOf(top, { candidates: order.counted, best: order.most, sum: order.sum, covered: covered ?? null });
  }

  /** By those that were first before they were ranked again: who was chosen for what it covers says less of how much is covered. */
  private covered(look: Look, { before }: Order, without?: Without): number | undefined {
    const cards = before.slice(0, COVERING).flatMap(({ at }) => this.wordsLeft(at, without) ?? []);
    return look.request?.best(look.clauses().plain, cards);
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
      nearestPart: look.clauses().vectors.reduce((most, clause) => Math.max(most, nearest(clause)), whole),
    };
  }

  /** Of its texts. */
  vectorsOf(document: Document): readonly Float32Array[] {
    this.hold(document);
    document.vectors ??= document.said.map((text) => this.embedder!.embedOne(text));
    return document.vectors;
  }

  private wordsOf(document: Document): CardWords | undefined {
    this.hold(document);
    document.words ??= this.stages.wordsOf(document.plain);
    return document.words;
  }

  /** Keeps it at hand, for which all others go when there are too many. */
  private hold(document: Document): void {
    if (document.vectors !== undefined || document.words !== undefined) return;
    if (this.atHand.length >= AT_HAND_MAX) {
      for (const each of this.atHand) [each.vectors, each.words] = [undefined, undefined];
      this.atHand.length = 0;
    }
    this.atHand.push(document);
  }
}
