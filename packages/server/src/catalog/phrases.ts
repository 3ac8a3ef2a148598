import { limits } from "@agent-reach/protocol";
import { CHOICES_MAX, type Chooser } from "../ports/chooser.js";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { View } from "../registry/view.js";
import { type Advice, chosenAdvice, fineAdvice, NO_ADVICE } from "./advice.js";
import { cardTextOf } from "./card-text.js";
import type { FineStage } from "./fine-stage.js";
import { type Found, MATCH, type Near, NOTHING, namesIn, oneOf, type Resolved, resolvedOf } from "./found.js";
import type { Learner } from "./learner.js";
import { SCORE_FULL, type Scored } from "./meaning.js";
import type { Synonyms } from "./synonyms.js";
import { carriersOf } from "./tags.js";
import { normalise } from "./text.js";
import { Wordings } from "./wordings.js";

const BY_NAME = ["name"];
/** Of the time that a call has, each of the slower readers may take so much. */
const READING_SHARE = 0.25;
/** Capabilities that an answer by meaning lists. */
const RANKED_MAX = 3;
/** Beside the first, what has so much of its score is offered too: whoever discovers may have reasons of its own to prefer it. */
const NEAR_FIRST = 0.7;
const BY_MEANING_MAX = 0.99;
/** What is less near than this is not worth naming as a miss. */
const NEAR_MIN = 0.05;

/** How a text is to be looked into. */
export interface Consultation {
  /** So long whoever asks may wait, ms; most of it is left to the work itself. */
  withinMs: number;
  /** These capabilities are in question; all, if that is not said. */
  among?: ReadonlySet<string> | undefined;
  /** By the index alone. */
  isLocal: boolean;
}

/** Who looks beyond the index. */
interface Helpers {
  fine: FineStage | undefined;
  chooser: Chooser | undefined;
}

/**
 * What is meant by a name, a tag or a text (CAT-2, CAT-3): its very words first, then synonyms, examples and tags from the most
 * specific level up, then meaning.
 */
export class Phrases {
  private readonly wordings: Wordings;

  constructor(
    private readonly view: View,
    system: System,
    /** May be replaced by others at any time. */
    public synonyms: Synonyms,
    /** Without it nothing is found by meaning. */
    private readonly learner: Learner | undefined,
    /** Asked where nothing else is sure. */
    private readonly chooser: Chooser | undefined,
  ) {
    this.wordings = new Wordings(view, system);
  }

  changed(instance: LiveInstance): void {
    this.wordings.changed(instance);
  }

  stop(): void {
    this.wordings.stop();
  }

  /**
   * Finds out of a text what takes long, if it takes more than its very words: has slower readers than the index look at it, if
   * there are any, and goes through a large index in steps. Undefined if nobody has to be waited for.
   */
  consult(phrase: string, { withinMs, among, isLocal }: Consultation): Promise<Advice> | undefined {
    const { learner, chooser } = this;
    if (learner === undefined) return undefined;
    const fine = isLocal ? undefined : learner.fine;
    const last = isLocal ? undefined : chooser;
    if (fine === undefined && last === undefined && !learner.isLarge) return undefined;
    if (this.worded(phrase) !== undefined) return undefined;
    return this.advise(phrase, learner, { fine, chooser: last, withinMs: withinMs * READING_SHARE, among });
  }

  private async advise(
    phrase: string,
    learner: Learner,
    { fine, chooser, withinMs, among }: Helpers & Pick<Consultation, "withinMs" | "among">,
  ): Promise<Advice> {
    const read = fine === undefined ? NO_ADVICE : await fineAdvice(fine, phrase, withinMs);
    const answer = await learner.read(phrase, CHOICES_MAX, { among, near: read.near });
    const advice = among === undefined ? { ...read, answer } : read;
    if (chooser === undefined || answer.verdict !== "no_match") return advice;
    const meaning = learner.ask();
    const choices = answer.ranked.flatMap(({ name }) => {
      const entry = this.view.capabilities.get(name);
      const card = entry && cardTextOf(entry);
      // Nobody may choose what only looks for a request that changes something (CAT-7).
      return card === undefined || meaning.contradicts(phrase, name) ? [] : [card];
    });
    if (choices.length === 0) return advice;
    const late = new AbortController();
    const disarm = learner.system.after(withinMs, () => late.abort());
    return chosenAdvice(advice, chooser, phrase, choices, late.signal).finally(disarm);
  }

  /** The nearest capabilities to a phrase that matched nothing, with how near they are. */
  misses(phrase: string, limit = RANKED_MAX): Near[] {
    return this.nearOf(this.learner?.ask().rank(phrase, limit) ?? []);
  }

  private nearOf(ranked: readonly Scored[]): Near[] {
    return ranked.flatMap(({ name, score }) => {
      const entry = this.view.capabilities.get(name);
      const offer = entry?.offers[0] ?? entry?.gone[0];
      if (offer === undefined || score < NEAR_MIN) return [];
      return [{ capability: name, agentId: offer.instance.record.agentId, match: matchOf(score) }];
    });
  }

  named(name: string): Resolved[] {
    const entry = this.view.capabilities.get(name);
    if (entry !== undefined) return [resolvedOf(entry, MATCH.name, BY_NAME)];
    return this.bySynonym(name);
  }

  /** What a phrase means: by its very words, and if nobody has these, by its meaning. */
  phrased(phrase: string, advice?: Advice): Found {
    return this.worded(phrase) ?? this.meant(phrase, advice);
  }

