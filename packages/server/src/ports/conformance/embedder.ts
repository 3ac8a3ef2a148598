import { beforeAll, describe, expect, test } from "vitest";
import type { Embedder } from "../embedder.js";

export interface EmbedderSubject {
  open(): Promise<Embedder>;
  /** A text in a language it is meant for, something near to it and something far from it. */
  texts: { text: string; near: string; far: string }[];
}

/** The promises of Embedder, for one engine. */
export function embedderConformance({ open, texts }: EmbedderSubject): void {
  describe("Embedder", () => {
    let embedder: Embedder;
    beforeAll(async () => {
      embedder = await open();
    });
    const length = (vector: Float32Array) => Math.hypot(...vector);
    const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

    test("E1: a text has the same vector alone, in a batch, and from another one of the same id", async () => {
      const all = texts.flatMap(({ text, near, far }) => [text, near, far]);
      const other = await open();
      expect(other.id).toBe(embedder.id);
      const together = await embedder.embed(all);
      for (const [i, text] of all.entries()) {
        const [alone] = await other.embed([text]);
        expect(cosine(alone!, together[i]!)).toBeGreaterThan(0.9999);
      }
    });

    test("E2: as many vectors as texts, in their order, of finite numbers", async () => {
      expect(await embedder.embed([])).toEqual([]);
      const { text, far } = texts[0]!;
      const [a, b, c] = await embedder.embed([text, far, text]);
      expect([a!.length, b!.length, c!.length]).toEqual([embedder.dims, embedder.dims, embedder.dims]);
      expect(a).toEqual(c);
      expect(a).not.toEqual(b);
      expect([...a!, ...b!].every(Number.isFinite)).toBe(true);
    });

    test("E3: a vector has length 1, or is all zero", async () => {
      const odd = ["", "   ", "\u0000", "🙂", "\ud800", "。。。", "ꙮ", "0x1f", "'", "a".repeat(300)];
      for (const vector of await embedder.embed([...odd, ...texts.map(({ text }) => text)])) {
        const size = length(vector);
        expect(size === 0 || Math.abs(size - 1) < 1e-4).toBe(true);
      }
    });

    test("E4: of a text of a million letters the beginning counts", async () => {
      const { text } = texts[0]!;
      const [short, long] = await embedder.embed([text, `${text} `.repeat(1 + 1_000_000 / text.length)]);
      expect(length(long!)).toBeCloseTo(1, 3);
      expect(cosine(short!, long!)).toBeGreaterThan(0.9);
    });

    test("E5: an aborted signal rejects with its reason, and the next text is embedded as ever", async () => {
      const { text } = texts[0]!;
      const reason = new Error("not wanted any more");
      await expect(embedder.embed([text], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(length((await embedder.embed([text]))[0]!)).toBeCloseTo(1, 3);
    });

    test("E6: others get the event loop while thousands of texts are embedded", async () => {
      let turns = 0;
      let done = false;
      const turn = () => {
        turns++;
        if (!done) setImmediate(turn);
      };
      setImmediate(turn);
      await embedder.embed(Array.from({ length: 20_000 }, (_, i) => texts[i % texts.length]!.text));
      done = true;
      expect(turns).toBeGreaterThan(3);
    });

    test.each(texts)("what is near in meaning is nearer: $text", async ({ text, near, far }) => {
      const [a, b, c] = await embedder.embed([text, near, far]);
      expect(cosine(a!, b!)).toBeGreaterThan(cosine(a!, c!) + 0.1);
    });
  });
}
