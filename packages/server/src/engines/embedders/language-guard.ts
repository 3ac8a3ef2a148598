import type { Embedder } from "../../ports/embedder.js";
import { failureReason } from "./embedder-failure.js";

/** Sentences that have nothing in common but their length, and letters of the same script that mean nothing. */
interface Sample {
  readonly sentences: readonly [string, string, string];
  readonly nonsense: string;
}

/**
 * Of equal length in the language's own pieces, since a tokeniser that knows none of them makes as many unknown pieces, and
 * then they are all the same to the model.
 */
const samples: Readonly<Record<string, Sample>> = {
  en: {
    sentences: ["please cancel my meeting", "wool sweaters shrink quickly", "turn the volume down"],
    nonsense: "xqz vbrkj jtwx qplmz",
  },
  zh: {
    sentences: ["明天下午三点开会", "这件毛衣洗后缩水", "请把音乐声调小些"],
    nonsense: "龘靐齉爩麤灪龖厵",
  },
};

export const sampledLanguages: readonly string[] = Object.keys(samples);

/** Unlike sentences of a language that multilingual-e5-small reads have cosines up to 0.87, the closest of common models. */
const SAME = 0.97;

/**
 * Whether the embedder tells sentences of the language apart: false when three unlike ones come out nearly equal, none of
 * them differs from nonsense, or it knows nothing of one. A language of which there is no sample is taken on trust.
 */
export async function readsLanguage(
  embedder: Pick<Embedder, "embed">,
  language: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const sample = Object.hasOwn(samples, language) ? samples[language] : undefined;
  if (sample === undefined) return true;
  let vectors: Float32Array[];
  try {
    vectors = await embedder.embed([...sample.sentences, sample.nonsense], signal === undefined ? {} : { signal });
  } catch (error) {
    if (failureReason(error) === "zero_vector") return false;
    throw error;
  }
  const [a, b, c, nonsense] = vectors as [Float32Array, Float32Array, Float32Array, Float32Array];
  if ([a, b, c].some((vector) => dot(vector, vector) === 0)) return false;
  const same = (x: Float32Array, y: Float32Array) => dot(x, y) > SAME;
  const allEqual = same(a, b) && same(b, c) && same(a, c);
  return !allEqual && ![a, b, c].every((vector) => same(vector, nonsense));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/**
 * Of the languages an embedder is said to read, those which it does; `unread` are the others. With `"*"` among them all
 * that is sampled is tried, and if it fails in one, only what was seen to work is left.
 */
export async function readLanguages(
  embedder: Pick<Embedder, "embed">,
  languages: readonly string[],
  signal?: AbortSignal,
): Promise<{ read: readonly string[]; unread: readonly string[] }> {
  const any = languages.includes("*");
  const tried = any ? [...new Set([...languages.filter((name) => name !== "*"), ...sampledLanguages])] : languages;
  const read: string[] = [];
  const unread: string[] = [];
  for (const language of tried) ((await readsLanguage(embedder, language, signal)) ? read : unread).push(language);
  return { read: unread.length === 0 ? languages : read, unread };
}
