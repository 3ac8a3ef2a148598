/** Parameters of each method that a client may send. */
import { type TSchema, Type } from "typebox";
import { limits } from "../limits.js";
import {
  AgentErrorShape,
  CallEnvelope,
  PublishEnvelope,
  Receipt,
  SubmitEnvelope,
  WeightsOrPreset,
} from "./envelope.js";
import { AgentId, CapabilityName, GroupId, InstanceId, instanceStates, Labels, MessageId, matchings } from "./names.js";
import { anyObject, anything, oneOf, optional, text, whole } from "./parts.js";

const Load = Type.Object({ running: optional(whole(0)), queued: optional(whole(0)) });

/** Parameters of each method that a client may send. */
export const params = {
  hello: Type.Object({
    protocol: Type.String(),
    token: optional(Type.String({ maxLength: 16_384 })),
    client: optional(
      Type.Object({ name: optional(text(256)), version: optional(text(128)), language: optional(text(128)) }),
    ),
    resume: optional(Type.Object({ sessionId: Type.String({ maxLength: 256 }) })),
  }),
  register: Type.Object({
    card: anyObject,
    instanceId: optional(InstanceId),
    instanceKey: optional(Type.String({ maxLength: 256 })),
  }),
  heartbeat: Type.Object({
    instanceId: InstanceId,
    load: optional(Load),
    health: optional(Type.Number({ minimum: 0, maximum: 1 })),
    facts: optional(anyObject),
    samples: optional(Type.Array(anyObject, { maxItems: 100 })),
  }),
  drain: Type.Object({
    instanceId: InstanceId,
    reason: optional(text(1024)),
    handback: optional(Type.Array(Type.Object({ messageId: MessageId, attempt: whole(1) }), { maxItems: 10_000 })),
  }),
  deregister: Type.Object({ instanceId: InstanceId, reason: optional(text(1024)) }),
  discover: Type.Object({
    capability: optional(CapabilityName),
    agentId: optional(AgentId),
    intent: optional(Type.String({ minLength: 1, maxLength: limits.textLengthMax })),
    matching: optional(oneOf(matchings)),
    tags: optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLengthMax }), { maxItems: limits.tagsMax }),
    ),
    input: optional(anything),
    labels: optional(Labels),
    resources: optional(anyObject),
    version: optional(text(limits.nameLengthMax)),
    maxLatencyMs: optional(Type.Number({ exclusiveMinimum: 0 })),
    topK: optional(whole(1, limits.pageMax)),
    weights: optional(WeightsOrPreset),
    direct: optional(Type.Boolean()),
  }),
  "agents.list": Type.Object({
    state: optional(oneOf(instanceStates)),
    capability: optional(CapabilityName),
    label: optional(Type.String({ maxLength: 256, description: "`key` or `key=value`" })),
    cursor: optional(Type.String({ maxLength: 1024 })),
    limit: optional(whole(1, limits.pageMax)),
  }),
  "agents.get": Type.Object({ agentId: AgentId, version: optional(whole(1)) }),
  watch: Type.Object({
    revision: optional(whole(0)),
    agentId: optional(AgentId),
    capability: optional(CapabilityName),
  }),
  unwatch: Type.Object({ watchId: Type.String({ maxLength: 64 }) }),
  call: CallEnvelope,
  submit: SubmitEnvelope,
  "submit.many": Type.Object({ tasks: Type.Array(SubmitEnvelope, { minItems: 1 }), groupId: optional(GroupId) }),
  "group.get": Type.Object({ groupId: GroupId }),
  "group.cancel": Type.Object({ groupId: GroupId, reason: optional(text(1024)) }),
  "group.requeue": Type.Object({ groupId: GroupId }),
  "task.get": Type.Object({ messageId: MessageId }),
  "task.result": Type.Object({ messageId: MessageId, waitMs: optional(whole(0, 600_000)) }),
  "task.cancel": Type.Object({ messageId: MessageId, reason: optional(text(1024)) }),
  "task.events": Type.Object({ messageId: MessageId, after: optional(whole(0)) }),
  complete: Type.Object({
    messageId: MessageId,
    instanceId: InstanceId,
    epoch: optional(whole(1)),
    attempt: whole(1),
    status: oneOf(["completed", "failed"]),
    data: optional(anything),
    error: optional(AgentErrorShape),
    receipt: optional(Receipt),
  }),
  progress: Type.Object({
    messageId: MessageId,
    instanceId: optional(InstanceId),
    attempt: optional(whole(1)),
    percent: optional(Type.Number({ minimum: 0, maximum: 100 })),
    message: optional(text()),
    data: optional(anything),
  }),
  publish: PublishEnvelope,
  subscribe: Type.Object({ topic: CapabilityName }),
  unsubscribe: Type.Object({ topic: CapabilityName }),
  ping: Type.Object({}),
} as const satisfies Record<string, TSchema>;

export type Method = keyof typeof params;
