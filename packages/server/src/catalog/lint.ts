import { ExampleIndex } from "./example-index.js";
import type { CardText, Finder } from "./finder.js";
import { confusions, type Near } from "./lint-near.js";
import { quoted } from "./lint-words.js";
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
  near?: Near | undefined;
  /** The examples of all cards, this one's or not. */
  examples?: ExampleIndex | undefined;
  /** Another capability's card, so that nearness can be seen from both sides. */
  cardOf(name: string): CardText | undefined;
}

/** How far apart an operation and a name are to contradict each other: one looks, the other changes, or they are opposites. */
const CONTRADICTION = -0.75;

/** All warnings about some cards. The finder must know them, and may know more. */
export function lint(cards: readonly CardText[], finder: Finder): LintWarning[] {
  const byName = new Map(cards.map((card) => [card.name, card]));
  const examples = new ExampleIndex();
  for (const card of byName.values()) examples.put(card.name, card.examples ?? []);
  const near: Near = (text, limit) => finder.ask(text, limit).ranked;
  const around: Surroundings = { near, examples, cardOf: (name) => byName.get(name) };
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
export function lintCard(card: CardText, around: Surroundings): LintWarning[] {
  const asking = doubtsAmongOthers(card, around);
  let step = asking.next();
  while (step.done !== true) step = asking.next();
  return [...doubtsOfItself(card), ...step.value];
}

/** What a card's own words show. */
export function doubtsOfItself(card: CardText): LintWarning[] {
  return [...missing(card), ...contradiction(card)];
}

/** What only the other cards show. Yields before each time that it asks, so that nobody has to wait for the whole. */
export function* doubtsAmongOthers(
  card: CardText,
  { near, examples, cardOf }: Surroundings,
): Generator<void, LintWarning[]> {
  const found = examples === undefined ? [] : sharedExamples(card, examples);
  if (near !== undefined) found.push(...(yield* confusions(card, { near, examples, cardOf })));
  return found;
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

/** Examples that another capability gives too. */
export function sharedExamples({ name, examples }: CardText, index: ExampleIndex): LintWarning[] {
  return (examples ?? []).flatMap((example, i) => {
    const other = index.givenBy(example).find((one) => one !== name);
    if (other === undefined) return [];
    return [
      {
        capability: name,
        rule: "exampleShared" as const,
        path: `examples[${i}]`,
        message: `"${name}" and "${other}" give the same example, ${quoted(example)}; a request like it cannot be told apart, so leave it to one of them.`,
        other,
      },
    ];
  });
}
