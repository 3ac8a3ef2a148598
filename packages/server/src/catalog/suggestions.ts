import type { Asked, Confusion, Figures } from "./evaluate.js";
import type { CardText } from "./finder.js";
import { operationOf } from "./operations.js";

/** So many confused pairs are spoken of, and so many names in one sentence. */
const PAIRS_MAX = 8;
const NAMES_MAX = 8;
/** A pair that is confused once is chance. */
const OFTEN = 2;
/** So much of somebody's text is quoted. */
const QUOTED_CHARS = 80;
/** Another threshold is worth speaking of when it moves a share by so much. */
const MOVES = 0.02;
const ACCEPTED = 0.9;

/**
 * What would make the catalog find better, the most certain first: names that nobody offers, cards without examples, pairs that
 * are confused with what could tell them apart, requests refused too early or too late, and a threshold.
 *
 * Nothing is said about cards when none were given: that is not the same as there being none.
 */
export function suggestionsOf(
  asked: readonly Asked[],
  figures: Figures,
  confusions: readonly Confusion[],
  { cards, setting }: { cards: readonly CardText[] | undefined; setting: string | undefined },
): string[] {
  const byName = cards && new Map(cards.map((card) => [card.name, card]));
  return [
    ...(byName === undefined ? [] : unknown(asked, byName)),
    ...(byName === undefined ? [] : withoutExamples([...byName.values()])),
    ...pairs(asked, confusions, byName ?? new Map()),
    ...refused(asked, confusions),
    ...attracted(confusions),
    ...unbalanced(figures),
    ...(setting === undefined ? [] : threshold(figures, setting)),
  ];
}

function unknown(asked: readonly Asked[], cards: ReadonlyMap<string, CardText>): string[] {
  const counts = new Map<string, number>();
  for (const { expect } of asked)
    if (expect !== null && !cards.has(expect)) counts.set(expect, (counts.get(expect) ?? 0) + 1);
  return [...counts].map(
    ([name, count]) =>
      `No card offers "${name}", which ${queries(count)} ${count === 1 ? "expects" : "expect"}: correct the name there, or add the capability.`,
  );
}

function withoutExamples(cards: readonly CardText[]): string[] {
  const bare = cards.filter(({ examples }) => (examples?.length ?? 0) === 0).map(({ name }) => name);
  if (bare.length === 0) return [];
  return [
    `${list(bare)} ${bare.length === 1 ? "has" : "have"} no examples: add about five sentences that people would say; nothing else helps as much.`,
  ];
}

function pairs(
  asked: readonly Asked[],
  confusions: readonly Confusion[],
  cards: ReadonlyMap<string, CardText>,
): string[] {
  const often = confusions.filter(({ expected, got, count }) => expected !== null && got !== null && count >= OFTEN);
  return often.slice(0, PAIRS_MAX).map(({ expected, got, count, texts }) => {
    const total = asked.filter(({ expect }) => expect === expected).length;
    const [right, wrong] = [cards.get(expected!), cards.get(got!)];
    const apart = right === undefined || wrong === undefined ? "" : ` ${tellApart(right, wrong)}`;
    return `"${got}" is found instead of "${expected}" for ${count} of ${queries(total)}.${apart} Give "${expected}" an example like ${quoted(texts[0]!)}.`;
  });
}

/** What the two cards could say of themselves so that nobody takes one for the other. */
function tellApart(right: CardText, wrong: CardText): string {
  const [one, other] = [operationOf(right), operationOf(wrong)];
  if (one !== other && one !== undefined && other !== undefined) {
    const silent = [right, wrong].filter(({ operation }) => operation === undefined || operation === "");
    if (silent.length === 0) return `Their operations differ (${one}, ${other}), so it is the wording that is alike.`;
    return `Their operations differ (${one}, ${other}): say \`operation\` on ${list(silent.map(({ name }) => name))}.`;
  }
  const [object, otherObject] = [right.objectType ?? "", wrong.objectType ?? ""];
  if (object !== "" && object.toLowerCase() === otherObject.toLowerCase() && one !== undefined && one === other) {
    return `Both ${one} the same kind of object (${object}): say in each description what the other does not do, or make them one.`;
  }
  const objectless = [right, wrong].filter(({ objectType }) => (objectType ?? "") === "");
  if (objectless.length > 0)
    return `Say what each works on: \`objectType\` is missing on ${list(objectless.map(({ name }) => name))}.`;
  if (one === undefined || other === undefined) {
    const silent = [...(one === undefined ? [right.name] : []), ...(other === undefined ? [wrong.name] : [])];
    return `Say what each does: no known \`operation\` is read from ${list(silent)}.`;
  }
  return `They differ in their object (${object}, ${otherObject}): name it in the descriptions as people do.`;
}

/** Capabilities that come first and are refused all the same. */
function refused(asked: readonly Asked[], confusions: readonly Confusion[]): string[] {
  return confusions
    .filter(({ expected, got, count }) => expected !== null && got === null && count >= OFTEN)
    .slice(0, PAIRS_MAX)
    .map(({ expected, count, texts }) => {
      const total = asked.filter(({ expect }) => expect === expected).length;
      return `${count} of ${queries(total)} for "${expected}" are refused as too far from it: give it examples in such words, like ${quoted(texts[0]!)}.`;
    });
}

/** Capabilities that are found again and again for what nobody serves. */
function attracted(confusions: readonly Confusion[]): string[] {
  return confusions
    .filter(({ expected, got, count }) => expected === null && got !== null && count >= OFTEN)
    .slice(0, PAIRS_MAX)
    .map(
      ({ got, count, texts }) =>
        `"${got}" is found for ${count} requests that nobody serves, like ${quoted(texts[0]!)}: its description or an example of it may be too general.`,
    );
}

function unbalanced({ served, unserved }: Figures): string[] {
  if (unserved === 0)
    return ['No query has "expect": null: add some that nobody should serve, to see how well the catalog says no.'];
  return served === 0 ? ["Every query expects nobody: add some that a capability serves."] : [];
}

function threshold(figures: Figures, setting: string): string[] {
  const { acceptedAtThreshold: accepted, rejectedAtThreshold: rejected, thresholdAt90, rejectedAt90 } = figures;
  if (accepted === null || rejected === null || thresholdAt90 === null || rejectedAt90 === null) return [];
  // To accept a little less or more is no gain in itself.
  if (rejectedAt90 - rejected < MOVES && accepted > ACCEPTED - MOVES) return [];
  // Rounded up, it would refuse the very request that it was taken from.
  const from = (Math.floor(thresholdAt90 * 1000) / 1000).toFixed(3);
  return [
    `With \`${setting}\` at ${from}, at least 90 % of the served are accepted and ${percent(rejectedAt90)} of the rest refused; now it is ${percent(accepted)} and ${percent(rejected)}.`,
  ];
}

function list(names: readonly string[]): string {
  const shown = names
    .slice(0, NAMES_MAX)
    .map((name) => `"${name}"`)
    .join(", ");
  return names.length > NAMES_MAX ? `${shown} and ${names.length - NAMES_MAX} more` : shown;
}

function quoted(text: string): string {
  const characters = [...text];
  return `"${characters.length <= QUOTED_CHARS ? text : `${characters.slice(0, QUOTED_CHARS).join("")}…`}"`;
}

const queries = (count: number): string => (count === 1 ? "1 query" : `${count} queries`);
const percent = (part: number): string => `${Math.round(part * 100)} %`;
