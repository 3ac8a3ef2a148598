import type { Card, ReachError } from "@agent-reach/protocol";
import type { Chooser } from "../ports/chooser.js";
import type { System } from "../ports/system.js";
import type { LiveInstance, Offer } from "../registry/instance.js";
import type { View } from "../registry/view.js";
import type { Advice } from "./advice.js";
import { CardWarnings } from "./card-warnings.js";
import { anyOf, type Found, MATCH, type Near, oneOf, type Resolution, resolvedOf, type Wanted } from "./found.js";
import type { Learner } from "./learner.js";
import type { OnFound } from "./linter.js";
import { ambiguous, nobody } from "./no-route.js";
import { Phrases } from "./phrases.js";
import type { Synonyms } from "./synonyms.js";
import { Targets } from "./targets.js";

const BY_NAME = ["name"];

/**
 * Who can do it: from a name, a target or a phrase to the capability that is meant (CAT-2). It may say no, and then names the
 * nearest.
 */
export class Catalog {
  private readonly phrases: Phrases;
  private readonly targets: Targets;
  private readonly warnings: CardWarnings;

  constructor(
    private readonly view: View,
    system: System,
    synonyms: Synonyms,
    private readonly learner: Learner | undefined,
    chooser?: Chooser,
  ) {
    this.phrases = new Phrases(view, system, synonyms, learner, chooser);
    this.targets = new Targets(view, this.phrases);
    this.warnings = new CardWarnings(learner?.linter);
  }

  get synonyms(): Synonyms {
    return this.phrases.synonyms;
  }

  /** May be replaced by others at any time. */
  set synonyms(synonyms: Synonyms) {
    this.phrases.synonyms = synonyms;
  }

  /** How many capabilities each stage of finding by meaning has not learnt yet; of the stages that there are. */
  get waiting(): { readonly index?: number; readonly fine?: number } {
    if (this.learner === undefined) return {};
    const { waiting, fine } = this.learner;
    return fine === undefined ? { index: waiting } : { index: waiting, fine: fine.behind };
  }

  /** Called when an instance came, changed or went, so that its capabilities can be found. */
  changed(instance: LiveInstance): void {
    this.phrases.changed(instance);
    this.learner?.changed(instance);
  }

  /** Everybody who is there has been loaded. */
  start(): void {
    this.learner?.start();
  }

  stop(): void {
    this.phrases.stop();
    this.learner?.stop();
  }

  /**
   * Finds out of a request's words what takes long, if it takes more than the words themselves: has slower readers than the index
   * look at them (CAT-4, CAT-5), if it is not `isLocal`, and goes through a large index in steps. Undefined if nobody has to be
   * waited for; what comes of it goes into `Wanted`. It never rejects.
   * `withinMs`: so long whoever asks may wait; most of it is left to the work itself.
   */
  consult(
    wanted: Wanted,
    { withinMs = Number.POSITIVE_INFINITY, isLocal }: { withinMs?: number; isLocal: boolean },
  ): Promise<Advice> | undefined {
    const { intent, capability, topic } = wanted;
    if (intent === undefined || capability !== undefined || topic !== undefined) return undefined;
    const isAddressed = wanted.agentId !== undefined || wanted.instanceId !== undefined;
    const names = isAddressed ? this.targets.ofTarget(wanted).map(({ name }) => name) : undefined;
    if (names?.length === 1) return undefined;
    return this.phrases.consult(intent, { withinMs, among: names && new Set(names), isLocal });
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
    if (wanted.topic !== undefined) return this.targets.ofSubscriber(wanted, wanted.topic);
    if (wanted.instanceId !== undefined) return this.targets.ofInstance(wanted, wanted.instanceId);
    if (wanted.agentId !== undefined) return this.targets.ofAgent(wanted, wanted.agentId);
    if (wanted.capability !== undefined) {
      const entry = this.view.capabilities.get(wanted.capability);
      if (entry !== undefined) return { ok: true, resolved: resolvedOf(entry, MATCH.name, BY_NAME) };
    }
    const { verdict, resolved, nearest } =
      wanted.capability === undefined
        ? this.phrases.phrased(wanted.intent ?? "", wanted.advice)
        : oneOf(this.phrases.named(wanted.capability));
    if (verdict === "no_match") return { ok: false, error: this.nobody(wanted, nearest) };
    if (verdict === "ambiguous") return { ok: false, error: ambiguous(wanted, resolved) };
    return { ok: true, resolved: resolved[0]! };
  }

  /** All capabilities that fit, best first. */
  find({ tags = [], ...wanted }: Wanted & { tags?: readonly string[] | undefined }): Found {
    const isTarget = wanted.instanceId !== undefined || wanted.agentId !== undefined;
    if (isTarget) return anyOf(this.phrases.carrying(tags, this.targets.ofTarget(wanted)));
    if (wanted.capability !== undefined)
      return anyOf(this.phrases.carrying(tags, this.phrases.named(wanted.capability)));
    if (wanted.intent === undefined) return anyOf(this.phrases.tagged(tags));
    const found = this.phrases.phrased(wanted.intent, wanted.advice);
    return tags.length === 0
      ? found
      : this.phrases.phrasedAmong(wanted.intent, wanted.advice, found, this.phrases.tagged(tags));
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
  misses(phrase: string): Near[] {
    return this.phrases.misses(phrase);
  }

  private nobody(wanted: Wanted, nearest?: readonly Near[]): ReachError {
    const phrase = wanted.capability ?? wanted.intent ?? "";
    return nobody(
      wanted,
      nearest ?? this.misses(phrase),
      this.phrases.synonyms.find(phrase),
      this.learner?.waiting ?? 0,
    );
  }
}
