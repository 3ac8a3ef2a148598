import { ExampleIndex } from "./example-index.js";
import type { CardText, Finder, Scored } from "./finder.js";
import { kinship } from "./operation-kinship.js";
import { meaningOf } from "./operation-lexicon.js";
import { type Operation, operationOf, operationsIn, operationsOf } from "./operations.js";
import { isChinese, normalise } from "./text.js";

/** What may be wrong with a capability that is allowed all the same (REG-12). */
export type LintRule =
  | "descriptionMissing"
  | "examplesMissing"
  | "exampleShared"
  | "exampleElsewhere"
  | "nearDuplicate"
  | "operationContradictsName";

export interface LintWarning {
  capability: string;
  rule: LintRule;
  /** The field of the capability, like `examples[1]`; empty for the capability as a whole. */
  path: string;
  /** What it is and what to do, as sentences. */
  message: string;
  /** The other capability, if it takes two. */
  other?: string;
}

/** What a card is held against. */
export interface Surroundings {
  /** Knows the card itself, and all others. Without it only what can be seen without asking is looked for. */
  finder?: Finder | undefined;
  /** The examples of all cards, this one's or not. */
  examples?: ExampleIndex | undefined;
  /** Another capability's card, so that nearness can be seen from both sides. */
  cardOf(name: string): CardText | undefined;
}

/** So many texts of a card are asked, since each costs a search. */
const TEXTS_ASKED_MAX = 6;
/** So many of those that are found are looked at. */
const NEAR_MAX = 6;
/**
 * How near two capabilities are to be called the same. By what was seen on cards of office work (80 different ones, and copies in
 * other words): different ones come to 0.5 at most, copies to 0.55 in another language, and 0.6 and more in the same.
 */
const SAME = { object: 0.53, anyObject: 0.65 };
/** What one text more or less says is chance, so a card with so few texts has to be nearer by so much. */
const FEW_TEXTS = 2;
const FEW_MORE = 0.2;
/** How far apart an operation and a name are to contradict each other: one looks, the other changes, or they are opposites. */
const CONTRADICTION = -0.75;

/** All warnings about some cards. The finder must know them, and may know more. */
export function lint(cards: readonly CardText[], finder: Finder): LintWarning[] {
  const byName = new Map(cards.map((card) => [card.name, card]));
  const examples = new ExampleIndex();
  for (const card of byName.values()) examples.put(card.name, card.examples ?? []);
  const around: Surroundings = { finder, examples, cardOf: (name) => byName.get(name) };
  const pairs = new Set<string>();
  return [...byName.values()]
    .flatMap((card) => lintCard(card, around))
    .filter(({ rule, capability, other }) => {
      if (rule !== "nearDuplicate") return true;
      const pair = JSON.stringify([capability, other].sort());
      return pairs.size < pairs.add(pair).size;
    });
}

/** The warnings about one capability. Nothing is changed, in the finder neither. */
export function lintCard(card: CardText, { finder, examples, cardOf }: Surroundings): LintWarning[] {
  return [
    ...missing(card),
    ...contradiction(card),
    ...(examples === undefined ? [] : shared(card, examples)),
    ...(finder === undefined ? [] : elsewhere(card, finder, examples)),
    ...(finder === undefined ? [] : duplicates(card, finder, cardOf)),
  ];
}

function missing({ name, description, examples }: CardText): LintWarning[] {
  const found: LintWarning[] = [];
  if ((description ?? "").trim() === "")
    found.push({
      capability: name,
      rule: "descriptionMissing",
      path: "description",
      message: `"${name}" has no description, so it is found by its name and examples alone; say in a sentence what it does.`,
    });
  if ((examples?.length ?? 0) === 0)
    found.push({
      capability: name,
      rule: "examplesMissing",
      path: "examples",
      message: `"${name}" has no examples; give about five sentences that people would say, which helps more than anything else to find it.`,
    });
  return found;
}

function contradiction({ name, operation }: CardText): LintWarning[] {
  if (operation === undefined || operation === "") return [];
  const said = operationOf({ operation });
  const named = verbsOf(name);
  const first = named[0];
  if (said === undefined || first === undefined || contains(name, operation)) return [];
  if (named.some((one) => kinship(said, one) > CONTRADICTION)) return [];
  return [
    {
      capability: name,
      rule: "operationContradictsName",
      path: "operation",
      message: `"${name}" sounds like ${first}, but its operation is "${operation}"; requests to ${said} would be sent to it, so correct the one that is wrong.`,
    },
  ];
}

