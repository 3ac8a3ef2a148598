import { correction, inflections } from "./operation-forms.js";
import { MARK_WORDS, type Mark } from "./operation-marks.js";
import { WEIGHT } from "./operation-weights.js";
import { OPERATION_WORDS, OPERATIONS, type Operation } from "./operation-words.js";

/** How a word stands for its operation: as a verb, as a past form ("cancelled"), or as a noun ("cancellation"). */
export type Form = "verb" | "past" | "noun";

/** An operation, and how plainly it is named, 0..1. */
export interface Mention {
  operation: Operation;
  weight: number;
}

/** What a phrase of the lexicon says. */
export interface Meaning {
  senses: Mention[];
  /** A set of marks, as bits; see `has`. */
  marks: number;
  form: Form;
  /** As often a noun as a verb. */
  ambiguous: boolean;
}

/** A stretch of the text: a phrase of the lexicon, other words, or punctuation. */
export interface Token {
  meaning: Meaning | undefined;
  /** Of units: Chinese characters or words. */
  from: number;
  to: number;
  chinese: boolean;
  break: "" | "clause" | "sentence" | "list";
}

interface Node {
  next: Map<string, Node> | undefined;
  gap: Node | undefined;
  meaning: Meaning | undefined;
}

/** How many words may stand within a split phrase: "call the whole meeting on Monday off" is too long already. */
const GAP_WORDS_MAX = 4;
/** What stands further back in a text is not read: a wish is said sooner. */
const UNITS_MAX = 1000;
/** Words with their apostrophes, Chinese characters, punctuation; but no point or comma within a number or a name. */
const UNIT = /[a-z0-9]+(?:'[a-z]+)*|[\u3400-\u9fff]|[,.:](?![a-z0-9])|[，;；：、。!?！？\n/&()（）—]/g;
const PUNCTUATION: Readonly<Record<string, Token["break"]>> = {
  ",": "clause",
  "，": "clause",
  ";": "clause",
  "；": "clause",
  ":": "clause",
  "：": "clause",
  "(": "clause",
  ")": "clause",
  "（": "clause",
  "）": "clause",
  "—": "clause",
  "、": "list",
  "/": "list",
  "。": "sentence",
  ".": "sentence",
  "!": "sentence",
  "！": "sentence",
  "?": "sentence",
  "？": "sentence",
  "\n": "sentence",
};
const CLOSES_GAP = new Set(["and", "or", "then", "but", "not", "don't", "if", "because", "please", "before"]);

const markNames = Object.keys(MARK_WORDS) as Mark[];
export const BIT = Object.fromEntries(markNames.map((name, i) => [name, 1 << i])) as Readonly<Record<Mark, number>>;

const root: Node = build();

/** Whether a token carries any of these marks. */
export function has(token: Token | undefined, bits: number): boolean {
  return token?.meaning !== undefined && (token.meaning.marks & bits) !== 0;
}

/** Characters and words of a text: what the lexicon's phrases are made of. */
export function unitsOf(text: string): string[] {
  const plain = text.toLowerCase().replaceAll("’", "'");
  return (plain.match(UNIT) ?? []).slice(0, UNITS_MAX);
}

/** Cuts units into phrases of the lexicon, the longest first; what is none is kept together as other words. */
export function tokensOf(units: string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < units.length; ) {
    const found = longest(units, at);
    if (found !== undefined) {
      tokens.push({ meaning: found.meaning, from: at, to: found.end, chinese: isChinese(units[at]!), break: "" });
      at = found.end;
      continue;
    }
    const stop = PUNCTUATION[units[at]!];
    const last = tokens.at(-1);
    if (stop !== undefined) tokens.push({ meaning: undefined, from: at, to: at + 1, chinese: false, break: stop });
    else if (last !== undefined && last.meaning === undefined && last.break === "") last.to = at + 1;
    else tokens.push({ meaning: undefined, from: at, to: at + 1, chinese: isChinese(units[at]!), break: "" });
    at += 1;
  }
  return tokens;
}

/** What exactly these words mean, if the lexicon has them. */
export function meaningOf(units: string[]): Meaning | undefined {
  const found = longest(units, 0);
  return found?.end === units.length ? found.meaning : undefined;
}

