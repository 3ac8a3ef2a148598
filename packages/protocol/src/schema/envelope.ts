/** What callers send, what agents get, and what they answer. */
import { type Static, Type } from "typebox";
import { limits } from "../limits.js";
import {
  AgentId,
  CapabilityName,
  deliveryModes,
  Fallback,
  FallbackOn,
  GroupId,
  InstanceId,
  Labels,
  MessageId,
  matchings,
  onStalledActions,
  Time,
  TraceId,
} from "./names.js";
import { anything, oneOf, optional, text, whole } from "./parts.js";

export const Receipt = Type.Object({
  startedAt: optional(Time),
  finishedAt: optional(Time),
  steps: optional(Type.Array(anything)),
  bytes: optional(whole(0)),
});

const Weights = Type.Object({
  latency: optional(Type.Number({ minimum: 0 })),
  success: optional(Type.Number({ minimum: 0 })),
  cost: optional(Type.Number({ minimum: 0 })),
  load: optional(Type.Number({ minimum: 0 })),
});
export const WeightsOrPreset = Type.Unsafe<Static<typeof Weights> | "realtime" | "balanced" | "batch">({
  anyOf: [Weights, { type: "string", enum: ["realtime", "balanced", "batch"] }],
});

const envelopeFields = {
  target: optional(Type.Object({ agentId: optional(AgentId), instanceId: optional(InstanceId) })),
  capability: optional(CapabilityName),
  intent: optional(Type.String({ minLength: 1, maxLength: limits.textLengthMax })),
  matching: optional(oneOf(matchings)),
  input: optional(anything),
  timeoutMs: optional(whole(1, limits.waitMsMax)),
  messageId: optional(MessageId),
  idempotencyKey: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  sessionRef: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  sequence: optional(whole(0)),
  ordering: optional(
    Type.Object({
      key: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
      mode: oneOf(["sequence", "barrier"]),
    }),
  ),
  partitionKey: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  traceId: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  parentId: optional(MessageId),
  labels: optional(Labels),
  version: optional(text(limits.nameLengthMax)),
  weights: optional(WeightsOrPreset),
  fallback: optional(Fallback),
  fallbackOn: optional(FallbackOn),
  dryRun: optional(Type.Boolean()),
};

/** What `call` takes. */
export const CallEnvelope = Type.Object(envelopeFields);

/** What durable work may ask for beyond a call. */
const taskFields = {
  completionTimeoutMs: optional(whole(1, limits.waitMsMax)),
  deadlineMs: optional(whole(1, limits.waitMsMax)),
  notBefore: optional(Time),
  onStalled: optional(oneOf(onStalledActions)),
  delivery: optional(oneOf(deliveryModes)),
  groupId: optional(GroupId),
};

/** What `submit` takes. */
export const SubmitEnvelope = Type.Object({ ...envelopeFields, ...taskFields });

/**
 * What `publish` takes: exactly one of topic and capability. `groupId` names this publish, so that it can be repeated; where
 * there is none the idempotencyKey does, or else the messageId.
 */
export const PublishEnvelope = Type.Object({
  topic: optional(CapabilityName),
  capability: optional(CapabilityName),
  input: envelopeFields.input,
  timeoutMs: envelopeFields.timeoutMs,
  messageId: envelopeFields.messageId,
  idempotencyKey: envelopeFields.idempotencyKey,
  traceId: envelopeFields.traceId,
  parentId: envelopeFields.parentId,
  ...taskFields,
});

export const Address = Type.Object({ agentId: optional(AgentId), instanceId: optional(InstanceId) });
const Hop = Type.Object({ agentId: optional(AgentId), messageId: MessageId });

/** What the agent gets in `deliver`. */
export const DeliveredEnvelope = Type.Object({
  messageId: MessageId,
  traceId: TraceId,
  kind: oneOf(["call", "task"]),
  capability: CapabilityName,
  topic: optional(
    Type.String({ description: "Published to this topic, which the agent subscribes to; `capability` is the same." }),
  ),
  input: anything,
  source: Address,
  target: Address,
  idempotencyKey: Type.String(),
  sessionRef: optional(Type.String()),
  sequence: optional(whole(0)),
  parentId: optional(MessageId),
  labels: optional(Labels),
  chain: optional(Type.Array(Hop)),
  timestamp: Time,
  timeoutMs: whole(0),
});

export const AgentErrorShape = Type.Object({
  code: optional(text(limits.nameLengthMax)),
  message: optional(Type.String()),
  data: optional(anything),
  retryable: optional(Type.Boolean()),
});

/** The answer to `deliver`. */
export const DeliverAnswer = Type.Object({
  status: oneOf(["accepted", "completed", "failed"]),
  data: optional(anything),
  error: optional(AgentErrorShape),
  receipt: optional(Receipt),
});
