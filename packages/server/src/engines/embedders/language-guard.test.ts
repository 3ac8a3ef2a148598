import { openStaticEmbedder } from "@agent-reach/embedder-static";
import { describe, expect, test } from "vitest";
import { embedderFailure } from "./embedder-failure.js";
import { readLanguages, readsLanguage } from "./language-guard.js";

/** Knows a text by its Latin letters alone; all others are the same unknown piece to it, as to an English word-piece model. */
const latinOnly = {
  embed: async (texts: readonly string[]): Promise<Float32Array[]> =>
    texts.map((text) => {
      const vector = new Float32Array(27);
      for (const letter of text.toLowerCase()) {
        const place = letter.charCodeAt(0) - 97;
        vector[place >= 0 && place < 26 ? place : 26]! += 1;
      }
      const length = Math.hypot(...vector);
      return vector.map((x) => x / length);
    }),
};
/** Each text's own direction, but for those which it does not know: these have what `unknown` says. */
const knowing = (known: RegExp, unknown: readonly number[]) => ({
  embed: async (texts: readonly string[]): Promise<Float32Array[]> =>
    texts.map((text, i) => {
      if (!known.test(text)) return new Float32Array(unknown);
      const vector = new Float32Array(unknown.length);
      vector[i % unknown.length] = 1;
      return vector;
    }),
});

describe("CAT-4: the guard against an embedder that cannot read a language", () => {
  test("finds that the table in the box reads both of its languages", async () => {
    const embedder = await openStaticEmbedder();
    expect([await readsLanguage(embedder, "en"), await readsLanguage(embedder, "zh")]).toEqual([true, true]);
  });

  test("finds a language whose unlike sentences come out equal", async () => {
    expect([await readsLanguage(latinOnly, "en"), await readsLanguage(latinOnly, "zh")]).toEqual([true, false]);
  });

  test("is not misled by nonsense that comes out otherwise, where the sentences are all the same", async () => {
    expect(await readsLanguage(knowing(/龘/, [1, 0, 0, 0]), "zh")).toBe(false);
  });

  test("finds a language of which the embedder knows nothing, whether it says so by zeros or by a failure", async () => {
    expect(await readsLanguage(knowing(/^[ -~]+$/, [0, 0, 0, 0]), "zh")).toBe(false);
    const failing = { embed: () => Promise.reject(embedderFailure("e", "zero_vector", "answered zeros")) };
    expect(await readsLanguage(failing, "zh")).toBe(false);
  });

  test("does not take a failure of another kind for a language that is not read", async () => {
    const failure = embedderFailure("e", "timeout", "did not answer");
    await expect(readsLanguage({ embed: () => Promise.reject(failure) }, "zh")).rejects.toBe(failure);
  });

  test("takes a language without samples on trust, also by a name that every object has", async () => {
    expect([await readsLanguage(latinOnly, "fr"), await readsLanguage(latinOnly, "constructor")]).toEqual([true, true]);
  });

  test("drops what is not read from the languages, and knows what `*` leaves", async () => {
    expect(await readLanguages(latinOnly, ["en", "zh", "fr"])).toEqual({ read: ["en", "fr"], unread: ["zh"] });
    expect(await readLanguages(latinOnly, ["*"])).toEqual({ read: ["en"], unread: ["zh"] });
    expect(await readLanguages(await openStaticEmbedder(), ["*"])).toEqual({ read: ["*"], unread: [] });
  });
});
