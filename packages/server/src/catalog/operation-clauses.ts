import { looks } from "./operation-kinship.js";
import { BIT, has, type Meaning, type Token, tokensOf, unitsOf } from "./operation-lexicon.js";
import type { Question } from "./operation-weights.js";

/** A text, cut into phrases of the lexicon. */
export interface Cut {
  units: readonly string[];
  tokens: readonly Token[];
}

/** A stretch of a text with one polarity, and what holds for it as a whole. */
export interface Clause {
  from: number;
  to: number;
  /** All marks in it. */
  bits: number;
  question: Question | undefined;
  conditional: boolean;
  /** It asks for something in so many words: by an order, a wish, a plea. */
  request: boolean;
}

/** Before "再" or "just" these leave no room for a new clause: "不要再", "不是要再". */
const GOES_WITH = BIT.but | BIT.first | BIT.and | BIT.not | BIT.bareNot | BIT.cue | BIT.modal;
const ASKED_FIRST = new Set(["has", "have", "was", "were", "did"]);
const IS = new Set(["is", "are"]);
const SPEAKS_TO_US = /^(?:帮|请|麻烦|给我|替|please|pls)$/;
const WANTS = new Set(["想", "要", "希", "打", "want"]);

export function cut(text: string): Cut {
  const units = unitsOf(text);
  return { units, tokens: tokensOf(units) };
}

export function sensesAt({ tokens }: Cut, i: number): Meaning["senses"] {
  return tokens[i]?.meaning?.senses ?? [];
}

/** The first character or word of a token. */
export function unitAt({ tokens, units }: Cut, i: number): string {
  const token = tokens[i];
  return token === undefined ? "" : units[token.from]!;
}

/** Clauses in their order. Punctuation, contrasts, "then", conditions and "instead of" part them. */
export function clausesOf(text: Cut): Clause[] {
  const clauses: Clause[] = [];
  for (let from = 0; from < text.tokens.length; ) {
    if (ends(text.tokens[from]!)) {
      from += 1;
      continue;
    }
    const to = clauseEnd(text, from);
    clauses.push(clause(text, from, to));
    from = to;
  }
  return clauses;
}

function ends(token: Token): boolean {
  return token.break === "clause" || token.break === "sentence";
}

function clauseEnd(text: Cut, from: number): number {
  const { tokens } = text;
  let seen = tokens[from]!.meaning?.marks ?? 0;
  let named = sensesAt(text, from).length > 0;
  for (let i = from + 1; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (ends(token)) return i;
    if (has(token, BIT.but | BIT.afterwards | BIT.instead) && !has(tokens[i - 1], GOES_WITH)) return i;
    if (has(token, BIT.if) && !isWhether(text, i)) return i;
    if ((seen & BIT.if) !== 0 && has(token, BIT.so)) return i;
    if (has(token, BIT.mean) && (named || ((seen & BIT.not) !== 0 && !has(tokens[i - 1], BIT.not)))) return i;
    named ||= sensesAt(text, i).length > 0;
    seen |= token.meaning?.marks ?? 0;
  }
  return tokens.length;
}

function clause(text: Cut, from: number, to: number): Clause {
  const { tokens } = text;
  let bits = 0;
  let whether = false;
  for (let i = from; i < to; i++) {
    bits |= tokens[i]!.meaning?.marks ?? 0;
    if (has(tokens[i], BIT.if)) whether = isWhether(text, i);
  }
  return {
    from,
    to,
    bits,
    question: questionOf(text, from, to, bits, whether),
    conditional: (bits & BIT.if) !== 0 && !whether,
    request: isRequest(text, from, to, bits),
  };
}

/** "See if", "check whether": a question, no condition. */
function isWhether(text: Cut, at: number): boolean {
  return sensesAt(text, at - 1).some(({ operation }) => operation === "query" || operation === "verify");
}