/**
 * What a name says it does, as far as it is sure: by a plain verb as its first word, or behind its last dot ("order.cancel"). Other
 * words of a name may be nouns that look like verbs ("card_declined", "payment_failed"). In Chinese the verb stands at either
 * end, so all that is read there counts, and all of it has to contradict.
 */
function verbsOf(name: string): Operation[] {
  if (isChinese(name)) return [...operationsOf({ name }), ...operationsIn(name).wanted.keys()];
  const verb = separated(name.slice(name.lastIndexOf(".") + 1))[0] ?? "";
  const meaning = verb === "" ? undefined : meaningOf([verb]);
  if (meaning === undefined || meaning.ambiguous || meaning.form !== "verb") return [];
  return separated(name).flatMap((word) => (word === "" ? [] : operationsOf({ name: word })));
}

function separated(name: string): string[] {
  return normalise(name.replace(/([a-z0-9])([A-Z])/g, "$1 $2")).split(/[ :]/);
}

/** Whether the operation's own word is in the name: then they agree, whatever it may mean. */
function contains(name: string, operation: string): boolean {
  const words = separated(name);
  return separated(operation).some((word) => words.includes(word));
}

function shared({ name, examples }: CardText, index: ExampleIndex): LintWarning[] {
  return (examples ?? []).flatMap((example, i) => {
    const other = index.givenBy(example).find((one) => one !== name);
    if (other === undefined) return [];
    return [
      {
        capability: name,
        rule: "exampleShared" as const,
        path: `examples[${i}]`,
        message: `"${name}" and "${other}" give the same example, "${example}"; a request like it cannot be told apart, so leave it to one of them.`,
        other,
      },
    ];
  });
}

/** Examples which, asked as they stand, find another capability: whoever speaks like that will be sent there. */
function elsewhere({ name, examples }: CardText, finder: Finder, index: ExampleIndex | undefined): LintWarning[] {
  return (examples ?? []).slice(0, TEXTS_ASKED_MAX).flatMap((example, i) => {
    const first = finder.ask(example, 1).ranked[0];
    // That both give the same example was said already.
    if (first === undefined || first.name === name || index?.givenBy(example).includes(first.name)) return [];
    return [
      {
        capability: name,
        rule: "exampleElsewhere" as const,
        path: `examples[${i}]`,
        message: `The example "${example}" of "${name}" is found at "${first.name}"; say it in other words, give more examples like it, or move it there.`,
        other: first.name,
      },
    ];
  });
}

/** Capabilities that are found by this one's texts nearly as well as it is itself, and the other way round. */
function duplicates(card: CardText, finder: Finder, cardOf: Surroundings["cardOf"]): LintWarning[] {
  const found: LintWarning[] = [];
  for (const [name, there] of nearness(card, finder)) {
    const other = cardOf(name);
    if (other === undefined || !mayBeSame(card, other)) continue;
    const wanted = sameObject(card, other) ? SAME.object : SAME.anyObject;
    if (there < wanted || (nearness(other, finder).get(card.name) ?? 0) < wanted) continue;
    found.push({
      capability: card.name,
      rule: "nearDuplicate",
      path: "",
      message: `"${card.name}" seems to mean the same as "${name}"; use one name for both, or say in the descriptions what tells them apart.`,
      other: name,
    });
  }
  return found;
}

/**
 * How well each other capability is found by a card's texts, as a share of how well the card is found itself: the mean, 0..1,
 * and less if there are few texts to go by.
 */
function nearness(card: CardText, finder: Finder): Map<string, number> {
  const texts = [card.description ?? "", ...(card.examples ?? [])].filter((text) => text.trim() !== "");
  const asked = (texts.length === 0 ? [card.name] : texts).slice(0, TEXTS_ASKED_MAX);
  const doubt = asked.length <= FEW_TEXTS ? FEW_MORE : 0;
  const sums = new Map<string, number>();
  for (const text of asked) {
    const { ranked } = finder.ask(text, NEAR_MAX);
    const own = ranked.find(({ name }) => name === card.name);
    if (own === undefined) continue;
    for (const { name, score } of ranked) {
      if (name !== card.name) sums.set(name, (sums.get(name) ?? 0) + part(score, own) / asked.length);
    }
  }
  return new Map([...sums].map(([name, mean]) => [name, mean - doubt]));
}

function part(score: number, own: Scored): number {
  return own.score > 0 ? Math.min(1, score / own.score) : 0;
}

function mayBeSame(one: CardText, other: CardText): boolean {
  const [a, b] = [operationOf(one), operationOf(other)];
  return a === undefined || b === undefined || a === b;
}

function sameObject(one: CardText, other: CardText): boolean {
  const object = (one.objectType ?? "").toLowerCase();
  return object !== "" && object === (other.objectType ?? "").toLowerCase();
}
