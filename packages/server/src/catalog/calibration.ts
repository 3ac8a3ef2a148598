import type { Evidence } from "./evidence.js";
import { fitLogistic, type Row, sigmoid } from "./logistic.js";

/**
 * When the catalog says yes, no, or "one of these" (CAT-3, CAT-8). What a score is worth differs by embedder and by catalog, so
 * both are learnt from the catalog itself: every example is asked as if its card had never held it.
 *
 *     evidence ── standardised by the samples ──▶ standing z ──▶ fit 0..1   >= acceptAt?       else no_match
 *                                           margin / spread ──▶ apart 0.5..1 >= tellApartAt?   else ambiguous
 *                                                  z, margin ──▶ confidence: is the first one right
 *
 * C1  The same samples give the same calibration, in any order; it is plain JSON.
 * C2  More of best, others, known or part never lowers fit or confidence; more margin never lowers apart or confidence.
 * C3  Every answer is a number in 0..1, whatever the samples were: none, one, all equal.
 * C4  With few samples it moves little from what was found on catalogs of other trades.
 */

/** An example or description of a card, asked with itself taken out of that card. */
export interface Sample extends Evidence {
  /** Where its card came in the ranking; 1 is first. */
  readonly place: number;
  /** A description is no request: it is longer and nearer to its card's other texts than what people ask. */
  readonly source: "example" | "description";
  /** How many other examples its card has. */
  readonly beside: number;
}

export interface Calibration {
  /** How many samples it rests on. */
  readonly samples: number;
  readonly best: Spread;
  readonly others: Spread;
  readonly known: Spread;
  /** Least fit of a request that is served. */
  readonly acceptAt: number;
  /** How fast two capabilities become distinct as their margin grows. */
  readonly apart: number;
  /** Intercept, and the weights of standing and margin, for the confidence. */
  readonly confidence: readonly [number, number, number];
}

export interface Spread {
  readonly mean: number;
  readonly deviation: number;
}

export interface Thresholds {
  /** In terms of fit. */
  readonly acceptAt?: number | undefined;
  /** Least chance of the first against the second, 0.5..1. */
  readonly tellApartAt?: number | undefined;
}

export interface Judgement {
  readonly verdict: "match" | "ambiguous" | "no_match";
  /** 0..1: how much like a request that the catalog serves. A monotone scale to compare requests by. */
  readonly fit: number;
  /** 0.5..1: the chance that the first and not the second is meant, if it is one of them; 1 without a second. */
  readonly apart: number;
  /** 0..1: the chance that the first is what was meant. */
  readonly confidence: number;
}

/** CAT-4: where fit must lie before there are samples, by what the scores come from. */
export const START = { coarse: 0.5, fine: 0.7, single: 0.75 } as const;
export const TELL_APART_AT = 0.6;

/** With so many examples the descriptions are left out: they flatter. */
const EXAMPLES_ENOUGH = 20;

/**
 * Found on three catalogs with labelled requests (80 office tasks in Chinese and English, development parts of CLINC150 and
 * MetaTool; 5, 2 and 1 examples a card; no test split). Standardised evidence behaves alike on all of them.
 */
const WEIGHT = { best: 1, others: 0.3, known: 0.15, part: 3 };
/** Beyond this a clause is no better; and beyond so many deviations a number is no more than far off. */
const PART_MAX = 0.3;
const FAR = 4;
/** Fit over standing; served and unserved counted alike. */
const FIT = { at0: 1.55, slope: 1.5 };
/** Chance that the first is right, over standing and margin, if one request in five is unserved. */
const CONFIDENCE = [-0.95, 0.5, 1.75] as const;
const APART = 2.2;
const UNSERVED_SHARE = 0.2;
/** What a catalog that is not known yet is like, and how many samples that is worth. */
const USUAL = {
  best: { mean: 0.42, deviation: 0.13, least: 0.02 },
  others: { mean: 0.07, deviation: 0.02, least: 0.004 },
  known: { mean: 0.65, deviation: 0.22, least: 0.05 },
  worth: 4,
};
/** Nine served requests in ten are to be accepted. Where that point lies usually, and how many samples that is worth. */
const REFUSED = { share: 0.1, usual: -1.5, worth: 10 };
/** By how much samples flatter: requests are less like a card than its own texts are, most of all if these are few. */
const SLACK = { description: 1.3, example: 0.45 };
/** How many samples what is usual is worth for confidence and apart. */
const PRIOR_WORTH = 15;

/**
 * Learns from served samples (leave one out) and from unserved evidence: the same texts asked with their whole card taken out.
 * `start` is the threshold while there are no samples at all.
 */
export function calibrate(
  served: readonly Sample[],
  unserved: readonly Evidence[],
  start: number = START.coarse,
): Calibration {
  const examples = served.filter((sample) => sample.source === "example");
  const used = inOrder(examples.length >= EXAMPLES_ENOUGH ? examples : served);
  const spreads = {
    best: spread(used, "best"),
    others: spread(used, "others"),
    known: spread(used, "known"),
  };
  const place = (evidence: Evidence) => ({ z: standing(evidence, spreads), d: distance(evidence, spreads) });
  const placed = used.map((sample) => ({ ...place(sample), place: sample.place }));
  return {
    samples: used.length,
    ...spreads,
    acceptAt: used.length === 0 ? start : fitAt(leastStanding(used, placed)),
    apart: apartOf(placed),
    confidence: confidenceOf(placed, inOrder(unserved).map(place)),
  };
}

