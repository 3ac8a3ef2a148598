import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readTable, type Table } from "./table.js";
import { cut } from "./tokens.js";

/** What of a text counts; the rest is not read. */
export const TEXT_CHARS_MAX = 4_000;
/** So many letters are embedded at a stretch (some milliseconds), then others may have the event loop. */
const STRETCH_CHARS = 20_000;

/** The table in the box: data/zh-en.bin beside this package. */
const TABLE = fileURLToPath(new URL("../data/zh-en.bin", import.meta.url));

/**
 * Embeds English and Simplified Chinese from a table of word vectors: the sum of the words' rows, scaled to length 1. No
 * network, no native code, tens of microseconds a sentence. Word order is not seen, and a word the table does not know is
 * spelt out of smaller ones, or passed over.
 */
export class StaticEmbedder {
  readonly id: string;
  readonly dims: number;
  readonly languages: readonly string[];

  private readonly table: Table;

  constructor(table: Table) {
    this.table = table;
    this.id = table.id;
    this.dims = table.dims;
    this.languages = table.languages;
  }

  /** Rejects with the signal's reason once it aborts; no other cause. */
  async embed(texts: readonly string[], options: { signal?: AbortSignal } = {}): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    let chars = 0;
    for (const text of texts) {
      options.signal?.throwIfAborted();
      vectors.push(this.embedOne(text));
      chars += Math.min(text.length, TEXT_CHARS_MAX);
      if (chars >= STRETCH_CHARS) {
        chars = 0;
        await setImmediate();
      }
    }
    return vectors;
  }

  /** One text, at once. Of length 1, or all zero if the text has no word the table knows. */
  embedOne(text: string): Float32Array {
    const vector = this.sumOf(text);
    const length = lengthOf(vector);
    if (length > 0) for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! / length;
    return vector;
  }

  /**
   * How much one text says: the length of its vector before it is scaled. Rare words weigh more than common ones, by how often they
   * occur in the language. 0 if the table knows no word of it.
   */
  weightOf(text: string): number {
    return lengthOf(this.sumOf(text));
  }

  private sumOf(text: string): Float32Array {
    const { dims, rows, scales, numbers } = this.table;
    const sum = new Float32Array(dims);
    for (const number of cut(text.slice(0, TEXT_CHARS_MAX), numbers)) {
      const scale = scales[number]!;
      const at = number * dims;
      for (let i = 0; i < dims; i++) sum[i] = sum[i]! + rows[at + i]! * scale;
    }
    return sum;
  }
}

function lengthOf(vector: Float32Array): number {
  let squares = 0;
  for (const x of vector) squares += x * x;
  return Math.sqrt(squares);
}

/** Reads the table in the box, or another one of the same format. Rejects with an Error that says what is wrong with it. */
export async function openStaticEmbedder(file: string = TABLE): Promise<StaticEmbedder> {
  return new StaticEmbedder(readTable(await readFile(file), file));
}