function isChinese(unit: string): boolean {
  return unit.charCodeAt(0) > 0x33ff;
}

function longest(units: string[], at: number): { meaning: Meaning; end: number } | undefined {
  let node = root.next?.get(units[at]!);
  if (node === undefined) {
    const corrected = correction(units[at]!);
    if (corrected === undefined) return undefined;
    node = root.next?.get(corrected);
  }
  let meaning: Meaning | undefined;
  let end = at;
  for (let i = at + 1; node !== undefined; i++) {
    if (node.meaning !== undefined) [meaning, end] = [node.meaning, i];
    if (node.gap !== undefined) {
      const beyond = acrossGap(node.gap, units, i);
      if (beyond !== undefined && beyond.end > end) ({ meaning, end } = beyond);
    }
    if (i >= units.length) break;
    node = node.next?.get(units[i]!);
  }
  return meaning === undefined ? undefined : { meaning, end };
}

function acrossGap(gap: Node, units: string[], from: number): { meaning: Meaning; end: number } | undefined {
  const last = Math.min(units.length - 1, from + GAP_WORDS_MAX);
  for (let i = from; i <= last; i++) {
    let node = gap.next?.get(units[i]!);
    if (node !== undefined && i > from) {
      let found = node.meaning;
      let end = i + 1;
      for (let at = i + 1; at < units.length; at++) {
        const next: Node | undefined = node.next?.get(units[at]!);
        if (next === undefined) break;
        node = next;
        if (node.meaning !== undefined) [found, end] = [node.meaning, at + 1];
      }
      if (found !== undefined) return { meaning: found, end };
    }
    if (CLOSES_GAP.has(units[i]!) || PUNCTUATION[units[i]!] !== undefined) return undefined;
  }
  return undefined;
}

function build(): Node {
  const top = newNode();
  for (const operation of OPERATIONS) {
    const { zh, en } = OPERATION_WORDS[operation];
    for (const entry of [...split(zh, /\s+/), ...split(en, /,/)]) addOperation(top, operation, entry);
  }
  for (const mark of markNames) {
    const { zh, en } = MARK_WORDS[mark];
    for (const entry of [...split(zh, /\s+/), ...split(en, /,/)]) {
      const meaning = reach(top, unitsOf(entry));
      meaning.marks |= BIT[mark];
      // "Meeting" is a thing though "meet" were an operation; a derived form never wins against it.
      if (mark === "neutral") meaning.senses = [];
    }
  }
  return top;
}

function addOperation(top: Node, operation: Operation, entry: string): void {
  const [, phrase, signs] = /^(.*?)([?=~]*)$/.exec(entry)!;
  const weight = signs!.includes("~") ? WEIGHT.weakWord : 1;
  const noun = signs!.includes("=");
  const [first, ...rest] = phrase!.split(" ");
  const forms = isChinese(first!) || noun ? [{ word: first!, past: false }] : inflections(first!);
  for (const { word, past } of forms) {
    const units = [...unitsOf(word), ...rest.flatMap((one) => (one === "*" ? ["*"] : unitsOf(one)))];
    const meaning = reach(top, units);
    const fresh = meaning.senses.length === 0;
    if (!meaning.senses.some((sense) => sense.operation === operation)) meaning.senses.push({ operation, weight });
    // A form that is a base form somewhere ("set", "put") is read as one.
    meaning.form = noun ? "noun" : past && (fresh || meaning.form === "past") ? "past" : "verb";
    if (signs!.includes("?")) meaning.ambiguous = true;
  }
}

function reach(top: Node, units: string[]): Meaning {
  let node = top;
  for (const unit of units) {
    if (unit === "*") {
      node.gap ??= newNode();
      node = node.gap;
      continue;
    }
    let next = node.next?.get(unit);
    if (next === undefined) {
      next = newNode();
      node.next ??= new Map();
      node.next.set(unit, next);
    }
    node = next;
  }
  node.meaning ??= { senses: [], marks: 0, form: "verb", ambiguous: false };
  return node.meaning;
}

function newNode(): Node {
  return { next: undefined, gap: undefined, meaning: undefined };
}

function split(list: string, by: RegExp): string[] {
  return list
    .split(by)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
