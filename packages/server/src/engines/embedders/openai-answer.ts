import type { FailureReason } from "./embedder-failure.js";

/** What is expected of an answer. */
export interface Expected {
  count: number;
  /** How many numbers a vector must have, and who says so; undefined: the first vector of this answer decides. */
  dims: { value: number; source: "setting" | "first answer" } | undefined;
}

export type Answer =
  | { readonly ok: true; readonly vectors: Float32Array[] }
  | { readonly ok: false; readonly reason: FailureReason; readonly what: string };

/** Shorter than this is no direction but the rounding of zero. */
const LENGTH_MIN = 1e-12;
/** The largest models there are have half of it. */
export const DIMS_MAX = 8192;

class Unusable extends Error {
  readonly reason: FailureReason;
  constructor(what: string, reason: FailureReason = "bad_answer") {
    super(what);
    this.reason = reason;
  }
}

/**
 * Reads the body of an OpenAI-compatible answer to `POST /v1/embeddings`, and makes every vector of length 1. One vector that
 * cannot be used makes the whole answer unusable: its neighbours come from the same model. Vectors are numbered from 1, as
 * people count. A server may answer base64 of little-endian float32 where lists of numbers were asked for.
 */
export function readAnswer(text: string, expected: Expected): Answer {
  try {
    return { ok: true, vectors: vectorsOf(text, expected) };
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    return { ok: false, reason: error.reason, what: error.message };
  }
}

function vectorsOf(text: string, { count, dims }: Expected): Float32Array[] {
  const items = inOrder(itemsOf(text), count);
  let wanted = dims;
  return items.map(({ embedding }, i) => {
    const which = `vector ${i + 1} of ${count}`;
    const numbers = numbersOf(embedding, which);
    const { length } = numbers;
    if (length === 0 || length > DIMS_MAX)
      throw new Unusable(
        `answered ${which} with ${length} numbers, where 1 to ${DIMS_MAX} can be used; check its model`,
      );
    wanted ??= { value: length, source: "first answer" };
    if (length !== wanted.value) throw new Unusable(otherDims(which, length, wanted.value, wanted.source));
    return normalised(numbers, which);
  });
}

function otherDims(which: string, length: number, wanted: number, source: "setting" | "first answer"): string {
  const found = `answered ${which} with ${length} numbers`;
  return source === "setting"
    ? `${found}, where its setting \`dimensions\` says ${wanted}; set what the model gives, or leave it away`
    : `${found}, where its first answer had ${wanted}: another model answers now; start the node again to embed anew`;
}

interface Item {
  index?: unknown;
  embedding?: unknown;
}

function itemsOf(text: string): Item[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Unusable("answered 200 with what is not JSON; check that its base URL leads to an OpenAI-compatible API");
  }
  const data = (body as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.some((item) => item === null || typeof item !== "object"))
    throw new Unusable(
      "answered 200 without a list of embeddings in `data`; check that its base URL leads to an OpenAI-compatible API",
    );
  return data as Item[];
}

/** By `index` where it is given, as the order in the list is not promised; else as they stand. */
function inOrder(items: Item[], count: number): Item[] {
  if (items.length !== count)
    throw new Unusable(
      `answered ${items.length} vectors to ${count} texts; it must give one for each, see to the server or set a smaller batch`,
    );
  if (items.every(({ index }) => index === undefined)) return items;
  const ordered = new Array<Item | undefined>(count);
  for (const item of items) {
    const at = item.index;
    if (typeof at !== "number" || !Number.isInteger(at) || at < 0 || at >= count || ordered[at] !== undefined)
      throw new Unusable(
        `answered ${count} vectors whose \`index\` are not 0 to ${count - 1}, each once; nobody can tell which is whose`,
      );
    ordered[at] = item;
  }
  return ordered as Item[];
}

function numbersOf(embedding: unknown, which: string): ArrayLike<unknown> {
  if (Array.isArray(embedding)) return embedding;
  if (typeof embedding !== "string")
    throw new Unusable(`answered ${which} with no list of numbers in \`embedding\`; see to the server`);
  const bytes = Buffer.from(embedding, "base64");
  if (bytes.length % 4 !== 0 || bytes.toString("base64").replace(/=+$/, "") !== embedding.replace(/=+$/, ""))
    throw new Unusable(`answered ${which} as text which is not base64 of 32-bit floats; see to the server`);
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

function normalised(numbers: ArrayLike<unknown>, which: string): Float32Array {
  const vector = new Float32Array(numbers.length);
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const x = numbers[i];
    if (typeof x !== "number" || !Number.isFinite(x)) {
      const found = typeof x === "number" ? String(x) : x === null ? "null" : `a value of type ${typeof x}`;
      throw new Unusable(`answered ${which} with ${found} where number ${i + 1} should be; see to the model`);
    }
    squares += x * x;
  }
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length))
    throw new Unusable(`answered ${which} with numbers too large to compute with; see to the model`);
  if (length < LENGTH_MIN)
    throw new Unusable(
      `answered ${which} with nothing but zeros, which is near to nothing; its model may not know the text's language`,
      "zero_vector",
    );
  for (let i = 0; i < vector.length; i++) vector[i] = (numbers[i] as number) / length;
  return vector;
}
