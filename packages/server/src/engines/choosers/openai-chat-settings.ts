import { ReachError } from "@agent-reach/protocol";
import { checkKey, resourceUrl } from "../openai/address.js";

export interface OpenAiChatSettings {
  /** `https://api.openai.com`, with or without `/v1`, or the whole address that ends in `/chat/completions`. */
  baseUrl: string;
  model: string;
  /** Sent as bearer token; it appears in no message and no log. */
  key?: string | undefined;
  /** From the sending of a request to the choice, later attempts included. */
  timeoutMs: number;
  /** Most choices that are remembered. */
  cacheMax: number;
}

/** Throws INVALID_REQUEST which names the setting. */
export function checkOpenAiChatSettings(settings: OpenAiChatSettings): void {
  chatUrl(settings.baseUrl);
  if (settings.model.trim() === "") throw wrong("model", "is empty; name the model that the server offers");
  checkKey(settings.key, wrong);
  const whole = { timeoutMs: [1, 3_600_000], cacheMax: [0, 1_000_000] } as const;
  for (const [name, [min, max]] of Object.entries(whole) as [keyof typeof whole, readonly [number, number]][]) {
    const value = settings[name];
    if (!(Number.isInteger(value) && value >= min && value <= max))
      throw wrong(name, `is ${value}; a whole number from ${min} to ${max} is needed`);
  }
}

/** Where requests are posted to. */
export function chatUrl(baseUrl: string): string {
  return resourceUrl(baseUrl, "chat/completions", wrong);
}

function wrong(setting: string, what: string): ReachError {
  return new ReachError("INVALID_REQUEST", `the language model's ${setting} ${what}`, { path: setting });
}