function questionOf(text: Cut, from: number, to: number, bits: number, whether: boolean): Question | undefined {
  const last = text.tokens[to - 1]!;
  const toUs = speaksToUs(text, from, to);
  const twice = saidTwice(text, from, to);
  if (twice === "没" || asksDone(text, from, to, bits, whether, toUs)) return "done";
  if ((bits & BIT.still) !== 0 && (bits & BIT.not) === 0) return "done";
  if ((bits & BIT.why) !== 0) return "why";
  // "怎么取消了" asks why, "怎么取消" how.
  if ((bits & BIT.how) !== 0) return last.chinese && has(last, BIT.le) ? "why" : "how";
  if ((bits & BIT.unable) !== 0) return "unable";
  if ((bits & BIT.fact) !== 0 && !toUs && asksFact(text, from, to)) return "fact";
  const yesOrNo = twice !== "" || (bits & BIT.ask) !== 0 || startsAs(text, from, IS);
  return yesOrNo && (bits & BIT.modal) === 0 && !toUs ? "other" : undefined;
}

/** "批了没", "取消了吗", "has it been approved"; but "can you cancel it" and "don't do it yet" do not ask. */
function asksDone(text: Cut, from: number, to: number, bits: number, whether: boolean, toUs: boolean): boolean {
  const { tokens } = text;
  if (startsAs(text, from, IS)) {
    for (let i = from; i < to; i++) if (tokens[i]!.meaning?.form === "past") return true;
  } else if (ASKED_FIRST.has(unitAt(text, from))) return true;
  if (toUs) return false;
  const last = tokens[to - 1]!;
  if (to - 1 > from && has(last, BIT.askDone) && (last.chinese || (bits & BIT.not) === 0)) return true;
  const question = whether || (bits & BIT.ask) !== 0 || /^[?？]$/.test(unitAt(text, to));
  const past = (bits & (BIT.done | BIT.le)) !== 0 || (unitAt(text, from) === "有" && namesChange(text, from, to));
  return question && past && (bits & (BIT.modal | BIT.fact)) === 0;
}

/** "什么时候能退", "谁把它取消了"; but not "把它发给谁都行", nor "ping me when it expires". */
function asksFact(text: Cut, from: number, to: number): boolean {
  const first = sensesAt(text, from)[0];
  if (first !== undefined && !text.tokens[from]!.chinese && !looks(first.operation)) return false;
  for (let i = from; i < to; i++) {
    if (has(text.tokens[i], BIT.fact)) return true;
    if (has(text.tokens[i], BIT.ba | BIT.modal)) return false;
  }
  return false;
}

function namesChange(text: Cut, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (sensesAt(text, i).some(({ operation }) => !looks(operation))) return true;
  return false;
}

/** "批没批", "删不删": a question by saying both. The word between them, or nothing. */
function saidTwice(text: Cut, from: number, to: number): string {
  for (let i = from + 1; i + 1 < to; i++) {
    const before = has(text.tokens[i], BIT.bareNot) ? sensesAt(text, i - 1)[0]?.operation : undefined;
    if (before !== undefined && before === sensesAt(text, i + 1)[0]?.operation) return unitAt(text, i);
  }
  return "";
}

function startsAs(text: Cut, from: number, words: ReadonlySet<string>): boolean {
  const { from: first, to: end } = text.tokens[from]!;
  return end - first === 1 && words.has(text.units[first]!);
}

function isRequest(text: Cut, from: number, to: number, bits: number): boolean {
  const opens = text.tokens[from]!;
  const politely = has(opens, BIT.cue) && opens.to - opens.from > 1 && text.units[opens.from + 1] === "you";
  const ordered = isVerb(opens) || (has(opens, BIT.but | BIT.afterwards | BIT.so) && isVerb(text.tokens[from + 1]));
  return ordered || politely || (bits & (BIT.mean | BIT.ba | BIT.first)) !== 0 || speaksToUs(text, from, to);
}

function isVerb(token: Token | undefined): boolean {
  return token?.meaning !== undefined && token.meaning.senses.length > 0 && token.meaning.form === "verb";
}

/** "帮我", "请", "please". */
export function speaksToUs(text: Cut, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (has(text.tokens[i], BIT.cue | BIT.modal) && SPEAKS_TO_US.test(unitAt(text, i))) return true;
  }
  return false;
}

/** Whether "I want" or its like stands there. */
export function wants(text: Cut, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (has(text.tokens[i], BIT.cue) && WANTS.has(unitAt(text, i))) return true;
  return false;
}
