import { createHash } from "node:crypto";
import { ReachError } from "@agent-reach/protocol";
import { checkKey, resourceUrl } from "../openai/address.js";
import { DIMS_MAX } from "./openai-answer.js";

export interface OpenAiSettings {
  /** `https://api.openai.com`, with or without `/v1`, or the whole address that ends in `/embeddings`. */
  baseUrl: string;
  model: string;
  /** Sent as bearer token; it appears in no message and no log. */
  key?: string | undefined;
  /** Asked of models that can give shorter vectors; undefined: what the model gives. */
  dimensions?: number | undefined;
  /** Put before every text that asks, and every text that is searched: some models were trained so ("query: "). */
  queryPrefix: string;
  passagePrefix: string;
  /** Most texts in one request. */
  batchSize: number;
  /** From the sending of a batch to its vectors, later attempts included. */
  timeoutMs: number;
  /** Most requests at once. */
  requestsMax: number;
  /** What the model is meant for; `["*"]`: whatever it was trained on. */
  languages: readonly string[];
}

export const openAiDefaults = {
  queryPrefix: "",
  passagePrefix: "",
  // A model on two cores takes some 50 ms a text: small batches let a question through while a catalog is embedded.
  batchSize: 16,
  timeoutMs: 30_000,
  requestsMax: 3,
  languages: ["*"],
} as const satisfies Partial<OpenAiSettings>;

/** Part of every id: raised when the same text no longer gives the same vector, because it is prepared otherwise. */
const PREPARATION = 1;

/** Where texts are posted to. */
export function embeddingsUrl(baseUrl: string): string {
  return resourceUrl(baseUrl, "embeddings", wrong);
}

/** Throws INVALID_REQUEST which names the setting. */
export function checkOpenAiSettings(settings: OpenAiSettings): void {
  embeddingsUrl(settings.baseUrl);
  if (settings.model.trim() === "") throw wrong("model", "is empty; name the model that the server offers");
  checkKey(settings.key, wrong);
  const whole = { dimensions: DIMS_MAX, batchSize: 512, timeoutMs: 3_600_000, requestsMax: 64 } as const;
  for (const [name, max] of Object.entries(whole) as [keyof typeof whole, number][]) {
    const value = settings[name];
    if (value !== undefined && !(Number.isInteger(value) && value >= 1 && value <= max))
      throw wrong(name, `is ${value}; a whole number from 1 to ${max} is needed`);
  }
}

function wrong(setting: string, what: string): ReachError {
  return new ReachError("INVALID_REQUEST", `the embedder's ${setting} ${what}`, { path: setting });
}

/**
 * The space of the vectors, in one word: model, dimensions, and a digest of all else that changes a vector. The address is
 * among it, since many servers answer to any model's name.
 */
export function spaceId(settings: OpenAiSettings, dims: number): string {
  const { baseUrl, model, dimensions, queryPrefix, passagePrefix } = settings;
  const rest = [embeddingsUrl(baseUrl), model, dimensions ?? 0, queryPrefix, passagePrefix, PREPARATION];
  const digest = createHash("sha256").update(JSON.stringify(rest)).digest("hex").slice(0, 12);
  return `openai-${model}-${dims}-${digest}`;
}
