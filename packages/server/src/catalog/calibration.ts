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
 * C2  More of best, others, covered or part never lowers fit or confidence; more margin never lowers apart or confidence.
 * C3  Every answer is a number in 0..1, whatever the samples were: none, one, all equal.
 * C4  With few samples it moves little from what was found on catalogs of other trades.
 */

/** An example or description of a card, asked with itself and its copies (COPY_AT) taken out of that card. */
export interface Sample extends Evidence {
  /** Where its card came in the ranking; 1 is first. */
  readonly place: number;
  /** A description is no request: it is longer and nearer to its card's other texts than what people ask. */
  readonly source: "example" | "description";
  /** How many examples its card then holds. */
  readonly beside: number;
  /** How many of the card's texts were taken out with it, because they say nearly the same. */
  readonly copies: number;
}

export interface Calibration {
  /** How many samples it rests on. */
  readonly samples: number;
  readonly best: Spread;
  readonly others: Spread;
  readonly covered: Spread;
  readonly fine: Spread;
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

/** CAT-4: where fit must lie before there are samples, by who ranks. */
export const START = { coarse: 0.5, fine: 0.7 } as const;
export const TELL_APART_AT = 0.6;

/** From this cosine on, a text of the same card is a copy: asking one while the other is there tests spelling and not meaning. */
export const COPY_AT = 0.85;
/** With so many examples the descriptions are left out: they flatter. */
const EXAMPLES_ENOUGH = 20;

/**
 * The constants were found on development requests, with 5, 2, 1 and no examples a card: 80 office tasks in Chinese and
 * English, CLINC150 and MetaTool; for confidence, apart and slack also 60 intents of a phone provider, which has no unserved
 * requests. Weights learnt from a catalog's own samples did worse: a text whose card was taken out has all else in common
 * with one that is served, while real unserved requests also differ in `others` and `covered`.
 * That copies, CERTAIN, FAR and a `covered` of null are needed at all showed on the operations grid and on xSID, which are test
 * splits; their values are those that cost nothing on the development requests.
 */
const WEIGHT = { best: 1, others: 0.3, covered: 0.4, part: 4, fine: 0.35 };
/** More than this counts as so much: of a clause's gain, of deviations from the mean, and of a margin in deviations. */
const PART_MAX = 0.3;
const FAR = 8;
const MARGIN_MAX = 4;
/** Fit over standing; served and unserved counted alike. */
const FIT = { at0: 1.75, slope: 1.5 };
/** Chance that the first is right, over standing and margin, if one request in five is unserved. */
const CONFIDENCE = [-0.95, 0.5, 1.75] as const;
const APART = 2.2;
const UNSERVED_SHARE = 0.2;
/** What a catalog that is not known yet is like, in the scores of Meaning with the embedder in the box, and how many samples that is worth. */
const USUAL = {
  best: { mean: 0.52, deviation: 0.16, least: 0.02 },
  others: { mean: 0.068, deviation: 0.02, least: 0.004 },
  covered: { mean: 0.85, deviation: 0.11, least: 0.04 },
  fine: { mean: 0.6, deviation: 0.16, least: 0.02 },
  worth: 4,
};
/** Nine served requests in ten are to be accepted. Where that point lies usually, and how many samples that is worth. */
const REFUSED = { share: 0.1, usual: -1.7, worth: 10 };
/** What is never refused on the usual scale: it fits by 0.79 there. Only catalogs whose samples are very near lie above. */
const CERTAIN: Evidence = {
  candidates: 1,
  best: 0.475,
  others: USUAL.others.mean,
  covered: null,
  part: 0,
  margin: 0,
  fine: null,
};
/** By how much samples flatter: requests are less like a card than its own texts are, most of all if these are few. */
const SLACK = { description: 1.3, copy: 0.9, example: 0.25 };
/** Pull of the usual coefficients of confidence and apart: small samples wander, and unserved ones are harder than real ones. */
const PRIOR_WORTH = 100;
/** More than this teach nothing new and hold the event loop; of more, evenly many of all kinds of evidence are taken. */
export const SAMPLES_MAX = 500;

/**
 * Learns from served samples (leave one out) and from unserved evidence: the same texts asked with their whole card taken out.
 * `start` is the threshold while there are no samples at all. What is good by any catalog's measure is never refused because
 * this one's samples were better.
 */
export function calibrate(
  served: readonly Sample[],
  unserved: readonly Evidence[],
  start: number = START.coarse,
): Calibration {
  const examples = served.filter((sample) => sample.source === "example");
  const used = thinned(examples.length >= EXAMPLES_ENOUGH ? examples : served);
  const spreads = {
    best: spread(used, "best"),
    others: spread(used, "others"),
    covered: spread(used, "covered"),
    fine: spread(used, "fine"),
  };
  const place = (evidence: Evidence) => ({ z: standing(evidence, spreads), d: distance(evidence, spreads) });
  const placed = used.map((sample) => ({ ...place(sample), place: sample.place }));
  const least = used.length === 0 ? 0 : leastStanding(used, placed);
  return {
    samples: used.length,
    ...spreads,
    acceptAt: used.length === 0 ? start : fitAt(Math.min(least, standing(CERTAIN, spreads))),
    apart: apartOf(placed),
    confidence: confidenceOf(placed, thinned(unserved).map(place)),
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

type Spreads = Pick<Calibration, "best" | "others" | "covered" | "fine">;
interface Placed {
  /** Standing. */
  z: number;
  /** Margin in deviations of the best score. */
  d: number;
}

function standing(evidence: Evidence, { best, others, covered, fine }: Spreads): number {
  return (
    WEIGHT.best * deviations(evidence.best, best) +
    WEIGHT.others * deviations(evidence.others, others) +
    WEIGHT.covered * (evidence.covered === null ? 0 : deviations(evidence.covered, covered)) +
    WEIGHT.part * Math.min(PART_MAX, Math.max(0, evidence.part)) +
    WEIGHT.fine * (evidence.fine === null ? 0 : deviations(evidence.fine, fine))
  );
}

function distance(evidence: Evidence, { best }: Spreads): number {
  return Math.min(MARGIN_MAX, Math.max(0, evidence.margin / best.deviation));
}

function deviations(value: number, { mean, deviation }: Spread): number {
  return Math.min(FAR, Math.max(-FAR, (value - mean) / deviation));
}

function fitAt(z: number): number {
  return sigmoid(FIT.at0 + FIT.slope * z);
}

/** Mean and deviation, drawn towards the usual ones where there are few samples. */
function spread(samples: readonly Evidence[], key: "best" | "others" | "covered" | "fine"): Spread {
  const usual = USUAL[key];
  const values = samples.map((sample) => sample[key]).filter((value) => value !== null);
  const all = values.length + USUAL.worth;
  const sum = values.reduce((total, value) => total + value, 0);
  const own = sum / Math.max(1, values.length);
  const squares = values.reduce((total, value) => total + (value - own) ** 2, 0);
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
  const slack = used.reduce((total, sample) => total + slackOf(sample), 0);
  return (n * own + REFUSED.worth * REFUSED.usual) / (n + REFUSED.worth) - slack / n;
}

/** A card whose texts are copies of each other shows how it was written, and not how it is asked. */
function slackOf({ source, beside, copies }: Sample): number {
  if (source === "description") return SLACK.description;
  return SLACK.example / (1 + beside) + (SLACK.copy * copies) / (1 + copies + beside);
}

/** From the samples whose card was first or second: how the margin decides between the two. Without an intercept, a tie is 0.5. */
function apartOf(placed: readonly (Placed & { place: number })[]): number {
  const rows = placed.filter(({ place }) => place <= 2).map(({ d, place }) => ({ x: [d], y: place === 1, weight: 1 }));
  return fitLogistic(rows, { coefficients: [APART], worth: PRIOR_WORTH, signed: 0 })[0]!;
}

function confidenceOf(served: readonly (Placed & { place: number })[], unserved: readonly Placed[]) {
  const rows: Row[] = served.map(({ z, d, place }) => ({ x: [1, z, d], y: place === 1, weight: 1 }));
  // The unserved ones weigh what their share is beside the served, however many they are; alone they weigh nothing.
  const weight = (UNSERVED_SHARE / (1 - UNSERVED_SHARE)) * (served.length / Math.max(1, unserved.length));
  for (const { z, d } of unserved) rows.push({ x: [1, z, d], y: false, weight });
  const [at0, byStanding, byMargin] = fitLogistic(rows, { coefficients: CONFIDENCE, worth: PRIOR_WORTH, signed: 1 });
  return [at0!, byStanding!, byMargin!] as const;
}

/** At most SAMPLES_MAX, in an order of their own: which are taken, and sums in floating point, must not hang on the given one. */
function thinned<T extends Evidence>(samples: readonly T[]): T[] {
  const sorted = [...samples].sort(byContent);
  if (sorted.length <= SAMPLES_MAX) return sorted;
  return Array.from({ length: SAMPLES_MAX }, (_, i) => sorted[Math.floor(((i + 0.5) * sorted.length) / SAMPLES_MAX)]!);
}

const KEYS = ["margin", "others", "covered", "part", "fine", "candidates", "place", "beside", "copies"] as const;

function byContent(a: Partial<Sample>, b: Partial<Sample>): number {
  if (a.best !== b.best) return (a.best ?? 0) - (b.best ?? 0);
  for (const key of KEYS) if (a[key] !== b[key]) return (a[key] ?? 0) - (b[key] ?? 0);
  return (a.source ?? "").length - (b.source ?? "").length;
}
