/** What became of messages: tasks, their attempts, events and traces. */
import { Type } from "typebox";
import { Decision } from "./agents.js";
import { Receipt } from "./envelope.js";
import {
  AgentId,
  CapabilityName,
  GroupId,
  InstanceId,
  MessageId,
  outcomes,
  Time,
  TraceId,
  taskStates,
} from "./names.js";
import { anyObject, anything, oneOf, optional, whole } from "./parts.js";

export const Attempt = Type.Object({
  attempt: whole(1),
  agentId: optional(AgentId),
  instanceId: InstanceId,
  epoch: optional(whole(1)),
  standIn: optional(Type.String({ description: "Who of `fallback` stood in." })),
  sentAt: Time,
  acceptedAt: optional(Time),
  endedAt: optional(Time),
  outcome: optional(
    Type.String({
      description: "pending, completed, failed, passed_on, refused, lost, no_ack, stalled, canceled, handed_back",
    }),
  ),
});

const ErrorBodySchema = Type.Object({
  code: Type.String(),
  message: Type.String(),
  retryable: Type.Boolean(),
  retryAfterMs: optional(whole(0)),
  outcome: oneOf(outcomes),
  path: optional(Type.String()),
  details: optional(anyObject),
});

export { ErrorBodySchema as ErrorBody };

export const Task = Type.Object({
  messageId: MessageId,
  traceId: TraceId,
  kind: oneOf(["call", "task"]),
  state: oneOf(taskStates),
  capability: CapabilityName,
  topic: optional(Type.String()),
  agentId: optional(AgentId),
  instanceId: optional(InstanceId),
  attempt: whole(0),
  attempts: Type.Array(Attempt),
  createdAt: Time,
  dueAt: optional(Time),
  deadlineAt: Time,
  groupId: optional(Type.String()),
  input: optional(anything),
  degraded: optional(Type.Boolean()),
  data: optional(anything),
  error: optional(ErrorBodySchema),
  receipt: optional(Receipt),
});

/** How a group of tasks stands: how many are in each state. Settled when each of them has ended. */
export const Group = Type.Object({
  groupId: GroupId,
  total: whole(1),
  settled: Type.Boolean(),
  counts: Type.Object(
    Object.fromEntries(taskStates.map((state) => [state, whole(0)])) as Record<
      (typeof taskStates)[number],
      ReturnType<typeof whole>
    >,
  ),
});

/** One thing that happened to a message, an agent or an instance (OBS-6). `id` rises strictly on a node. */
export const JournalEvent = Type.Object({
  id: whole(0),
  at: Time,
  type: Type.String(),
  messageId: optional(MessageId),
  traceId: optional(TraceId),
  agentId: optional(AgentId),
  instanceId: optional(InstanceId),
  attempt: optional(whole(1)),
  node: optional(Type.String()),
});

export const Trace = Type.Object({
  traceId: TraceId,
  startedAt: Time,
  durationMs: Type.Number(),
  messages: Type.Array(anyObject),
  events: Type.Array(JournalEvent),
});

/** One message with everything that is known of it. `task` for tasks, `call` for calls. */
export const Message = Type.Object({
  task: optional(Task),
  call: optional(Task),
  decisions: Type.Array(Decision),
  events: Type.Array(JournalEvent),
});
