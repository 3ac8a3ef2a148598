import { kinship, looks } from "./operation-kinship.js";
import { type Mention, meaningOf, type Token, tokensOf, unitsOf } from "./operation-lexicon.js";
import { mentionsIn, type OperationReading } from "./operation-reading.js";
import { MOVE, PLAIN } from "./operation-weights.js";
import type { Operation } from "./operation-words.js";

export { type OperationReading, operationsIn } from "./operation-reading.js";
export { OPERATIONS, type Operation } from "./operation-words.js";

/** What is read of a card. */
export interface OperationCard {
  name?: string | undefined;
  operation?: string | undefined;
  description?: string | undefined;
}

/** Verbs that names and descriptions begin with whatever they do, so that another verb in them says more. */
const VAGUE = new Set(
  "get gets getting do does run runs make makes handle show shows give gives provides return returns fetch fetches retrieve retrieves set put".split(
    " ",
  ),
);
/** In a description or a name these answer something; in a request "return" gives goods back. */
const ANSWERS = new Set(["return", "returns", "provides", "provide", "gets", "fetches", "retrieves", "handles"]);
/** Operations that say little without what they make. */
const MAKING = new Set<Operation>(["create", "submit"]);
/** A description up to here, in words or Chinese characters, is a title. */
const TITLE_UNITS_MAX = 8;

/**
 * What a card does: by its `operation` in any spelling, else by its name ("order.cancel", "cancelOrder"), else by the
 * first verb of its description. Undefined if none of them tells.
 */
export function operationOf(card: OperationCard): Operation | undefined {
  return operationsOf(card)[0];
}

/**
 * All that a card's texts say it does, the surest first: cards write `operation: "create"` on "apply_exchange", so the
 * name is asked as well, and the description if it is as short as a title or the others say nothing. Costs a reading;
 * call it at registration.
 */
export function operationsOf({ operation, name, description }: OperationCard): Operation[] {
  const found = new Set<Operation>();
  for (const one of [operation, name]) for (const said of one === undefined ? [] : inName(one)) found.add(said);
  if (description !== undefined && (found.size === 0 || unitsOf(description).length <= TITLE_UNITS_MAX)) {
    const said = inDescription(description);
    if (said !== undefined) found.add(said);
  }
  return [...found];
}

/**
 * What to multiply a card's score with, 0.3…1.25, by how its operations fit what a text asks for: the same up, near
 * slightly up, opposite or another down, ruled out far down; 1 where either is unknown. There are few operations: a
 * caller with many cards asks once for each combination.
 */
export function agreement(reading: OperationReading, card: Operation | readonly Operation[] | undefined): number {
  const operations: readonly Operation[] = card === undefined ? [] : typeof card === "string" ? [card] : card;
  let best = 0;
  let refused = false;
  let itself = false;
  for (const operation of operations) {
    refused ||= reading.refused.has(operation);
    itself ||= (reading.wanted.get(operation) ?? 0) >= PLAIN;
    best = Math.max(best, moveOf(reading, operation));
  }
  if (operations.length === 0) return 1;
  return refused && !itself ? MOVE.refused : best;
}

/** Least agreement of what is not plainly the contrary. */
const CONTRARY = 0.45;

/** Whether a text plainly asks for a change and a card only looks: "delete the order" is never for "list orders" (CAT-7). */
export function onlyLooks(reading: OperationReading, card: readonly Operation[]): boolean {
  if (card.length === 0 || !card.every(looks) || agreement(reading, card) > CONTRARY) return false;
  const plain = [...reading.wanted].filter(([, weight]) => weight >= PLAIN);
  return plain.length > 0 && !plain.some(([operation]) => looks(operation));
}

function moveOf(reading: OperationReading, operation: Operation): number {
  const fit = fitOf(reading.wanted, operation);
  return fit > 0
    ? 1 + MOVE.up * fit
    : Math.max(MOVE.refused, (1 + MOVE.down * fit) * nearRefused(reading.refused, operation));
}

/**
 * How well an operation fits what is wanted, −1..1: the mean of its kinships, each weighed by the square of how plainly
 * it is wanted, so that what is said in passing hardly counts; but a second wish is not held against the first.
 */
