import type { System } from "../../ports/system.js";
import { OpenAiClient } from "../openai/client.js";
import { type Expected, readAnswer } from "./openai-answer.js";
import { embeddingsUrl, type OpenAiSettings } from "./openai-settings.js";

/** A number written out in full takes 24 letters, and DIMS_MAX of them are one vector. */
const ANSWER_BYTES_PER_TEXT = 256 * 1024;
const ANSWER_BYTES_LEAST = 64 * 1024;

/** Posts batches of texts to an OpenAI-compatible server, and holds it to the dimensions of its first answer. */
export class OpenAiEndpoint {
  /** How messages call it. */
  readonly name: string;
  private readonly client: OpenAiClient;
  private dims: Expected["dims"];

  constructor(
    private readonly settings: OpenAiSettings,
    system: System,
  ) {
    const { model, key, dimensions, timeoutMs, requestsMax, batchSize } = settings;
    const url = embeddingsUrl(settings.baseUrl);
    this.name = `${model} at ${url}`;
    if (dimensions !== undefined) this.dims = { value: dimensions, source: "setting" };
    const answerBytesMax = ANSWER_BYTES_LEAST + batchSize * ANSWER_BYTES_PER_TEXT;
    const advice = {
      oversize: `more than ${batchSize} vectors can take`,
      tooLarge: "set a smaller batch",
      refused: "check the model, `dimensions` and the batch size",
    };
    this.client = new OpenAiClient(
      { url, key, timeoutMs, requestsMax, answerBytesMax, advice },
      { kind: "embedder", name: this.name },
      system,
    );
  }

  /** At most `batchSize` texts. Rejects with the signal's reason, or a ReachError with `details.reason`. `hurried`: as of an Exchange. */
  embed(texts: readonly string[], signal: AbortSignal, hurried = false): Promise<Float32Array[]> {
    const { model, dimensions, timeoutMs } = this.settings;
    const body = JSON.stringify({
      model,
      input: texts,
      encoding_format: "float",
      ...(dimensions === undefined ? {} : { dimensions }),
    });
    const late = `${texts.length} texts within ${timeoutMs} ms; see to the server, set smaller batches, or allow more time`;
    return this.client.ask(
      {
        body,
        timeoutMs,
        hurried,
        late,
        secrets: texts,
        read: (text) => {
          const answer = readAnswer(text, { count: texts.length, dims: this.dims });
          if (!answer.ok) return answer;
          this.dims ??= { value: answer.vectors[0]!.length, source: "first answer" };
          return { ok: true, value: answer.vectors };
        },
      },
      signal,
    );
  }

  close(): void {
    this.client.close();
  }
}
