/** How near one text comes to cards, as a better embedder than the index's own sees it. */
export interface Nearness {
  /** Cosine with a card, 0..1, its texts of these numbers left out; undefined if the card is not embedded yet, or nothing is left of it. */
  of(name: string, without?: ReadonlySet<number>): number | undefined;
}

/** A text's vector, and which language's middle it is measured from. */
export interface Embedded {
  readonly vector: Float32Array;
  readonly chinese: boolean;
}

/** In a byte a number: with some hundred of them, what is rounded away is a thousandth of a cosine. */
interface Packed {
  readonly bytes: Int8Array;
  /** What one step is worth. */
  readonly step: number;
  readonly chinese: boolean;
}

/** How many of a catalog's own texts the everyday ones weigh against. */
const EVERYDAY_WORTH = 40;
const STEPS = 127;

/**
 * The vectors of all texts of all cards, by a card's name. A text is measured from the middle of its language and of what this
 * catalog is about, since the raw cosines of common models lie between 0.75 and 0.9 whatever is said; measured so, they tell
 * a request in one language from a card in the other by what it means.
 */
export class Passages {
  private readonly cards = new Map<string, readonly Packed[]>();
  /** How far the catalog's texts lie from their languages' middles, summed over all. */
  private readonly away: Float64Array;
  private texts = 0;

  /** `middles` are the means of everyday texts, of each language. */
  constructor(private readonly middles: { readonly chinese: Float32Array; readonly other: Float32Array }) {
    this.away = new Float64Array(middles.other.length);
  }

  get size(): number {
    return this.cards.size;
  }

  put(name: string, texts: readonly Embedded[]): void {
    this.remove(name);
    const packed = texts.map(pack);
    this.cards.set(name, packed);
    for (const text of packed) this.count(text, 1);
  }

  remove(name: string): void {
    const texts = this.cards.get(name);
    if (texts === undefined) return;
    this.cards.delete(name);
    for (const text of texts) this.count(text, -1);
  }

  /** How near a request is to each card. */
  nearness({ vector, chinese }: Embedded): Nearness {
    const from = this.middle(chinese);
    return this.measured(Float32Array.from(vector, (x, i) => x - from[i]!));
  }

  /** The same for a text that is on a card; undefined if that is not embedded. */
  nearnessOf(name: string, text: number): Nearness | undefined {
    const packed = this.cards.get(name)?.[text];
    if (packed === undefined) return undefined;
    const from = this.middle(packed.chinese);
    return this.measured(Float32Array.from(packed.bytes, (byte, i) => byte * packed.step - from[i]!));
  }

  private measured(text: Float32Array): Nearness {
    const length = Math.sqrt(dot(text, text));
    const middles = [this.middle(false), this.middle(true)];
    return {
      of: (name, without) => {
        const sum = new Float32Array(text.length);
        let count = 0;
        for (const [i, { bytes, step, chinese }] of (this.cards.get(name) ?? []).entries()) {
          if (without?.has(i)) continue;
          count++;
          const from = middles[chinese ? 1 : 0]!;
          for (let at = 0; at < sum.length; at++) sum[at] = sum[at]! + bytes[at]! * step - from[at]!;
        }
        if (count === 0) return undefined;
        const scale = length * Math.sqrt(dot(sum, sum));
        return scale === 0 ? 0 : Math.max(0, dot(text, sum) / scale);
      },
    };
  }

  private middle(chinese: boolean): Float32Array {
    const share = 1 / (this.texts + EVERYDAY_WORTH);
    return this.ofLanguage(chinese).map((x, i) => x + this.away[i]! * share);
  }

  private count({ bytes, step, chinese }: Packed, times: 1 | -1): void {
    const from = this.ofLanguage(chinese);
    this.texts += times;
    for (let at = 0; at < bytes.length; at++) this.away[at] = this.away[at]! + times * (bytes[at]! * step - from[at]!);
  }

  private ofLanguage(chinese: boolean): Float32Array {
    return chinese ? this.middles.chinese : this.middles.other;
  }
}

function pack({ vector, chinese }: Embedded): Packed {
  let most = 0;
  for (const x of vector) most = Math.max(most, Math.abs(x));
  const step = most === 0 ? 1 : most / STEPS;
  return { bytes: Int8Array.from(vector, (x) => Math.round(x / step)), step, chinese };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** The mean of vectors of equal length, of which there is at least one. */
export function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + vector[i]! / vectors.length;
  return sum;
}