  /** What has these very words: as its name, a synonym, an example or a tag. */
  private worded(phrase: string): Found | undefined {
    const plain = normalise(phrase);
    const exact = this.wordings.named(plain);
    if (exact.length > 0) return oneOf(exact.map((entry) => resolvedOf(entry, MATCH.name, BY_NAME)));
    const bySynonym = this.bySynonym(phrase);
    if (bySynonym.length > 0) return oneOf(bySynonym);
    const byExample = this.wordings.exemplified(plain);
    if (byExample.length > 0) return oneOf(byExample.map((entry) => resolvedOf(entry, MATCH.example, ["example"])));
    const tagged = mayBeTag(phrase.trim()) ? this.tagged([phrase]) : [];
    return tagged.length > 0 ? oneOf(tagged) : undefined;
  }

  /** By meaning (CAT-3), among all or among these. */
  meant(phrase: string, { answer: known, near, chosen, notes } = NO_ADVICE, among?: ReadonlySet<string>): Found {
    if (this.learner === undefined) return NOTHING;
    const answer =
      (among === undefined ? known : undefined) ?? this.learner.ask().ask(phrase, CHOICES_MAX, { among, near });
    const { confidence, fit } = answer;
    const picked = answer.verdict === "no_match" ? answer.ranked.filter(({ name }) => name === chosen) : undefined;
    if (picked?.length === 0)
      return { ...NOTHING, fit, notes, nearest: this.nearOf(answer.ranked.slice(0, RANKED_MAX)) };
    const verdict = picked === undefined ? answer.verdict : "match";
    const resolved = (picked ?? answer.ranked.slice(0, RANKED_MAX)).flatMap((scored, i) => {
      const entry = this.view.capabilities.get(scored.name);
      if (entry === undefined) return [];
      const reasons = [...reasonsOf(scored, i === 0 ? confidence : undefined), ...notes];
      return [resolvedOf(entry, matchOf(scored.score), reasons)];
    });
    const [first] = resolved;
    if (first === undefined) return { ...NOTHING, fit, notes };
    if (verdict === "ambiguous") return { verdict, fit, resolved };
    const isNear = ({ match }: Resolved): boolean => match >= NEAR_FIRST * first.match;
    return { verdict, fit, resolved: resolved.filter(isNear), behind: resolved.filter((each) => !isNear(each)) };
  }

  private bySynonym(phrase: string): Resolved[] {
    const name = this.synonyms.find(phrase);
    if (name === undefined) return [];
    const reason = `synonym of ${name}`;
    const entry = this.view.capabilities.get(name);
    const entries = entry === undefined ? this.wordings.named(normalise(name)) : [entry];
    if (entries.length > 0) return entries.map((each) => resolvedOf(each, MATCH.synonym, [reason]));
    return this.tagged([name]).map((r) => ({ ...r, reasons: [reason, ...r.reasons] }));
  }

  /** Who carries all of these tags, by the nearest levels that anybody has, best first; of all, or of these. */
  tagged(tags: readonly string[], among?: ReadonlySet<string>): Resolved[] {
    const lookup = (plain: string) =>
      this.wordings.tagged(plain).map((tag) => ({ tag, names: this.view.tags.get(tag)! }));
    return carriersOf(tags, lookup, among).map(({ name, up, reasons }) => {
      const match = Math.max(0.1, MATCH.tag - up * MATCH.tagStep);
      return resolvedOf(this.view.capabilities.get(name)!, match, reasons);
    });
  }

  /** Those of what was found that carry the tags as well, at the nearest levels that any of them has. */
  carrying(tags: readonly string[], found: readonly Resolved[]): readonly Resolved[] {
    if (tags.length === 0) return found;
    const carriers = new Map(this.tagged(tags, namesIn(found)).map((r) => [r.name, r]));
    return found.flatMap((r) => {
      const carrier = carriers.get(r.name);
      if (carrier !== undefined) return [{ ...r, reasons: [...r.reasons, ...carrier.reasons] }];
      // Tags of those who are offline are not looked up; that they are is what is to be said of them.
      return r.offers.length === 0 ? [r] : [];
    });
  }

  /** What of all that was found is among the carriers of a tag; if nothing, which of these is meant. */
  phrasedAmong(phrase: string, advice: Advice | undefined, found: Found, carriers: readonly Resolved[]): Found {
    if (carriers.length === 0) return NOTHING;
    const names = namesIn(carriers);
    const resolved = found.resolved.filter((r) => names.has(r.name));
    if (resolved.length === 0) return this.meant(phrase, advice, names);
    const behind = found.behind?.filter((r) => names.has(r.name)) ?? [];
    return { verdict: resolved.length === 1 ? "match" : found.verdict, fit: found.fit, resolved, behind };
  }
}

/** What each stage found, for people and for programs (CAT-3). */
function reasonsOf({ parts }: Scored, confidence: number | undefined): string[] {
  const reasons = ["meaning"];
  if (confidence !== undefined) reasons.push(`confidence ${confidence.toFixed(2)}`);
  for (const [stage, score] of Object.entries(parts)) reasons.push(`${stage} ${score.toFixed(2)}`);
  return reasons;
}

/** A slash in a text of several words parts no levels: "yes/no questions". */
function mayBeTag(phrase: string): boolean {
  return phrase.length <= limits.nameLengthMax && !(phrase.includes("/") && /\s/.test(phrase));
}

/** How well it fits, 0..1, to three digits. Only the name itself fits in full. */
function matchOf(score: number): number {
  return Math.round(Math.min(BY_MEANING_MAX, score / SCORE_FULL) * 1000) / 1000;
}
