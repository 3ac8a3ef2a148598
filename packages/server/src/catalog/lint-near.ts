import type { ExampleIndex } from "./example-index.js";
import type { CardText, Scored } from "./finder.js";
import type { LintWarning } from "./lint.js";
import { quoted } from "./lint-words.js";
import { operationOf } from "./operations.js";

/** The capabilities nearest to a text, best first, at most so many. */
export type Near = (text: string, limit: number) => readonly Scored[];

/** What is asked, and whom. */
export interface Neighbourhood {
  near: Near;
  examples: ExampleIndex | undefined;
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

/** What a card is taken for, or taken for it: by asking its own texts. Yields before each search. */
export function* confusions(card: CardText, { near, examples, cardOf }: Neighbourhood): Generator<void, LintWarning[]> {
  const answers = new Map<string, readonly Scored[]>();
  function* ask(text: string): Generator<void, readonly Scored[]> {
    const known = answers.get(text);
    if (known !== undefined) return known;
    yield;
    const answer = near(text, NEAR_MAX);
    answers.set(text, answer);
    return answer;
  }
  return [...(yield* elsewhere(card, ask, examples)), ...(yield* duplicates(card, ask, cardOf))];
}

type Ask = (text: string) => Generator<void, readonly Scored[]>;

/** Examples which, asked as they stand, find another capability: whoever speaks like that will be sent there. */
function* elsewhere(
  { name, examples }: CardText,
  ask: Ask,
  index: ExampleIndex | undefined,
): Generator<void, LintWarning[]> {
  const found: LintWarning[] = [];
  for (const [i, example] of (examples ?? []).slice(0, TEXTS_ASKED_MAX).entries()) {
    const first = (yield* ask(example))[0];
    // That both give the same example was said already.
    if (first === undefined || first.name === name || index?.givenBy(example).includes(first.name)) continue;
    found.push({
      capability: name,
      rule: "exampleElsewhere",
      path: `examples[${i}]`,
      message: `The example ${quoted(example)} of "${name}" is found at "${first.name}"; say it in other words, give more examples like it, or move it there.`,
      other: first.name,
    });
  }
  return found;
}

/** Capabilities that are found by this one's texts nearly as well as it is itself, and the other way round. */
function* duplicates(card: CardText, ask: Ask, cardOf: Neighbourhood["cardOf"]): Generator<void, LintWarning[]> {
  const found: LintWarning[] = [];
  for (const [name, there] of yield* nearness(card, ask)) {
    const other = cardOf(name);
    if (other === undefined || !mayBeSame(card, other)) continue;
    const wanted = sameObject(card, other) ? SAME.object : SAME.anyObject;
    if (there < wanted || ((yield* nearness(other, ask)).get(card.name) ?? 0) < wanted) continue;
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
function* nearness(card: CardText, ask: Ask): Generator<void, Map<string, number>> {
  const texts = [card.description ?? "", ...(card.examples ?? [])].filter((text) => text.trim() !== "");
  const asked = (texts.length === 0 ? [card.name] : texts).slice(0, TEXTS_ASKED_MAX);
  const doubt = asked.length <= FEW_TEXTS ? FEW_MORE : 0;
  const sums = new Map<string, number>();
  for (const text of asked) {
    const ranked = yield* ask(text);
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
