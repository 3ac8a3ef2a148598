import { type Card, limits, ReachError } from "@agent-reach/protocol";
import { CHOICES_MAX, type Chooser } from "../ports/chooser.js";
import type { LiveInstance, Offer } from "../registry/instance.js";
import type { CapabilityEntry, View } from "../registry/view.js";
import { type Advice, chosenAdvice, fineAdvice, NO_ADVICE } from "./advice.js";
import { cardTextOf } from "./card-text.js";
import { CardWarnings } from "./card-warnings.js";
import type { Learner } from "./learner.js";
import type { OnFound } from "./linter.js";
import { SCORE_FULL, type Scored } from "./meaning.js";
import type { Synonyms } from "./synonyms.js";
import { carriersOf } from "./tags.js";
import { normalise } from "./text.js";
import { Wordings } from "./wordings.js";

/** What is asked for: who, what, or in which words. At least one of them. */
export interface Wanted {
  tenant: string;
  capability?: string | undefined;
  agentId?: string | undefined;
  instanceId?: string | undefined;
  intent?: string | undefined;
  /** What `consult` found out about the intent. */
  advice?: Advice | undefined;
  /** What it was published to; the agent is then named as well. */
  topic?: string | undefined;
}

/** One capability and everybody who offers it. */
export interface Resolved {
  name: string;
  offers: readonly Offer[];
  gone: readonly Offer[];
  /** How well it fits, 0..1, and by what. */
  match: number;
  reasons: readonly string[];
}

/** What fits, best first: one that is meant (and what else comes near), several that cannot be told apart, or nothing. */
export interface Found {
  verdict: "match" | "ambiguous" | "no_match";
  resolved: readonly Resolved[];
  /** What was found as well, and is too far behind the first to be offered. */
  behind?: readonly Resolved[];
  /** What kept slower readers from helping, where nothing is resolved that could say it. */
  notes?: readonly string[];
}

export type Resolution = { ok: true; resolved: Resolved } | { ok: false; error: ReachError };

/** How sure each kind of hard match is. */
const MATCH = { name: 1, synonym: 0.95, example: 0.95, tag: 0.9, tagStep: 0.1 };
const BY_NAME = ["name"];
const BY_AGENT = ["agent", "name"];
const BY_INSTANCE = ["instance", "name"];
const BY_TOPIC = ["topic"];
const NOTHING: Found = { verdict: "no_match", resolved: [] };
/** Of the time that a call has, each of the slower readers may take so much. */
const READING_SHARE = 0.25;
/** Capabilities that an answer by meaning lists. */
const RANKED_MAX = 3;
/** Beside the first, what has so much of its score is offered too: whoever discovers may have reasons of its own to prefer it. */
const NEAR_FIRST = 0.7;
/** What is less near than this is not worth naming as a miss. */
const NEAR_MIN = 0.05;

/**
 * Who can do it: from a name, a target or a phrase to the capability that is meant (CAT-2). Names come first, then
 * synonyms, examples and tags from the most specific level up, then meaning; it may say no, and then names the nearest.
 */
export class Catalog {
  private readonly wordings: Wordings;
  private readonly warnings: CardWarnings;

  constructor(
    private readonly view: View,
    /** May be replaced by others at any time. */
    public synonyms: Synonyms,
    /** Without it nothing is found by meaning. */
    private readonly learner: Learner | undefined,
    /** Asked where nothing else is sure. */
    private readonly chooser: Chooser | undefined = undefined,
  ) {
    this.wordings = new Wordings(view);
    this.warnings = new CardWarnings(learner?.linter);
  }

  /** Called when an instance came, changed or went, so that its capabilities can be found. */
  changed(instance: LiveInstance): void {
    this.wordings.changed(instance);
    this.learner?.changed(instance);
  }

  /** Everybody who is there has been loaded. */
  start(): void {
    this.learner?.start();
  }

  stop(): void {
    this.learner?.stop();
  }

