import { type PublishEnvelope, ReachError, type SubmitEnvelope, traceNamedAfter } from "@agent-reach/protocol";
import { readEnvelope, traceIdOf } from "@agent-reach/protocol/read";
import { PublishEnvelope as PublishSchema } from "@agent-reach/protocol/schemas";
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

/** Where a message comes from, and what it may bring. */
export interface Origin {
  readonly caller: Caller;
  readonly system: System;
  readonly inputBytesMax: number;
  /** The trace that a message belongs to if it names none, by the message that it is nested in. */
  readonly inheritedTrace: (parentId: string | undefined) => string | undefined;
}

/** Reads the parameters of `call` or `submit` in any accepted spelling, and fills in what the sender left to us. */
export function readMessage(
  method: "call" | "submit",
  params: unknown,
  raw: RawParams,
  origin: Origin,
): MessageRequest {
  const { envelope: read, inputKey } = readEnvelope(objectOf(method, params));
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
  if (method === "submit") assertTimes(envelope);
  return requestOf(envelope, inputKey, raw, origin);
}

/** What of an envelope counts for a publish; whatever else stands there is meant for one agent, and is nobody's business. */
const publishFields: ReadonlySet<string> = new Set(
  Object.keys(PublishSchema.properties).filter((key) => key !== "topic"),
);

/** The same for `publish`. The request has the topic as its capability too, if it has one, and no target yet. */
export function readPublish(params: unknown, raw: RawParams, origin: Origin): MessageRequest {
  const { envelope: read, inputKey } = readEnvelope(objectOf("publish", params), { subject: "topic" });
  check("publish", read);
  const { topic, capability, groupId, idempotencyKey, messageId } = read as PublishEnvelope;
  if ((topic === undefined) === (capability === undefined)) {
    throw new ReachError(
      "INVALID_REQUEST",
      "publish goes to the subscribers of a topic, or to all who offer a capability: give one of the two.",
      { path: "topic" },
    );
  }
  if (read["dryRun"] === true) {
    throw new ReachError(
      "INVALID_REQUEST",
      "a publish cannot be tried dry; discover by capability, or list agents with their topics, to see who is there.",
      { path: "dryRun" },
    );
  }
  const known = Object.entries(read).filter(([key]) => publishFields.has(key));
  const envelope: SubmitEnvelope = { ...Object.fromEntries(known), capability: topic ?? capability! };
  // Whatever a sender repeats it by makes it the same publish (DLV-7).
  const name = groupId ?? idempotencyKey ?? messageId;
  if (name !== undefined) envelope.groupId = name;
  assertTimes(envelope);
  const request = requestOf(envelope, inputKey, raw, origin);
  return topic === undefined ? request : { ...request, topic };
}

function objectOf(method: string, params: unknown): Record<string, unknown> {
  if (params !== null && typeof params === "object" && !Array.isArray(params)) return params as Record<string, unknown>;
  throw new ReachError("INVALID_REQUEST", `the parameters of ${method} must be an object.`, { path: "params" });
}

function assertTimes({ notBefore }: SubmitEnvelope): void {
  if (notBefore === undefined || !Number.isNaN(Date.parse(notBefore))) return;
  throw new ReachError("INVALID_REQUEST", `"notBefore" is not an ISO 8601 time: ${notBefore}.`, { path: "notBefore" });
}

function requestOf(
  envelope: SubmitEnvelope,
  inputKey: readonly string[],
  raw: RawParams,
  { caller, system, inputBytesMax, inheritedTrace }: Origin,
): MessageRequest {
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
