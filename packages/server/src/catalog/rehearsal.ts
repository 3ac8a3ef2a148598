import { COPY_AT, type Sample } from "./calibration.js";
import { cosineOf } from "./card-features.js";
import type { Asked, CardIndex, Document } from "./card-index.js";
import type { Evidence } from "./evidence.js";
import type { Contest } from "./operation-strength.js";
import type { Order } from "./order.js";
import type { Nearness, Passages } from "./passages.js";
import type { Look } from "./stages.js";
import type { Steps } from "./steps.js";

/** So many texts of cards are asked to set the thresholds; of many cards, where each question is dear, fewer. */
const SAMPLES_MAX = 300;
const SAMPLES_OF_MANY = 100;
const MANY = 4_096;

/** A sample is compared with so many cards to learn how much operations count. */
const RIVALS = 20;

/** What thresholds are learnt from. */
interface Samples {
  readonly served: Sample[];
  readonly unserved: Evidence[];
}

/** What is learnt from asking texts of cards, without the fine stage and with it. */
export interface Lessons {
  readonly coarse: Samples;
  readonly fine: Samples;
  readonly contests: Contest[];
}

/**
 * Asks cards' own texts, to learn from the answers what is near enough here. In steps of a few milliseconds at most, between which
 * cards may come and go, and others may ask.
 */
export class Rehearsal {
  constructor(private readonly index: CardIndex) {}

  /** `passages`: what the fine stage has embedded. */
  *lessons(passages: Passages | undefined): Steps<Lessons> {
    const samples = (): Samples => ({ served: [], unserved: [] });
    const lessons: Lessons = { coarse: samples(), fine: samples(), contests: [] };
    for (const [at, text] of this.samples()) {
      if (!this.index.isAlive(at)) continue;
      const contest = yield* this.sample(lessons.coarse, at, text);
      if (contest !== undefined) lessons.contests.push(contest);
      yield;
      const near = passages?.nearnessOf(this.index.documents[at]!.name, text);
      if (near === undefined || !this.index.isAlive(at)) continue;
      yield* this.sample(lessons.fine, at, text, near);
      yield;
    }
    return lessons;
  }

  /** Which texts of which cards are asked to set the thresholds: spread over all cards, examples before descriptions. */
  private samples(): [at: number, text: number][] {
    const alive = this.index.alive();
    const most = alive.length > MANY ? SAMPLES_OF_MANY : SAMPLES_MAX;
    const step = Math.max(1, Math.ceil(alive.length / most));
    const each = Math.max(1, Math.floor(most / Math.ceil(alive.length / step)));
    const samples: [number, number][] = [];
    for (let i = 0; i < alive.length; i += step) {
      const { heads, said } = this.index.documents[alive[i]!]!;
      const texts = said.map((_, text) => text).slice(said.length > heads ? heads : 1);
      for (const text of texts.slice(0, each)) samples.push([alive[i]!, text]);
    }
    return samples;
  }

  /**
   * A text of a card, asked as if its whole card were not there, which makes it a request that nobody serves; and as if its card
   * had never held it, which makes it one that is served. Answers how that went, unless the card went meanwhile.
   */
  private *sample(samples: Samples, at: number, text: number, near?: Nearness): Steps<Contest | undefined> {
    const look = yield* this.index.look(this.index.documents[at]!.said[text]!);
    try {
      const unserved = yield* this.withoutCard(look, at, near);
      yield;
      const { served, contest } = yield* this.withoutText(look, at, text, near);
      if (!this.index.isAlive(at)) return undefined;
      samples.unserved.push(unserved);
      samples.served.push(served);
      return contest;
    } finally {
      this.index.letGo(look);
    }
  }

  private *withoutCard(look: Asked, at: number, near?: Nearness): Steps<Evidence> {
    this.index.replace(look, at, [], []);
    const all = { at, texts: new Set(this.index.documents[at]!.plain.keys()) };
    const others = yield* this.index.rank(look, RIVALS, { isMeant: (other) => other !== at, near, without: all });
    return this.index.evidence(look, others, all);
  }

  private *withoutText(
    look: Asked,
    at: number,
    text: number,
    near?: Nearness,
  ): Steps<{ served: Sample; contest: Contest }> {
    const document = this.index.documents[at]!;
    const { plain, heads } = document;
    const without = { at, texts: this.copiesOf(look, document, text) };
    const rest = (texts: readonly string[]) => texts.filter((_, i) => !without.texts.has(i));
    this.index.replace(look, at, rest(document.said), rest(plain));
    const order = yield* this.index.rank(look, RIVALS, { near, without });
    const served = {
      ...this.index.evidence(look, order, without),
      place: order.placeOf(at),
      source: text >= heads ? ("example" as const) : ("description" as const),
      beside: plain.filter((_, i) => i >= heads && !without.texts.has(i)).length,
      copies: without.texts.size - 1,
    };
    return { served, contest: this.contest(look, order, at) };
  }

  private contest({ factors }: Asked, { best }: Order, at: number): Contest {
    const all = best.map((place) => ({
      at: place.at,
      plain: place.plain,
      factor: factors[this.index.documents[place.at]!.operations]! ** (1 / this.index.operations.strength),
    }));
    return { own: all.find((one) => one.at === at), all };
  }

  /** A text of a card, and those of the card that say nearly the same. */
  private copiesOf(look: Look, document: Document, text: number): ReadonlySet<number> {
    const copies = new Set([text]);
    const vectors = look.vector === undefined ? [] : this.index.vectorsOf(document);
    for (const [i, plain] of document.plain.entries()) {
      const near = vectors[i] === undefined ? 0 : cosineOf(vectors[i], look.vector!);
      if (plain === look.plain || near >= COPY_AT) copies.add(i);
    }
    return copies;
  }
}