  /**
   * Has slower readers than the index look at a request's words, if there are any and it takes more than the words themselves
   * (CAT-4, CAT-5). Undefined if nobody has to be waited for; what they say goes into `Wanted`. It never rejects.
   * `withinMs`: so long whoever asks may wait; most of it is left to the work itself.
   */
  consult(wanted: Wanted, withinMs = Number.POSITIVE_INFINITY): Promise<Advice> | undefined {
    const { intent, capability, topic } = wanted;
    if (this.learner === undefined || (this.learner.fine === undefined && this.chooser === undefined)) return undefined;
    if (intent === undefined || capability !== undefined || topic !== undefined) return undefined;
    if (this.worded(intent) !== undefined) return undefined;
    const isAddressed = wanted.agentId !== undefined || wanted.instanceId !== undefined;
    const names = isAddressed ? this.ofTarget(wanted).map(({ name }) => name) : undefined;
    return names?.length === 1
      ? undefined
      : this.advise(intent, this.learner, withinMs * READING_SHARE, names && new Set(names));
  }

  private async advise(
    intent: string,
    learner: Learner,
    withinMs: number,
    among?: ReadonlySet<string>,
  ): Promise<Advice> {
    const advice = learner.fine === undefined ? NO_ADVICE : await fineAdvice(learner.fine, intent, withinMs);
    if (this.chooser === undefined) return advice;
    const meaning = learner.ask();
    const { verdict, ranked } = meaning.ask(intent, CHOICES_MAX, { among, near: advice.near });
    if (verdict !== "no_match") return advice;
    const choices = ranked.flatMap(({ name }) => {
      const entry = this.view.capabilities.get(name);
      const card = entry && cardTextOf(entry);
      // Nobody may choose what only looks for a request that changes something (CAT-7).
      return card === undefined || meaning.contradicts(intent, name) ? [] : [card];
    });
    if (choices.length === 0) return advice;
    const late = new AbortController();
    const disarm = learner.system.after(withinMs, () => late.abort());
    return chosenAdvice(advice, this.chooser, intent, choices, late.signal).finally(disarm);
  }

  /** What may keep the capabilities of a card from being found; `isKnown`: it is the one that its agent had before. */
  warningsOf(card: Card, isKnown: boolean): string[] {
    return this.warnings.of(card, isKnown);
  }

  /** Called when it was found out what may keep a capability from being found, which takes a while. */
  onWarnings(listener: OnFound): void {
    this.learner?.linter.onFound(listener);
  }

  /** The one capability that a message is for. */
  resolve(wanted: Wanted): Resolution {
    if (wanted.topic !== undefined) return this.ofSubscriber(wanted, wanted.topic);
    if (wanted.instanceId !== undefined) return this.ofInstance(wanted, wanted.instanceId);
    if (wanted.agentId !== undefined) return this.ofAgent(wanted, wanted.agentId);
    if (wanted.capability !== undefined) {
      const entry = this.view.capabilities.get(wanted.capability);
      if (entry !== undefined) return { ok: true, resolved: resolvedOf(entry, MATCH.name, BY_NAME) };
    }
    const { verdict, resolved } =
      wanted.capability === undefined
        ? this.phrased(wanted.intent ?? "", wanted.advice)
        : oneOf(this.named(wanted.capability));
    if (verdict === "no_match") return { ok: false, error: this.nobody(wanted) };
    if (verdict === "ambiguous") return { ok: false, error: ambiguous(wanted, resolved) };
    return { ok: true, resolved: resolved[0]! };
  }

  /** All capabilities that fit, best first. */
  find({ tags = [], ...wanted }: Wanted & { tags?: readonly string[] | undefined }): Found {
    const isTarget = wanted.instanceId !== undefined || wanted.agentId !== undefined;
    if (isTarget) return anyOf(this.carrying(tags, this.ofTarget(wanted)));
    if (wanted.capability !== undefined) return anyOf(this.carrying(tags, this.named(wanted.capability)));
    if (wanted.intent === undefined) return anyOf(this.tagged(tags));
    const found = this.phrased(wanted.intent, wanted.advice);
    return tags.length === 0 ? found : this.phrasedAmong(wanted.intent, wanted.advice, found, this.tagged(tags));
  }

  /** Who offers the capability of exactly this name; undefined if nobody ever did. */
  offers(capability: string): readonly Offer[] | undefined {
    return this.view.capabilities.get(capability)?.offers;
  }

