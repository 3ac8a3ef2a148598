import { type Calibration, calibrate, judge, START, type Thresholds } from "./calibration.js";
import type { CardText } from "./card-features.js";
import { CardIndex, COVERING, type Scored } from "./card-index.js";
import type { Concepts } from "./concepts.js";
import { strengthOf } from "./operation-strength.js";
import { operationsIn } from "./operations.js";
import type { Nearness, Passages } from "./passages.js";
import { Rehearsal } from "./rehearsal.js";
import type { LocalEmbedder } from "./stages.js";
import { finished, type Steps } from "./steps.js";
import { simplify } from "./text.js";

export type { Parts, Scored } from "./card-index.js";
export { SCORE_FULL } from "./scan.js";

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

export interface AskOptions {
  among?: ReadonlySet<string> | undefined;
  near?: Nearness | undefined;
}

/** Finds capabilities by what a text means, and says whether any of them is meant. */
export class Meaning {
  private readonly index: CardIndex;
  private readonly rehearsal: Rehearsal;
  private calibration: Calibration = calibrate([], []);
  /** With the fine stage: thresholds are kept for each and never carried over. */
  private fineCalibration: Calibration = calibrate([], [], START.fine);

  constructor(
    concepts: Concepts,
    embedder: LocalEmbedder | undefined,
    private readonly thresholds: Thresholds = {},
  ) {
    this.index = new CardIndex(concepts, embedder);
    this.rehearsal = new Rehearsal(this.index);
  }

  /** How many capabilities can be found. */
  get size(): number {
    return this.index.size;
  }

  /** How many places are taken by cards that went or were learnt anew. */
  get forgotten(): number {
    return this.index.forgotten;
  }

  /** Learns a card, in place of the one of that name. */
  put(card: CardText): void {
    this.index.put(card);
  }

  remove(name: string): void {
    this.index.remove(name);
  }

  /** What a text means, among all or among the named; with the fine stage, if that has read the text. */
  ask(text: string, limit: number, options?: AskOptions): Answer {
    return finished(this.asking(text, limit, options));
  }

  /** The same in steps. */
  *asking(text: string, limit: number, { among, near }: AskOptions = {}): Steps<Answer> {
    const { index } = this;
    const look = yield* index.look(text);
    const meant = among && new Set([...among].map((each) => index.placeOf(each)));
    const isMeant = meant && ((at: number) => meant.has(at));
    const order = yield* index.rank(look, Math.max(limit, COVERING), { isMeant, near });
    const calibration = near === undefined ? this.calibration : this.fineCalibration;
    const judgement = judge(index.evidence(look, order), calibration, this.thresholds);
    const ranked = order.best.slice(0, limit).map((place) => index.scored(look, place));
    index.letGo(look);
    const first = order.best[0];
    const refused =
      first !== undefined && index.operations.onlyLooks(look.reading, index.documents[first.at]!.operations);
    return { ...judgement, verdict: refused ? "no_match" : judgement.verdict, ranked };
  }

  /** Whether a text wants something changed, and this capability only looks (CAT-7). */
  contradicts(text: string, name: string): boolean {
    const { index } = this;
    const at = index.placeOf(name);
    if (at === undefined) return false;
    return index.operations.onlyLooks(operationsIn(simplify(text)), index.documents[at]!.operations);
  }

  /** The capabilities nearest to a text, best first. */
  rank(text: string, limit: number): Scored[] {
    const { index } = this;
    const look = finished(index.look(text));
    const ranked = finished(index.rank(look, limit)).best.map((place) => index.scored(look, place));
    index.letGo(look);
    return ranked;
  }

  /** Whether so much came since the last time that it should settle now. */
  get isStale(): boolean {
    return this.index.isStale;
  }

  /**
   * Makes good what drifted as cards came, and sets the thresholds anew, those with the fine stage from what it has embedded; in
   * steps of a few milliseconds at most.
   */
  *settle(passages?: Passages): Steps<void> {
    yield* this.index.refresh();
    let learnt = yield* this.rehearsal.lessons(passages);
    const strength = strengthOf(learnt.contests);
    if (strength !== this.index.operations.strength) {
      // All scores move with it, and so do thresholds.
      this.index.operations.strength = strength;
      learnt = yield* this.rehearsal.lessons(passages);
    }
    this.calibration = calibrate(learnt.coarse.served, learnt.coarse.unserved);
    this.fineCalibration = calibrate(learnt.fine.served, learnt.fine.unserved, START.fine);
  }
}
