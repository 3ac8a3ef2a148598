import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { openStaticEmbedder, type StaticEmbedder } from "./embedder.js";

/** Sentences and their vectors as the builder of the table computes them, in Python. */
const expected = JSON.parse(readFileSync(new URL("expected.json", import.meta.url), "utf8")) as [string, number[]][];

describe("the table in the box", () => {
  let embedder: StaticEmbedder;
  beforeAll(async () => {
    embedder = await openStaticEmbedder();
  });
  const near = (a: string, b: string): number => {
    const [x, y] = [embedder.embedOne(a), embedder.embedOne(b)];
    return x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  };

  test("gives the vectors which its builder computed, in both languages", () => {
    expect(expected.length).toBeGreaterThanOrEqual(20);
    for (const [text, vector] of expected) {
      const ours = embedder.embedOne(text);
      expect(ours.length).toBe(vector.length);
      const apart = Math.max(...vector.map((x, i) => Math.abs(x - ours[i]!)));
      expect(apart, text).toBeLessThan(1e-4);
    }
  });

  test.each([
    ["订单", "order", "weather"],
    ["取消", "cancel", "approve"],
    ["删除订单", "delete the order", "play a song"],
    ["退款什么时候到账", "when will I get my refund", "book a meeting room"],
    ["明天会下雨吗", "weather forecast for tomorrow", "reset my password"],
    ["book a table for two", "reserve a seat at the restaurant", "play some music"],
    ["fire an alert when the server is down", "monitor the host and warn us", "bake a cake"],
  ])("%s is nearer to %s than to %s", (text, nearer, further) => {
    expect(near(text, nearer)).toBeGreaterThan(near(text, further) + 0.15);
  });

  test.each([
    ["orderbook", "order"],
    ["meetingroom", "room"],
    ["refundability", "refund"],
  ])("spells %s, which it does not know, and finds %s in it", (text, part) => {
    expect(near(text, part)).toBeGreaterThan(near(text, "weather") + 0.3);
  });

  test("knows nothing of a text without words, which is near to nothing", () => {
    for (const text of ["", " \n", "🙂", "……", "ไม่"]) expect(Math.hypot(...embedder.embedOne(text))).toBe(0);
    expect(near("", "order")).toBe(0);
  });

  test("names the languages and the space it is of", () => {
    expect(embedder.languages).toEqual(["en", "zh"]);
    expect(embedder.id).toMatch(/^static-zh-en-\d+$/);
    expect(embedder.dims).toBe(expected[0]![1].length);
  });
});

test("a file that is not there is an error which names it", async () => {
  await expect(openStaticEmbedder("/nowhere/words.bin")).rejects.toThrow("/nowhere/words.bin");
});
