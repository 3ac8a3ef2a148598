import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WordFinder } from "../../../../test/kit/word-finder.js";
import { type Evaluation, evaluate, type LabelledQuery, type Reply } from "./evaluate.js";
import type { CardText } from "./finder.js";

const reply = (verdict: string, fit: number, ...names: string[]): Reply => ({
  verdict,
  fit,
  ranked: names.map((name) => ({ name })),
});

/** Answers each text as the table says, and takes as many milliseconds as it says. */
function evaluated(
  table: readonly [text: string, expect: string | null, reply: Reply, tookMs?: number][],
  cards?: readonly CardText[],
): Promise<Evaluation> {
  let now = 1000;
  const replies = new Map(table.map(([text, , answer, tookMs]) => [text, { answer, tookMs: tookMs ?? 1 }]));
  return evaluate(
    table.map(([text, expected]) => ({ text, expect: expected })),
    async (text) => {
      const { answer, tookMs } = replies.get(text)!;
      now += tookMs;
      return answer;
    },
    {
      now: () => now,
      ...(cards === undefined ? {} : { cardsOf: (names) => cards.filter(({ name }) => names.includes(name)) }),
    },
  );
}

describe("CAT-9: figures", () => {
  test("count ranks whatever the verdict, and verdicts whatever the rank", async () => {
    const { served, unserved, ...figures } = await evaluated([
      ["first", "a", reply("match", 0.9, "a", "b", "c", "d")],
      ["third, refused", "a", reply("no_match", 0.2, "b", "c", "a")],
      ["fourth", "a", reply("ambiguous", 0.8, "b", "c", "d", "a")],
      ["nothing found", "a", reply("no_match", 0)],
      ["chat", null, reply("no_match", 0.1, "a")],
      ["chat that looks like work", null, reply("match", 0.7, "a")],
    ]);
    expect([served, unserved]).toEqual([4, 2]);
    expect(figures).toMatchObject({
      top1: 0.25,
      top3: 0.5,
      acceptedAtThreshold: 0.5,
      ambiguousAtThreshold: 0.25,
      rejectedAtThreshold: 0.5,
    });
  });

  test("tell how many of the unserved stay under the fit that 90 % of the served reach", async () => {
    const served = Array.from(
      { length: 10 },
      (_, i) => [`s${i}`, "a", reply("match", (i + 1) / 10, "a")] as [string, string, Reply],
    );
    const { thresholdAt90, rejectedAt90 } = await evaluated([
      ...served,
      ["u1", null, reply("match", 0.19, "a")],
      ["u2", null, reply("match", 0.2, "a")],
      ["u3", null, reply("match", 0.1, "a")],
      ["u4", null, reply("match", 1, "a")],
    ]);
    // Nine of ten reach 0.2; a request at the threshold is accepted.
    expect(thresholdAt90).toBe(0.2);
    expect(rejectedAt90).toBe(0.5);
  });

  test("are null where there is nothing to count", async () => {
    const none = await evaluate([], () => reply("match", 1, "a"), { now: () => 0 });
    expect(none).toMatchObject({
      served: 0,
      unserved: 0,
      top1: null,
      top3: null,
      acceptedAtThreshold: null,
      ambiguousAtThreshold: null,
      rejectedAtThreshold: null,
      thresholdAt90: null,
      rejectedAt90: null,
      p50Ms: null,
      p95Ms: null,
      confusions: [],
    });
    const servedOnly = await evaluated([["x", "a", reply("match", 0.9, "a")]]);
    expect(servedOnly).toMatchObject({ top1: 1, thresholdAt90: 0.9, rejectedAt90: null, rejectedAtThreshold: null });
    const unservedOnly = await evaluated([["x", null, reply("no_match", 0.1, "a")]]);
    expect(unservedOnly).toMatchObject({ top1: null, thresholdAt90: null, rejectedAt90: null, rejectedAtThreshold: 1 });
  });

  test("take times from the clock that is given, by nearest rank", async () => {
    const table = Array.from(
      { length: 20 },
      (_, i) => [`q${i}`, "a", reply("match", 1, "a"), i + 1] as [string, string, Reply, number],
    );
    expect(await evaluated(table)).toMatchObject({ p50Ms: 10, p95Ms: 19 });
  });

  test("stay in bounds and agree with each other for any answers", async () => {
    const name = fc.constantFrom("a", "b", "c", "d", "e");
    const query = fc.record({
      expect: fc.option(name),
      verdict: fc.constantFrom("match", "ambiguous", "no_match"),
      fit: fc.double({ min: 0, max: 1, noNaN: true }),
      ranked: fc.uniqueArray(name, { maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(query, { maxLength: 40 }), async (rows) => {
        const result = await evaluated(
          rows.map((row, i) => [`q${i}`, row.expect, reply(row.verdict, row.fit, ...row.ranked)]),
        );
        const shares = [result.top1, result.top3, result.acceptedAtThreshold, result.rejectedAt90];
        for (const part of shares) if (part !== null) expect(part >= 0 && part <= 1).toBe(true);
        if (result.top1 !== null) expect(result.top1).toBeLessThanOrEqual(result.top3!);
        const served = rows.filter((row) => row.expect !== null);
        const reaching = served.filter(({ fit }) => fit >= (result.thresholdAt90 ?? 0)).length;
        expect(reaching).toBeGreaterThanOrEqual(served.length * 0.9);
        const wrong = rows.filter(({ expect: wanted, verdict, ranked }) =>
          wanted === null
            ? verdict !== "no_match" && ranked.length > 0
            : ranked[0] !== wanted || verdict === "no_match",
        );
        expect(result.confusions.reduce((sum, { count }) => sum + count, 0)).toBe(wrong.length);
      }),
    );
  });

  test("are of a real finder as good as it is", async () => {
    const finder = new WordFinder();
    for (const card of [
      { name: "query_order", description: "where an order is", examples: ["where is my order"] },
      { name: "delete_order", description: "removes an order", examples: ["delete my order please"] },
    ])
      finder.put(card);
    const queries: LabelledQuery[] = [
      { text: "where is the order of yesterday", expect: "query_order" },
      { text: "please delete it", expect: "delete_order" },
      { text: "tell me a joke", expect: null },
    ];
    const result = await evaluate(queries, (text) => finder.ask(text), { now: () => 0 });
    expect(result).toMatchObject({ top1: 1, acceptedAtThreshold: 1, rejectedAtThreshold: 1, rejectedAt90: 1 });
  });
});

describe("CAT-9: confusions", () => {
  test("group requests that went the same wrong way, the most frequent first, with some of their texts", async () => {
    const wrong = Array.from(
      { length: 7 },
      (_, i) => [`w${i}`, "delete", reply("match", 0.9, "list", "delete")] as [string, string, Reply],
    );
    const { confusions } = await evaluated([
      ["refused", "list", reply("no_match", 0.1, "list")],
      ...wrong,
      ["chat", null, reply("match", 0.6, "list")],
      ["fine", "list", reply("match", 0.9, "list")],
    ]);
    expect(confusions).toEqual([
      { expected: "delete", got: "list", count: 7, texts: ["w0", "w1", "w2", "w3", "w4"] },
      { expected: "list", got: null, count: 1, texts: ["refused"] },
      { expected: null, got: "list", count: 1, texts: ["chat"] },
    ]);
  });
});
