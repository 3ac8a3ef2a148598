import { ReachError, type SubmitEnvelope, traceNamedAfter } from "@agent-reach/protocol";
import { readEnvelope, traceIdOf } from "@agent-reach/protocol/read";
import type { Caller } from "../access/access.js";
import { rawAt } from "../json/raw.js";
import type { System } from "../ports/system.js";
import type { MessageRequest } from "../router/message.js";
import { check } from "./validate.js";

/** Where the raw text of a message's members can be had: from the scan of its frame, or by looking again. */
export interface RawParams {
  raw(key: string): string | undefined;
  /** All of the parameters. */
  text(): string;
}

/** Reads the parameters of `call` or `submit` in any accepted spelling, and fills in what the sender left to us. */
export function readMessage(
  method: "call" | "submit",
  params: unknown,
  raw: RawParams,
  caller: Caller,
  system: System,
  inputBytesMax: number,
  /** The trace that it belongs to if it names none, by the message that it is nested in. */
  inheritedTrace: (parentId: string | undefined) => string | undefined = () => undefined,
): MessageRequest {
  if (params === null || typeof params !== "object" || Array.isArray(params)) {
    throw new ReachError("INVALID_REQUEST", `the parameters of ${method} must be an object.`, { path: "params" });
  }
  const { envelope: read, inputKey } = readEnvelope(params as Record<string, unknown>);
  check(method, read);
  const envelope = read as SubmitEnvelope;
  if (
    envelope.target?.agentId === undefined &&
    envelope.target?.instanceId === undefined &&
    envelope.capability === undefined &&
    envelope.intent === undefined
  ) {
    throw new ReachError("INVALID_REQUEST", "nothing says who is meant: give a capability, a target or an intent.", {
      path: "capability",
    });
  }
  if (method === "submit" && envelope.notBefore !== undefined && Number.isNaN(Date.parse(envelope.notBefore))) {
    throw new ReachError("INVALID_REQUEST", `"notBefore" is not an ISO 8601 time: ${envelope.notBefore}.`, {
      path: "notBefore",
    });
  }
  const input = envelope.input === undefined ? {} : envelope.input;
  const inputText =
    envelope.input === undefined
      ? "{}"
      : ((inputKey.length === 1 ? raw.raw(inputKey[0]!) : rawAt(raw.text(), inputKey)) ?? JSON.stringify(input));
  if (inputText.length * 3 > inputBytesMax) assertSize(inputText, inputBytesMax);
  const messageId = envelope.messageId ?? system.newId();
  const given = envelope.traceId ?? inheritedTrace(envelope.parentId);
  const trace = given === undefined ? undefined : traceIdOf(given);
  const { sessionRef, sequence, parentId, labels } = envelope;
  return {
    caller,
    messageId,
    traceId: trace?.traceId ?? traceNamedAfter(messageId),
    externalTraceId: trace?.externalTraceId,
    envelope,
    input,
    sent: { inputText, sessionRef, sequence, parentId, labels },
  };
}

function assertSize(inputText: string, inputBytesMax: number): void {
  const size = Buffer.byteLength(inputText);
  if (size <= inputBytesMax) return;
  throw new ReachError(
    "PAYLOAD_TOO_LARGE",
    `the input has ${size} bytes, over the limit of ${inputBytesMax}; store it somewhere and send a reference.`,
    {
      path: "input",
      details: { bytes: size, bytesMax: inputBytesMax },
    },
  );
}
