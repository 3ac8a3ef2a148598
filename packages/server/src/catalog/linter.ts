import type { CapabilityEntry, View } from "../registry/view.js";
import { cardTextOf } from "./card-text.js";
import { ExampleIndex } from "./example-index.js";
import type { CardText } from "./finder.js";
import { doubtsAmongOthers, type LintWarning } from "./lint.js";
import type { Near } from "./lint-near.js";

/**
 * In a catalog with more capabilities a single search takes longer than everybody may be held up for a warning, and only examples
 * are compared; `cards lint` tries such a catalog without a node.
 */
const SEARCHED_MAX = 5_000;

/** What is being looked into. */
interface Inquiry {
  readonly name: string;
  readonly isNews: boolean;
  readonly asking: Generator<void, LintWarning[]>;
  /** What changed meanwhile; a warning that speaks of it may be wrong already. */
  readonly changed: Set<string>;
}

/** What was found out about a capability, for those who keep a log. */
export type OnFound = (entry: CapabilityEntry, warnings: readonly LintWarning[]) => void;

/**
 * Finds what only the other cards show of a capability: an example that another gives or that finds another, one meaning under two
 * names (REG-12). One search at a time, when there is nothing better to do; each capability when it was learnt anew, and
 * again when another changes that its warnings speak of.
 */
export class Linter {
  readonly examples = new ExampleIndex();
  private readonly found = new Map<string, readonly LintWarning[]>();
  /** The capabilities whose warnings speak of one. */
  private readonly about = new Map<string, Set<string>>();
  /** What came or changed while the node ran, and so has somebody who may be looking; then all the rest. */
  private readonly news = new Set<string>();
  private readonly rest = new Set<string>();
  private current: Inquiry | undefined;
  private readonly listeners: OnFound[] = [];

  constructor(
    private readonly view: View,
    private readonly near: Near,
    private readonly searchedMax = SEARCHED_MAX,
  ) {}

  /** Called once for each warning, but not for those of cards that were there when the node started. */
  onFound(listener: OnFound): void {
    this.listeners.push(listener);
  }

  /** What is said of a capability is another thing now; undefined: nobody offers it any more. */
  changed(name: string, card: CardText | undefined, isNews: boolean): void {
    if (this.current?.name === name) this.current = undefined;
    else this.current?.changed.add(name);
    for (const other of this.about.get(name) ?? []) this.rest.add(other);
    if (card === undefined) {
      this.examples.remove(name);
      this.news.delete(name);
      this.rest.delete(name);
      this.keep(name, []);
      return;
    }
    this.examples.put(name, card.examples ?? []);
    (isNews ? this.news : this.rest).add(name);
  }

  /** The warnings about a capability that are known by now. */
  of(name: string): readonly LintWarning[] {
    return this.found.get(name) ?? [];
  }

  /** Goes on by one search at most, if there is anything to look into. */
  step(): boolean {
    if (this.current === undefined) return this.begin();
    const { name, isNews, asking, changed } = this.current;
    const step = asking.next();
    if (step.done !== true) return true;
    this.current = undefined;
    const fresh = step.value.filter((warning) => !this.isKnown(warning));
    this.keep(name, step.value);
    if (step.value.some(({ other }) => changed.has(other!))) this.rest.add(name);
    const entry = this.view.capabilities.get(name);
    if (isNews && entry !== undefined && fresh.length > 0)
      for (const listener of this.listeners) listener(entry, fresh);
    return true;
  }

  private begin(): boolean {
    const [name] = this.news.size > 0 ? this.news : this.rest;
    if (name === undefined) return false;
    const isNews = this.news.delete(name);
    this.rest.delete(name);
    const card = this.cardOf(name);
    if (card === undefined || isBare(card)) this.keep(name, []);
    else {
      const { examples } = this;
      const near = this.view.capabilities.size > this.searchedMax ? undefined : this.near;
      const asking = doubtsAmongOthers(card, { near, examples, cardOf: (other) => this.cardOf(other) });
      this.current = { name, isNews, asking, changed: new Set() };
    }
    return true;
  }

  private cardOf(name: string): CardText | undefined {
    const entry = this.view.capabilities.get(name);
    return entry && cardTextOf(entry);
  }

  /** Of two that mean the same, whoever came first was told of by the other. */
  private isKnown({ capability, rule, other, message }: LintWarning): boolean {
    if (this.of(capability).some((one) => one.message === message)) return true;
    if (rule === "exampleElsewhere") return false;
    return this.of(other!).some((one) => one.rule === rule && one.other === capability);
  }

  private keep(name: string, warnings: readonly LintWarning[]): void {
    for (const { other } of this.of(name)) this.leave(other!, name);
    if (warnings.length === 0) this.found.delete(name);
    else this.found.set(name, warnings);
    for (const { other } of warnings) {
      const names = this.about.get(other!) ?? new Set();
      this.about.set(other!, names.add(name));
    }
  }

  private leave(other: string, name: string): void {
    const names = this.about.get(other);
    if (names?.delete(name) && names.size === 0) this.about.delete(other);
  }
}

/** A bare name is for those who know it; and names alone are often alike. */
function isBare({ description = "", examples = [] }: CardText): boolean {
  return description === "" && examples.length === 0;
}
