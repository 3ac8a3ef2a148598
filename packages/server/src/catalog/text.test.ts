import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gramsOf, hashOf, isChinese, normalise, stem, wordsOf } from "./text.js";

describe("a text in normal form", () => {
  test.each([
    ["  Query_Order ", "query order"],
    ["ＳＱＬ　查询", "sql 查询"],
    ["order.cancel/now-please", "order cancel now please"],
    ["請幫我取消訂單", "请帮我取消订单"],
    ["", ""],
  ])("%j is %j", (text, plain) => {
    expect(normalise(text)).toBe(plain);
    expect(normalise(plain)).toBe(plain);
  });

  test("is Chinese from two characters on", () => {
    expect([isChinese("order 查"), isChinese("sql 查询"), isChinese("order")]).toEqual([false, true, false]);
  });
});

test("words lose their regular endings, and keep what is not one", () => {
  expect(wordsOf("canceled orders, their queries: sql")).toEqual(["cancel", "ord", "their", "queri", "sql"]);
});

test("words are those of Unicode's rules, also where they are found without them", () => {
  const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
  const byTheRules = (plain: string) =>
    [...segmenter.segment(plain)].filter((part) => part.isWordLike).map((part) => stem(part.segment));
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."abz019 ?!(),;:'单"), maxLength: 20 }), (plain) => {
      expect(wordsOf(plain)).toEqual(byTheRules(plain));
    }),
    { numRuns: 1_000 },
  );
});

describe("pieces of a text", () => {
  const common = (a: string, b: string): number => {
    const [x, y] = [gramsOf(a), gramsOf(b)];
    return [...x.keys()].filter((key) => y.has(key)).length / x.size;
  };

  test("are counted, of words with their edges, and told by a hash", () => {
    const grams = gramsOf("to to");
    expect([...grams.entries()]).toEqual([
      [hashOf(" to"), 2],
      [hashOf(" to "), 2],
      [hashOf("to "), 2],
    ]);
  });

  test("of Chinese are one to three characters", () => {
    expect(new Set(gramsOf("取消单").keys())).toEqual(
      new Set(["取", "消", "单", "取消", "消单", "取消单"].map(hashOf)),
    );
  });

  test("a typing error leaves most of them, another word none", () => {
    expect(common("cancellation", "cancelation")).toBeGreaterThan(0.6);
    expect(common("cancellation", "weather")).toBe(0);
  });

  test("a word of one letter is a piece as well", () => {
    expect([...gramsOf("a").keys()]).toEqual([hashOf(" a ")]);
  });
});
