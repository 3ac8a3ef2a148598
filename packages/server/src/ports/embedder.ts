/**
 * Texts to vectors, so that nearness of vectors is nearness of meaning.
 *
 * E1  One `id`, one space: the same text gives the same vector (to rounding) from every embedder of this id, in any batch and
 *     in any process. Vectors, thresholds and caches of one id are never used with another.
 * E2  `embed` answers as many vectors as it was given texts, in their order, each of `dims` finite numbers.
 * E3  A vector has length 1, or is all zero: then the embedder knows nothing of that text, which is near to nothing.
 * E4  An empty text, a text of blanks, and a text of any length are allowed; of a very long one only the beginning counts.
 * E5  `embed` rejects as a whole when it cannot answer, and has then kept nothing. It rejects soon after `signal` aborts.
 * E6  It does not hold the event loop for long, whatever the number of texts: long work is done in pieces, or elsewhere.
 *
 * It promises nothing about how near is near: thresholds belong to an embedder and a catalog, and are learnt there. It need not
 * fold Traditional Chinese: whoever asks has done so. A language that is not listed may still be read, well or badly.
 */
export interface Embedder {
  /** Names the space, its version included: what was computed under one id is worth nothing under another. */
  readonly id: string;
  /** How many numbers a vector has. */
  readonly dims: number;
  /** BCP 47 tags of the languages it is meant for; `["*"]`: whatever its model was trained on. */
  readonly languages: readonly string[];
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
}

export interface EmbedOptions {
  /** Some models read a question otherwise than what is searched; default "passage". */
  readonly role?: "query" | "passage";
  readonly signal?: AbortSignal;
}
