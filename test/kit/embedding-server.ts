import { type ApiRespond, ApiServer } from "./api-server.js";

interface EmbeddingBody {
  model: string;
  input: string[];
  encoding_format?: string;
  dimensions?: number;
}

export type Respond = ApiRespond<EmbeddingBody>;

/**
 * A server that speaks `POST /v1/embeddings`. Its vectors count groups of three letters within words, so texts that share letters
 * are near.
 */
export class EmbeddingServer extends ApiServer<EmbeddingBody> {
  /** All texts that were ever sent here. */
  readonly texts: string[] = [];
  respond: Respond = ({ body }) => ({ body: this.well(body.input) });

  private constructor(readonly dims: number) {
    super();
  }

  static listen(dims = 64): Promise<EmbeddingServer> {
    return new EmbeddingServer(dims).listening();
  }

  /** An answer as it should be. */
  well(texts: readonly string[]): { data: { index: number; embedding: number[] }[] } {
    return { data: texts.map((text, index) => ({ index, embedding: this.vector(text) })) };
  }

  vector(text: string): number[] {
    const vector = new Array<number>(this.dims).fill(0);
    for (const word of text.split(" ")) {
      const letters = ["^", ...word, "$"];
      for (let i = 0; i + 1 < letters.length; i++) {
        let place = 7;
        for (const letter of letters.slice(i, i + 3)) place = (Math.imul(place, 31) + letter.codePointAt(0)!) >>> 0;
        vector[place % this.dims]! += 1;
      }
    }
    return vector;
  }

  protected heard({ input }: EmbeddingBody): void {
    this.texts.push(...input);
  }
}