export function judge(evidence: Evidence, calibration: Calibration, thresholds: Thresholds = {}): Judgement {
  const nothing = evidence.candidates === 0 || !(evidence.best > 0);
  if (nothing) return { verdict: "no_match", fit: 0, apart: evidence.candidates > 1 ? 0.5 : 1, confidence: 0 };
  const z = standing(evidence, calibration);
  const d = distance(evidence, calibration);
  const fit = fitAt(z);
  const apart = evidence.candidates > 1 ? sigmoid(calibration.apart * d) : 1;
  const [at0, byStanding, byMargin] = calibration.confidence;
  const confidence = sigmoid(at0 + byStanding * z + byMargin * d);
  const accepted = fit >= (thresholds.acceptAt ?? calibration.acceptAt);
  const distinct = apart >= (thresholds.tellApartAt ?? TELL_APART_AT);
  return { verdict: accepted ? (distinct ? "match" : "ambiguous") : "no_match", fit, apart, confidence };
}

type Spreads = Pick<Calibration, "best" | "others" | "known">;
interface Placed {
  /** Standing. */
  z: number;
  /** Margin in deviations of the best score. */
  d: number;
}

function standing(evidence: Evidence, { best, others, known }: Spreads): number {
  return (
    WEIGHT.best * deviations(evidence.best, best) +
    WEIGHT.others * deviations(evidence.others, others) +
    WEIGHT.known * deviations(evidence.known, known) +
    WEIGHT.part * Math.min(PART_MAX, Math.max(0, evidence.part))
  );
}

function distance(evidence: Evidence, { best }: Spreads): number {
  return Math.min(FAR, Math.max(0, evidence.margin / best.deviation));
}

function deviations(value: number, { mean, deviation }: Spread): number {
  return Math.min(FAR, Math.max(-FAR, (value - mean) / deviation));
}

function fitAt(z: number): number {
  return sigmoid(FIT.at0 + FIT.slope * z);
}

/** Mean and deviation, drawn towards the usual ones where there are few samples. */
function spread(samples: readonly Evidence[], key: "best" | "others" | "known"): Spread {
  const usual = USUAL[key];
  const n = samples.length;
  const all = n + USUAL.worth;
  const sum = samples.reduce((total, sample) => total + sample[key], 0);
  const own = n === 0 ? 0 : sum / n;
  const squares = samples.reduce((total, sample) => total + (sample[key] - own) ** 2, 0);
  return {
    mean: (sum + USUAL.worth * usual.mean) / all,
    deviation: Math.max(usual.least, Math.sqrt((squares + USUAL.worth * usual.deviation ** 2) / all)),
  };
}

/** The standing below which a request is refused. */
function leastStanding(used: readonly Sample[], placed: readonly Placed[]): number {
  const n = placed.length;
  const sorted = placed.map(({ z }) => z).sort((a, b) => a - b);
  const own = sorted[Math.floor(REFUSED.share * n)]!;
  const slack = used.reduce(
    (total, { source, beside }) =>
      total + (source === "description" ? SLACK.description : SLACK.example / (1 + Math.max(0, beside))),
    0,
  );
  return (n * own + REFUSED.worth * REFUSED.usual) / (n + REFUSED.worth) - slack / n;
}

/** From the samples whose card was first or second: how the margin decides between the two. A tie is always 0.5. */
function apartOf(placed: readonly (Placed & { place: number })[]): number {
  const rows: Row[] = [];
  for (const { d, place } of placed) {
    // Each row is given with its mirror image, so that the intercept stays 0 by symmetry.
    if (place !== 1 && place !== 2) continue;
    rows.push({ x: [d], y: place === 1, weight: 0.5 }, { x: [-d], y: place !== 1, weight: 0.5 });
  }
  return fitLogistic(rows, [0, APART], PRIOR_WORTH)[1]!;
}

function confidenceOf(served: readonly (Placed & { place: number })[], unserved: readonly Placed[]) {
  const weight = (UNSERVED_SHARE / (1 - UNSERVED_SHARE)) * (served.length / Math.max(1, unserved.length));
  const rows: Row[] = served.map(({ z, d, place }) => ({ x: [z, d], y: place === 1, weight: 1 }));
  // Without a served sample beside it, an unserved one has no measure.
  if (served.length > 0) for (const { z, d } of unserved) rows.push({ x: [z, d], y: false, weight });
  const [at0, byStanding, byMargin] = fitLogistic(rows, CONFIDENCE, PRIOR_WORTH);
  return [at0!, byStanding!, byMargin!] as const;
}

/** Sums of floating point numbers depend on their order; a calibration must not. */
function inOrder<T extends Evidence>(samples: readonly T[]): T[] {
  return [...samples].sort(
    (a, b) => a.best - b.best || a.margin - b.margin || a.others - b.others || a.known - b.known || a.part - b.part,
  );
}