function fitOf(wanted: ReadonlyMap<Operation, number>, cardOperation: Operation): number {
  let sum = 0;
  let weights = 0;
  let top = 0;
  for (const [operation, weight] of wanted) {
    sum += weight * weight * kinship(operation, cardOperation);
    weights += weight * weight;
    top = Math.max(top, weight);
  }
  if (weights === 0) return 0;
  const itself = 2 * (wanted.get(cardOperation) ?? 0) - 1;
  return Math.max((sum / weights) * top, itself);
}

function nearRefused(refused: ReadonlySet<Operation>, cardOperation: Operation): number {
  let nearest = 0;
  for (const operation of refused) nearest = Math.max(nearest, kinship(operation, cardOperation));
  return 1 - (1 - MOVE.refused) * nearest * nearest;
}

/** A name's words: "cancelOrder", "order.cancel", "HTTPGet", "list_orders". */
function wordsOf(name: string): string[] {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return unitsOf(apart.replace(/[._\-:/]+/g, " "));
}

function inName(name: string): Operation[] {
  const words = wordsOf(name);
  // A card may well say `operation: ""`.
  if (words.length === 0) return [];
  const whole = words.length === 1 && ANSWERS.has(words[0]!) ? undefined : meaningOf(words);
  if (whole !== undefined && whole.senses.length > 0) return plainest(whole.senses);
  const clear = words.filter((word) => !VAGUE.has(word));
  const named = tokensOf(clear).filter(({ meaning }) => meaning !== undefined && meaning.senses.length > 0);
  if (named.length > 0) {
    const verb = chosen(named, name.includes("."));
    const said = plainest(verb.meaning!.senses);
    return said.some((operation) => MAKING.has(operation)) ? [...said, ...otherwiseNamed(named, verb)] : said;
  }
  if (clear.length < words.length) return [words.some((word) => word === "set" || word === "put") ? "update" : "query"];
  return [];
}

/** "register_complaint", "create_booking": what is made may be an operation as well. */
function otherwiseNamed(named: readonly Token[], verb: Token): Operation[] {
  const others = named.filter((token) => token !== verb && token.meaning!.senses.some(({ weight }) => weight === 1));
  return others.flatMap(({ meaning }) => plainest(meaning!.senses));
}

/** Those a phrase names most plainly, in the order of the list. */
function plainest(senses: readonly Mention[]): Operation[] {
  const most = Math.max(...senses.map(({ weight }) => weight));
  return senses.filter(({ weight }) => weight === most).map(({ operation }) => operation);
}

/**
 * The verb of a name: one that is nothing else ("order_export", "采购申请撤回"), the first of several. If all may be nouns,
 * the verb is the last in Chinese and behind a dot ("请假审批", "book.request"), else the first ("book_order").
 */
function chosen(named: readonly Token[], dotted: boolean): Token {
  const plain = named.filter(
    ({ meaning }) => !meaning!.ambiguous && meaning!.form === "verb" && meaning!.senses[0]!.weight === 1,
  );
  if (plain.length > 0) return plain[0]!;
  const heavy = named.filter(({ meaning }) => meaning!.senses.some(({ weight }) => weight === 1));
  const among = heavy.length > 0 ? heavy : named;
  return dotted || among[0]!.chinese ? among.at(-1)! : among[0]!;
}

function inDescription(description: string): Operation | undefined {
  const words = unitsOf(description);
  if (words[0] !== undefined && ANSWERS.has(words[0])) {
    return strongest(mentionsIn(words.slice(1).join(" ")).filter(({ operation }) => looks(operation))) ?? "query";
  }
  const mentions = mentionsIn(description);
  const plain = mentions.filter(({ weight }) => weight >= PLAIN).map(({ operation }) => operation);
  // "Look up the status" says more by its second look than by its first.
  if (plain[0] === "query" && plain[1] !== undefined && looks(plain[1])) return plain[1];
  return plain[0] ?? strongest(mentions);
}

/** The first of the heaviest. */
function strongest(mentions: readonly Mention[]): Operation | undefined {
  let best: Mention | undefined;
  for (const mention of mentions) if (best === undefined || mention.weight > best.weight + 0.05) best = mention;
  return best?.operation;
}
