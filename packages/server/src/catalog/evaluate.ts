import type { CardText } from "./finder.js";
import { suggestionsOf } from "./suggestions.js";

/** A request, and the capability that should be found for it; null: nobody serves it. */
export interface LabelledQuery {
  text: string;
  expect: string | null;
}

/** What a catalog says to a request, be it asked in this process or over the wire. */
export interface Reply {
  /** "no_match" is a refusal; everything else names somebody. */
  verdict: string;
  /** How much the request is like what is served: what it is accepted by. Compared with itself alone, so any scale that rises. */
  fit: number;
  /** Best first; filled for refusals too, with what came nearest. */
  ranked: readonly { name: string }[];
}

export interface EvaluateOptions {
  /** A monotonic clock, in milliseconds. */
  now(): number;
  /** The cards of capabilities by name, as far as there are any. Without it nothing is suggested about cards. */
  cardsOf?(names: readonly string[]): readonly CardText[] | Promise<readonly CardText[]>;
  /** The setting that holds the least fit, if `fit` is in its terms; another threshold can then be suggested. */
  setting?: string;
  /** Told after each answer, and waited for; it may throw to stop. */
  progress?(done: number, of: number): void | Promise<void>;
}

/** Requests of one kind that went the same wrong way. */
export interface Confusion {
  /** What should have been found; null: nobody. */
  expected: string | null;
  /** What was found first; null: the request was refused though the right one came first, or nothing was found at all. */
  got: string | null;
  count: number;
  /** Some of the requests. */
  texts: string[];
}

/** Shares are 0..1, of the served or the unserved; null where there are no such requests. */
export interface Evaluation {
  served: number;
  unserved: number;
  /** The expected one came first, or among the first three, whatever the verdict. */
  top1: number | null;
  top3: number | null;
  /** Served requests that were not refused. */
  acceptedAtThreshold: number | null;
  /** Served requests of which the catalog said that it cannot tell the first two apart. */
  ambiguousAtThreshold: number | null;
  /** Unserved requests that were refused. */
  rejectedAtThreshold: number | null;
  /** The fit that 90 % of the served reach, and the share of the unserved that does not. */
  thresholdAt90: number | null;
  rejectedAt90: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  confusions: Confusion[];
  suggestions: string[];
}

/** One request with its answer. */
export interface Asked extends LabelledQuery, Reply {
  tookMs: number;
}

const ACCEPTED = 0.9;
const CONFUSION_TEXTS_MAX = 5;

/**
 * Asks every request, one after another, and compares the answers with what was expected (CAT-9). Rejects when `ask` does: a
 * figure over some of the requests would look like one over all.
 */
export async function evaluate(
  queries: readonly LabelledQuery[],
  ask: (text: string) => Reply | Promise<Reply>,
  { now, cardsOf, setting, progress }: EvaluateOptions,
): Promise<Evaluation> {
  const asked: Asked[] = [];
  for (const { text, expect } of queries) {
    const startedAt = now();
    const { verdict, fit, ranked } = await ask(text);
    asked.push({ text, expect, verdict, fit, ranked, tookMs: now() - startedAt });
    await progress?.(asked.length, queries.length);
  }
  const figures = figuresOf(asked);
  const confusions = confusionsOf(asked);
  const names = namesIn(asked, confusions);
  const cards = cardsOf === undefined ? undefined : await cardsOf(names);
  return { ...figures, confusions, suggestions: suggestionsOf(asked, figures, confusions, { cards, setting }) };
}

export type Figures = Omit<Evaluation, "confusions" | "suggestions">;

function figuresOf(asked: readonly Asked[]): Figures {
  const served = asked.filter(({ expect }) => expect !== null);
  const unserved = asked.filter(({ expect }) => expect === null);
  const thresholdAt90 = thresholdFor(served, ACCEPTED);
  const times = asked.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  return {
    served: served.length,
    unserved: unserved.length,
    top1: share(served, ({ expect, ranked }) => ranked[0]?.name === expect),
    top3: share(served, ({ expect, ranked }) => ranked.slice(0, 3).some(({ name }) => name === expect)),
    acceptedAtThreshold: share(served, ({ verdict }) => verdict !== "no_match"),
    ambiguousAtThreshold: share(served, ({ verdict }) => verdict === "ambiguous"),
    rejectedAtThreshold: share(unserved, ({ verdict }) => verdict === "no_match"),
    thresholdAt90,
    rejectedAt90: thresholdAt90 === null ? null : share(unserved, ({ fit }) => fit < thresholdAt90),
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
  };
}

/** The highest fit that at least so large a share of them reaches. */
function thresholdFor(asked: readonly Asked[], accepted: number): number | null {
  const fits = asked.map(({ fit }) => fit).sort((a, b) => b - a);
  return fits[Math.ceil(fits.length * accepted) - 1] ?? null;
}

function share(asked: readonly Asked[], is: (one: Asked) => boolean): number | null {
  return asked.length === 0 ? null : rounded(asked.filter(is).length / asked.length, 4);
}

/** Of numbers in rising order, by nearest rank. */
function percentile(sorted: readonly number[], part: number): number | null {
  const at = sorted[Math.ceil(sorted.length * part) - 1];
  return at === undefined ? null : rounded(at, 3);
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** Most frequent first. Each request is in one at most. */
function confusionsOf(asked: readonly Asked[]): Confusion[] {
  const found = new Map<string, Confusion>();
  for (const one of asked) {
    const got = wrongOf(one);
    if (got === undefined) continue;
    const key = JSON.stringify([one.expect, got]);
    const confusion = found.get(key) ?? { expected: one.expect, got, count: 0, texts: [] };
    confusion.count++;
    if (confusion.texts.length < CONFUSION_TEXTS_MAX) confusion.texts.push(one.text);
    found.set(key, confusion);
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

/** What came instead; undefined if all is well. */
function wrongOf({ expect, verdict, ranked }: Asked): string | null | undefined {
  const first = ranked[0]?.name ?? null;
  const refused = verdict === "no_match";
  if (expect === null) return refused || first === null ? undefined : first;
  if (first !== expect) return first;
  return refused ? null : undefined;
}

function namesIn(asked: readonly Asked[], confusions: readonly Confusion[]): string[] {
  const names = [...asked.map(({ expect }) => expect), ...confusions.map(({ got }) => got)];
  return [...new Set(names.filter((name) => name !== null))].sort();
}