  /** The agents that subscribe to a topic, by id. */
  subscribers(tenant: string, topic: string): string[] {
    const agents = [...(this.view.subscribers.get(topic) ?? [])].filter(({ record }) => record.tenant === tenant);
    return agents.map(({ record }) => record.agentId).sort();
  }

  /** The nearest capabilities to a phrase that matched nothing, with how near they are. */
  misses(phrase: string, limit = 3): { capability: string; agentId: string; match: number }[] {
    const ranked = this.learner?.ask().rank(phrase, limit) ?? [];
    return ranked.flatMap(({ name, score }) => {
      const entry = this.view.capabilities.get(name);
      const offer = entry?.offers[0] ?? entry?.gone[0];
      if (offer === undefined || score < NEAR_MIN) return [];
      return [{ capability: name, agentId: offer.instance.record.agentId, match: matchOf(score) }];
    });
  }

  private named(name: string): Resolved[] {
    const entry = this.view.capabilities.get(name);
    if (entry !== undefined) return [resolvedOf(entry, MATCH.name, BY_NAME)];
    return this.bySynonym(name);
  }

  /** What a phrase means: by its very words, and if nobody has these, by its meaning. */
  private phrased(phrase: string, advice?: Advice): Found {
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
  private meant(phrase: string, { near, chosen, notes } = NO_ADVICE, among?: ReadonlySet<string>): Found {
    if (this.learner === undefined) return NOTHING;
    const answer = this.learner.ask().ask(phrase, CHOICES_MAX, { among, near });
    const { confidence } = answer;
    const picked = answer.verdict === "no_match" ? answer.ranked.filter(({ name }) => name === chosen) : undefined;
    if (picked?.length === 0) return { ...NOTHING, notes };
    const verdict = picked === undefined ? answer.verdict : "match";
    const resolved = (picked ?? answer.ranked.slice(0, RANKED_MAX)).flatMap((scored, i) => {
      const entry = this.view.capabilities.get(scored.name);
      if (entry === undefined) return [];
      const reasons = [...reasonsOf(scored, i === 0 ? confidence : undefined), ...notes];
      return [resolvedOf(entry, matchOf(scored.score), reasons)];
    });
    const [first] = resolved;
    if (first === undefined) return { ...NOTHING, notes };
    if (verdict === "ambiguous") return { verdict, resolved };
    const isNear = ({ match }: Resolved): boolean => match >= NEAR_FIRST * first.match;
    return { verdict, resolved: resolved.filter(isNear), behind: resolved.filter((each) => !isNear(each)) };
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
  private tagged(tags: readonly string[], among?: ReadonlySet<string>): Resolved[] {
    const lookup = (plain: string) =>
      this.wordings.tagged(plain).map((tag) => ({ tag, names: this.view.tags.get(tag)! }));
    return carriersOf(tags, lookup, among).map(({ name, up, reasons }) => {
      const match = Math.max(0.1, MATCH.tag - up * MATCH.tagStep);
      return resolvedOf(this.view.capabilities.get(name)!, match, reasons);
    });
  }

  /** Those of what was found that carry the tags as well, at the nearest levels that any of them has. */
  private carrying(tags: readonly string[], found: readonly Resolved[]): readonly Resolved[] {
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
  private phrasedAmong(phrase: string, advice: Advice | undefined, found: Found, carriers: readonly Resolved[]): Found {
    if (carriers.length === 0) return NOTHING;
    const names = namesIn(carriers);
    const resolved = found.resolved.filter((r) => names.has(r.name));
    if (resolved.length === 0) return this.meant(phrase, advice, names);
    const behind = found.behind?.filter((r) => names.has(r.name)) ?? [];
    return { verdict: resolved.length === 1 ? "match" : found.verdict, resolved, behind };
  }

  private ofTarget(wanted: Wanted): Resolved[] {
    const agentId = wanted.instanceId === undefined ? wanted.agentId! : undefined;
    const live = wanted.instanceId === undefined ? undefined : this.view.instances.get(wanted.instanceId);
    const instances =
      live !== undefined
        ? [live]
        : [...(agentId === undefined ? [] : (this.view.agent(wanted.tenant, agentId)?.instances ?? []))];
    const names = new Set(instances.flatMap((i) => i.offers.map((o) => o.capability.name)));
    return [...names]
      .filter((name) => wanted.capability === undefined || name === wanted.capability)
      .map((name) => this.narrowed(name, instances, live === undefined ? BY_AGENT : BY_INSTANCE));
  }

  private ofInstance(wanted: Wanted, instanceId: string): Resolution {
    const live = this.view.instances.get(instanceId);
    if (live === undefined || live.record.tenant !== wanted.tenant) {
      return {
        ok: false,
        error: noRoute("unknown_agent", `there is no instance ${instanceId}; discover who is there.`, { instanceId }),
      };
    }
    if (wanted.agentId !== undefined && wanted.agentId !== live.record.agentId) {
      return {
        ok: false,
        error: noRoute(
          "unknown_agent",
          `instance ${instanceId} is not one of ${wanted.agentId}; leave one of the two out.`,
          { instanceId },
        ),
      };
    }
    return this.among([live], wanted, live.record.agentId, BY_INSTANCE);
  }

  /** Any instance of an agent that subscribes to the topic: a subscription is the agent's. */
  private ofSubscriber({ tenant, agentId }: Wanted, topic: string): Resolution {
    const agent = this.view.agent(tenant, agentId!);
    if (agent === undefined) return { ok: false, error: unknownAgent(agentId!) };
    if (agent.record.topics?.includes(topic) !== true) {
      const message = `${agentId} does not subscribe to "${topic}" any more; what was published before is not delivered.`;
      return { ok: false, error: noRoute("unknown_capability", message, { agentId, topic }) };
    }
    const instances = [...agent.instances];
    const isGone = (live: LiveInstance): boolean => live.record.state === "offline";
    const offers = instances.filter((live) => !isGone(live)).map((live) => live.topicOffer(topic));
    const gone = instances.filter(isGone).map((live) => live.topicOffer(topic));
    return { ok: true, resolved: { name: topic, offers, gone, match: MATCH.name, reasons: BY_TOPIC } };
  }

  private ofAgent(wanted: Wanted, agentId: string): Resolution {
    const agent = this.view.agent(wanted.tenant, agentId);
    if (agent === undefined) return { ok: false, error: unknownAgent(agentId) };
    return this.among([...agent.instances], wanted, agentId, BY_AGENT);
  }

  private among(instances: LiveInstance[], wanted: Wanted, agentId: string, reasons: readonly string[]): Resolution {
    const name = wanted.capability ?? (wanted.intent === undefined ? undefined : this.wishOf(wanted, instances));
    if (name !== undefined) {
      const resolved = this.narrowed(name, instances, reasons);
      if (resolved.offers.length + resolved.gone.length > 0) return { ok: true, resolved };
      const offered = namesOf(instances);
      return {
        ok: false,
        error: noRoute("unknown_capability", `${agentId} does not offer "${name}"; it offers ${list(offered)}.`, {
          agentId,
          capability: name,
          nearest: offered.slice(0, 10),
        }),
      };
    }
    const names = namesOf(instances);
    if (names.length === 1) return { ok: true, resolved: this.narrowed(names[0]!, instances, reasons) };
    return {
      ok: false,
      error: new ReachError(
        "INVALID_REQUEST",
        `capability is missing: ${agentId} offers ${names.length === 0 ? "none" : list(names)}, so say which one is meant.`,
        {
          path: "capability",
        },
      ),
    };
  }

  /** Which capability of these instances a phrase means; of its very words, also one that they do not offer. */
  private wishOf({ intent = "", advice }: Wanted, instances: readonly LiveInstance[]): string | undefined {
    const names = namesOf(instances);
    if (names.length === 1) return names[0];
    const { verdict, resolved } = this.phrased(intent, advice);
    const [first] = resolved;
    if (verdict === "match" && first !== undefined && names.includes(first.name)) return first.name;
    const own = this.meant(intent, advice, new Set(names));
    return own.verdict === "match" ? own.resolved[0]!.name : undefined;
  }

  private narrowed(name: string, instances: readonly LiveInstance[], reasons: readonly string[]): Resolved {
    const offers: Offer[] = [];
    const gone: Offer[] = [];
    for (const instance of instances) {
      for (const offer of instance.offers) {
        if (offer.capability.name === name) (instance.record.state === "offline" ? gone : offers).push(offer);
      }
    }
    return { name, offers, gone, match: MATCH.name, reasons };
  }

  private nobody(wanted: Wanted): ReachError {
    const phrase = wanted.capability ?? wanted.intent ?? "";
    const nearest = this.misses(phrase);
    const hint =
      nearest.length === 0
        ? "nothing like it is registered"
        : `the nearest ${nearest.length === 1 ? "is" : "are"} ${list(nearest.map((m) => m.capability))}`;
    const synonymOf = this.synonyms.find(phrase);
    const isSynonym = `"${phrase}" is a synonym of "${synonymOf}", and nobody offers "${synonymOf}"`;
    const details = { ...(synonymOf !== undefined && { synonymOf }), nearest };
    if (wanted.capability !== undefined) {
      const said = synonymOf === undefined ? `nobody offers "${phrase}"` : isSynonym;
      return noRoute("unknown_capability", `${said}; ${hint}.`, { capability: phrase, ...details });
    }
    const waiting = this.learner?.waiting ?? 0;
    const remedy =
      waiting > 0
        ? `What has just been registered is not all learnt yet (${waiting} to go): ask again in a moment, or by name.`
        : synonymOf === undefined
          ? "Ask by capability, or add a synonym."
          : "Ask by capability, or have the synonym stand for one that is offered.";
    const said =
      synonymOf === undefined ? `nobody can be told to do "${phrase}"` : `${isSynonym}, nor what means the same`;
    const { notes = [] } = wanted.advice ?? {};
    const told = notes.length === 0 ? {} : { notes };
    return noRoute("no_match", `${said}; ${hint}. ${remedy}`, { ...details, ...told });
  }
}

function resolvedOf(entry: CapabilityEntry, match: number, reasons: readonly string[]): Resolved {
  return { name: entry.name, offers: entry.offers, gone: entry.gone, match, reasons };
}

/** One of them is meant: the first, if no other fits as well. */
function oneOf(resolved: readonly Resolved[]): Found {
  const [first, second] = resolved;
  if (first === undefined) return NOTHING;
  return { verdict: second !== undefined && second.match === first.match ? "ambiguous" : "match", resolved };
}

/** All of them are meant. */
function anyOf(resolved: readonly Resolved[]): Found {
  return resolved.length === 0 ? NOTHING : { verdict: "match", resolved };
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

/** How well it fits, 0..1, to three digits. */
function matchOf(score: number): number {
  return Math.round(Math.min(1, score / SCORE_FULL) * 1000) / 1000;
}

function namesIn(found: readonly Resolved[]): Set<string> {
  return new Set(found.map(({ name }) => name));
}

function namesOf(instances: readonly LiveInstance[]): string[] {
  return [...new Set(instances.flatMap((i) => i.offers.map((o) => o.capability.name)))].sort();
}

function list(names: readonly string[]): string {
  const shown = names
    .slice(0, 5)
    .map((n) => `"${n}"`)
    .join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

/** The agents that offer a capability or have offered it of late, by id. */
export function agentsOf({ offers, gone }: Resolved): string[] {
  return [...new Set([...offers, ...gone].map(({ instance }) => instance.record.agentId))].sort();
}

function unknownAgent(agentId: string): ReachError {
  const message = `no agent ${agentId} has registered in the last 24 h; check the id, or discover by capability.`;
  return noRoute("unknown_agent", message, { agentId });
}

export function noRoute(reason: string, message: string, details: Record<string, unknown>): ReachError {
  return new ReachError("NO_ROUTE", message, { details: { reason, ...details } });
}

function ambiguous(wanted: Wanted, found: readonly Resolved[]): ReachError {
  const nearest = found.slice(0, 3).map((r) => ({ capability: r.name, match: r.match }));
  return noRoute(
    "ambiguous",
    `"${wanted.capability ?? wanted.intent}" may mean ${list(found.map((r) => r.name))}; say which capability.`,
    { nearest },
  );
}
