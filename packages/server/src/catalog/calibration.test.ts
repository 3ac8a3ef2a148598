import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Calibration, calibrate, judge, SAMPLES_MAX, type Sample, START, TELL_APART_AT } from "./calibration.js";
import type { Evidence } from "./evidence.js";

const evidence = (some: Partial<Evidence> = {}): Evidence => ({
  candidates: 40,
  best: 0.5,
  others: 0.07,
  covered: 0.7,
  part: 0,
  margin: 0.2,
  fine: null,
  ...some,
});
const sample = (some: Partial<Sample> = {}): Sample => ({
  ...evidence(some),
  place: 1,
  source: "example",
  beside: 4,
  copies: 0,
  ...some,
});
/** `count` samples whose best scores lie evenly around `middle`, `reach` to each side. */
const around = (middle: number, reach: number, count = 200, some: Partial<Sample> = {}): Sample[] =>
  Array.from({ length: count }, (_, i) => sample({ best: middle + reach * ((2 * i) / (count - 1) - 1), ...some }));
const accepted = (all: readonly Evidence[], calibration: Calibration) =>
  all.filter((one) => judge(one, calibration).verdict !== "no_match").length / all.length;

describe("what is accepted", () => {
  test.each([
    [0.2, 0.08],
    [0.45, 0.15],
    [0.35, 0.05],
  ])("is nine in ten of requests like the examples, wherever the embedder puts them: %s ± %s (CAT-3)", (at, reach) => {
    const served = around(at, reach);
    const calibration = calibrate(served, []);
    expect(accepted(served, calibration)).toBeGreaterThan(0.85);
    expect(accepted(served, calibration)).toBeLessThan(0.98);
    expect(accepted(around(at - 2.5 * reach, reach / 2), calibration)).toBe(0);
  });

  test("a threshold of one catalog says nothing of another: the same evidence is served here and refused there (CAT-4)", () => {
    const asked = evidence({ best: 0.3 });
    const verdict = (served: Sample[]) => judge(asked, calibrate(served, [])).verdict;
    expect(verdict(around(0.25, 0.1))).toBe("match");
    expect(verdict(around(0.5, 0.05))).toBe("no_match");
  });

  test("what is good by any catalog's measure is served, also where all examples of a card are copies of each other", () => {
    const copies = around(0.9, 0.03);
    const calibration = calibrate(copies, []);
    expect(judge(evidence({ best: 0.4 }), calibration).verdict).toBe("match");
    expect(judge(evidence({ best: 0.2, others: 0.04 }), calibration).verdict).toBe("no_match");
  });

  test("what cannot be told of words, since the card is in another language, speaks neither for nor against", () => {
    const calibration = calibrate([...around(0.5, 0.1), sample({ covered: null })], []);
    expect(calibration.covered.mean).toBeCloseTo(0.7, 2);
    const fit = (covered: number | null) => judge(evidence({ covered }), calibration).fit;
    expect(fit(null)).toBeGreaterThan(fit(0));
    expect(fit(null)).toBeLessThan(fit(1));
    expect(fit(null)).toBeCloseTo(fit(calibration.covered.mean));
  });

  test("before there are samples it is what fits by half with a coarse score, and more with the fine stage (CAT-4)", () => {
    expect(START).toEqual({ coarse: 0.5, fine: 0.7 });
    for (const start of Object.values(START)) {
      const calibration = calibrate([], [], start);
      expect(calibration).toMatchObject({ samples: 0, acceptAt: start });
      for (const best of [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) {
        const { verdict, fit } = judge(evidence({ best }), calibration);
        expect(verdict !== "no_match").toBe(fit >= start);
      }
    }
    expect(accepted([evidence({ best: 0.6 })], calibrate([], []))).toBe(1);
    expect(accepted([evidence({ best: 0.1 })], calibrate([], []))).toBe(0);
  });

  test("few samples move it little, many move it all the way", () => {
    const at = (count: number) => calibrate(around(0.8, 0.05, count), []).best.mean;
    const [none, two, many] = [calibrate([], []).best.mean, at(2), at(200)];
    expect(two).toBeGreaterThan(none);
    expect(two).toBeLessThan(0.65);
    expect(many).toBeCloseTo(0.8, 1);
  });

  test("examples of cards that hold few or copies, and descriptions, are trusted less, so that more is accepted", () => {
    const at = (some: Partial<Sample>) => calibrate(around(0.4, 0.1, 19, some), []).acceptAt;
    expect(at({ beside: 0 })).toBeLessThan(at({ beside: 4 }));
    expect(at({ source: "description" })).toBeLessThan(at({ beside: 0 }));
    expect(at({ beside: 1, copies: 3 })).toBeLessThan(at({ beside: 1 }));
  });

  test("descriptions are left out where there are examples enough", () => {
    const examples = around(0.4, 0.1, 30);
    const descriptions = around(0.8, 0.1, 30, { source: "description" });
    expect(calibrate([...examples, ...descriptions], [])).toEqual(calibrate(examples, []));
    expect(calibrate([...examples.slice(0, 10), ...descriptions], []).samples).toBe(40);
  });

  test("a setting has the last word", () => {
    const calibration = calibrate(around(0.5, 0.1), []);
    const asked = evidence({ best: 0.5 });
    const { fit, verdict } = judge(asked, calibration);
    expect(verdict).toBe("match");
    expect(judge(asked, calibration, { acceptAt: fit + 0.01 }).verdict).toBe("no_match");
    expect(judge(evidence({ best: 0.1 }), calibration).verdict).toBe("no_match");
    expect(judge(evidence({ best: 0.1 }), calibration, { acceptAt: 0 }).verdict).toBe("match");
  });

  test("nothing in common is never a match, whatever the setting (CAT-8)", () => {
    const calibration = calibrate(around(0.5, 0.1), []);
    for (const nothing of [evidence({ candidates: 0 }), evidence({ best: 0 })])
      expect(judge(nothing, calibration, { acceptAt: 0 })).toMatchObject({
        verdict: "no_match",
        fit: 0,
        confidence: 0,
      });
  });
});

describe("what cannot be told apart", () => {
  const calibration = calibrate(around(0.5, 0.1), []);

  test("is ambiguous, and two with the same score always are (CAT-8)", () => {
    expect(judge(evidence({ margin: 0 }), calibration)).toMatchObject({ verdict: "ambiguous", apart: 0.5 });
    expect(judge(evidence({ margin: 0.2 }), calibration).verdict).toBe("match");
    expect(judge(evidence({ margin: 0, best: 0.1 }), calibration).verdict).toBe("no_match");
  });

  test("is none if there is but one candidate", () => {
    expect(judge(evidence({ candidates: 1, margin: 0 }), calibration)).toMatchObject({ verdict: "match", apart: 1 });
  });

  test("is learnt: where small margins were right, they suffice; where large ones were wrong, they do not", () => {
    const margins = (place: (margin: number) => number) =>
      around(0.5, 0.1, 400).map((one, i) => ({ ...one, margin: i / 2000, place: place(i / 2000) }));
    const sharp = calibrate(
      margins((margin) => (margin > 0.005 ? 1 : 2)),
      [],
    );
    const blunt = calibrate(
      margins((margin) => (Math.round(margin * 2000) % 2 === 0 ? 1 : 2)),
      [],
    );
    const asked = evidence({ margin: 0.014 });
    expect(judge(asked, sharp).apart).toBeGreaterThan(TELL_APART_AT);
    expect(judge(asked, blunt)).toMatchObject({ verdict: "ambiguous" });
    expect(judge(asked, blunt, { tellApartAt: 0.5 }).verdict).toBe("match");
  });
});

describe("confidence", () => {
  test("is near to how often the first was right", () => {
    const served = around(0.5, 0.1, 500).map((one, i) => ({
      ...one,
      margin: i % 2 ? 0.3 : 0.02,
      place: i % 4 ? 1 : 2,
    }));
    const calibration = calibrate(served, []);
    const sum = served.reduce((total, one) => total + judge(one, calibration).confidence, 0);
    expect(Math.abs(sum / 500 - 0.75)).toBeLessThan(0.08);
  });

  test("is lower where the catalog without the card looks as good", () => {
    const served = around(0.5, 0.1);
    const alike = calibrate(served, served);
    const apart = calibrate(served, around(0.1, 0.05));
    expect(judge(evidence(), alike).confidence).toBeLessThan(judge(evidence(), apart).confidence);
  });
});

describe("for any samples", () => {
  const part = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1));
  const evidences = fc.record({
    candidates: fc.constantFrom(0, 1, 2, 1000),
    best: part,
    others: part,
    covered: fc.option(part),
    part,
    margin: part,
    fine: fc.option(part),
  });
  const samples = fc.record({
    candidates: fc.constantFrom(1, 2, 1000),
    best: part,
    others: part,
    covered: fc.option(part),
    part,
    margin: part,
    fine: fc.option(part),
    place: fc.integer({ min: 1, max: 4 }),
    source: fc.constantFrom("example" as const, "description" as const),
    beside: fc.integer({ min: 0, max: 5 }),
    copies: fc.integer({ min: 0, max: 5 }),
  });
  const given = fc.tuple(
    fc.oneof(
      fc.array(samples, { maxLength: 30 }),
      fc.tuple(samples, fc.nat(40)).map(([one, n]) => Array(n).fill(one)),
    ),
    fc.array(evidences, { maxLength: 30 }),
  ) as fc.Arbitrary<[Sample[], Evidence[]]>;

  test("C1: the order of samples changes nothing, and it comes through JSON as it was", () => {
    const random = fc.array(samples, { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(
        random.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        fc.array(evidences, { maxLength: 10 }),
        ([all, shuffled], unserved) => {
          const calibration = calibrate(all, unserved);
          expect(calibrate(shuffled, [...unserved].reverse())).toEqual(calibration);
          expect(JSON.parse(JSON.stringify(calibration))).toEqual(calibration);
        },
      ),
    );
  });

  test("C1: of very many samples the same ones are taken in any order, and no more than it can use", () => {
    const all = around(0.5, 0.2, 3 * SAMPLES_MAX + 7).map((one, i) => ({ ...one, place: 1 + (i % 3) }));
    const calibration = calibrate(all, all);
    expect(calibration.samples).toBe(SAMPLES_MAX);
    expect(calibrate([...all].reverse(), [...all].reverse())).toEqual(calibration);
    expect(calibration.best.mean).toBeCloseTo(0.5, 2);
  });

  test("C2: more evidence for it never lowers fit, apart or confidence", () => {
    const upwards = fc.constantFrom(...(["best", "others", "covered", "part", "fine"] as const));
    fc.assert(
      fc.property(given, evidences, upwards, part, ([served, unserved], asked, key, by) => {
        const calibration = calibrate(served, unserved);
        if (asked[key] === null) return;
        const less = judge(asked, calibration);
        const more = judge({ ...asked, [key]: (asked[key] ?? 0) + by }, calibration);
        expect(more.fit).toBeGreaterThanOrEqual(less.fit);
        expect(more.confidence).toBeGreaterThanOrEqual(less.confidence);
        const further = judge({ ...asked, margin: asked.margin + by }, calibration);
        expect(further.apart).toBeGreaterThanOrEqual(less.apart);
        expect(further.confidence).toBeGreaterThanOrEqual(less.confidence);
        expect(further.fit).toBe(less.fit);
      }),
    );
  });

  test("C3: every answer is a number in 0..1", () => {
    const unit = (x: number) => x >= 0 && x <= 1;
    fc.assert(
      fc.property(given, evidences, ([served, unserved], asked) => {
        const calibration = calibrate(served, unserved);
        const { fit, apart, confidence } = judge(asked, calibration);
        expect([calibration.acceptAt, fit, apart, confidence].every(unit)).toBe(true);
        expect(apart).toBeGreaterThanOrEqual(0.5);
      }),
    );
  });
});
