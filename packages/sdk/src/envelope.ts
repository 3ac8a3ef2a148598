import { type CallEnvelope, type ErrorBody, limits, type SubmitEnvelope, traceNamedAfter } from "@agent-reach/protocol";
import { failure } from "./failure.js";
import { toJson } from "./json.js";

/** An envelope made ready: what stays the same over repeats is text, so that the caller may change his objects meanwhile. */
export interface Prepared {
  readonly messageId: string;
  readonly traceId: string;
  /** Milliseconds; undefined leaves the deadline to the node (30 s, or what the capability hints at). */
  readonly timeoutMs: number | undefined;
  /** All the rest of the params, as the inside of a JSON object that begins with a comma, or empty. */
  rest: string;
  readonly error: ErrorBody | undefined;
}

/** Never throws: what is wrong with an envelope is returned as the failure of its call. */
export function prepare(envelope: CallEnvelope | SubmitEnvelope, newId: () => string): Prepared {
  let error: ErrorBody | undefined;
  let messageId = envelope.messageId ?? newId();
  if (typeof envelope.messageId === "string" && plain.test(messageId)) {
    // It goes into every frame as it is; and in lower case, as the node names it in all that it says of it.
    messageId = messageId.toLowerCase();
  } else if (envelope.messageId !== undefined) {
    const text = `messageId is ${String(messageId)}; give a UUID, or none and one is made`;
    error = failure("INVALID_REQUEST", text, { path: "messageId" });
    messageId = newId();
  }
  const traceId = envelope.traceId ?? traceNamedAfter(messageId);
  let timeoutMs = envelope.timeoutMs;
  if (timeoutMs !== undefined) {
    if (Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= limits.waitMsMax) timeoutMs = Math.ceil(timeoutMs);
    else {
      const text = `timeoutMs is ${String(timeoutMs)}; give milliseconds, 1 to ${limits.waitMsMax}`;
      error ??= failure("INVALID_REQUEST", text, { path: "timeoutMs" });
    }
  }
  const input = envelope.input === undefined ? undefined : toJson(envelope.input);
  if (typeof input === "object") {
    const path =
      input.path === "$" ? "input" : input.path.startsWith("[") ? `input${input.path}` : `input.${input.path}`;
    error ??= failure("INVALID_INPUT", `${path} is ${input.reason}`, { path });
  }
  if (error) return { messageId, traceId, timeoutMs, rest: "", error };
  // Ours is hex, and looking at it first would make one text of its pieces, which writing the frame does anyway.
  let rest = `,"traceId":${envelope.traceId === undefined ? `"${traceId}"` : quote(traceId)}`;
  // By hand, since a copy of the envelope without four fields costs more than all the rest of a call.
  for (const key in envelope) {
    if (key === "messageId" || key === "timeoutMs" || key === "traceId" || key === "input") continue;
    const value = envelope[key as keyof typeof envelope] as unknown;
    if (value === undefined) continue;
    const text = typeof value === "string" ? quote(value) : JSON.stringify(value);
    if (text !== undefined) rest += (heads.get(key) ?? `,${quote(key)}:`) + text;
  }
  if (input !== undefined) rest += `,"input":${input}`;
  return { messageId, traceId, timeoutMs, rest, error };
}

/** How the usual fields begin. */
const heads = new Map(
  ["capability", "target", "intent", "sessionRef", "sequence", "idempotencyKey", "parentId", "labels"].map((key) => [
    key,
    `,"${key}":`,
  ]),
);
const plain = /^[\w .:/@-]*$/;

function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}
