import type { ChoosingReason } from "../../ports/chooser.js";
import type { Reading } from "../openai/client.js";
import { NONE } from "./question.js";

/** What a model said: which of the ids, by its place, or null and why. */
export interface Reply {
  readonly place: number | null;
  readonly reason: ChoosingReason;
}

/** An id in JSON, in a fence, takes less; in what is longer nobody looks for one. */
const CONTENT_CHARS_MAX = 200;

/**
 * Reads the body of an OpenAI-compatible answer to `POST /v1/chat/completions`. Only an id by itself counts, bare or as `choice`
 * of one JSON object: an id within prose may as well be a quotation of what some card says.
 */
export function readReply(text: string, ids: readonly string[]): Reading<Reply> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return unusable("what is not JSON");
  }
  const choices = (body as { choices?: unknown } | null)?.choices;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const { message, finish_reason: ended } = (first ?? {}) as { message?: unknown; finish_reason?: unknown };
  if (message === null || typeof message !== "object") return unusable("no message in `choices`");
  const { content, refusal } = message as { content?: unknown; refusal?: unknown };
  if ((typeof refusal === "string" && refusal !== "") || ended === "content_filter") return nothing("declined");
  const id = typeof content === "string" ? idIn(content) : undefined;
  if (id === NONE) return nothing("none");
  const place = id === undefined ? -1 : ids.indexOf(id);
  if (place < 0) return nothing(ended === "length" ? "cut_off" : "not_an_id");
  return { ok: true, value: { place, reason: "chosen" } };
}

function nothing(reason: ChoosingReason): Reading<Reply> {
  return { ok: true, value: { place: null, reason } };
}

function unusable(found: string): Reading<Reply> {
  const what = `answered 200 with ${found}; check that its base URL leads to an OpenAI-compatible API`;
  return { ok: false, reason: "bad_answer", what };
}

function idIn(content: string): string | undefined {
  if (content.length > CONTENT_CHARS_MAX) return undefined;
  const bare = content.trim();
  // Small models put JSON into a fence, whatever they are told.
  const said = /^```(?:json)?\s([^`]*)```$/.exec(bare)?.[1]?.trim() ?? bare;
  let value: unknown;
  try {
    value = JSON.parse(said);
  } catch {
    return said;
  }
  const id = value !== null && typeof value === "object" ? (value as { choice?: unknown }).choice : value;
  return typeof id === "string" ? id : undefined;
}
