/** What each method answers. */
import { type TSchema, Type } from "typebox";
import { Agent, Discovery } from "./agents.js";
import { Receipt } from "./envelope.js";
import { Group, JournalEvent, Task } from "./messages.js";
import { AgentId, GroupId, InstanceId, MessageId, Time, TraceId, taskStates } from "./names.js";
import type { Method } from "./params.js";
import { anything, oneOf, optional, whole } from "./parts.js";

export const CallResult = Type.Object({
  messageId: MessageId,
  traceId: TraceId,
  data: anything,
  agentId: AgentId,
  instanceId: InstanceId,
  receipt: optional(Receipt),
  degraded: optional(Type.Boolean()),
});

export const SubmitResult = Type.Object({
  messageId: MessageId,
  traceId: TraceId,
  state: oneOf(taskStates),
  duplicate: Type.Boolean(),
});

/** In the order in which they were sent. */
export const SubmittedMany = Type.Object({ groupId: GroupId, tasks: Type.Array(SubmitResult) });
/** `deliveries`: how many agents it goes to. */
export const Published = Type.Object({ groupId: GroupId, deliveries: whole(0) });

export const Registered = Type.Object({
  agentId: AgentId,
  instanceId: InstanceId,
  instanceKey: Type.String(),
  epoch: whole(1),
  version: whole(1),
  revision: whole(0),
  lease: Type.Object({ heartbeatIntervalSec: Type.Number(), ttlSec: Type.Number(), graceSec: Type.Number() }),
  warnings: Type.Array(Type.String()),
});

export const Hello = Type.Object({
  sessionId: Type.String(),
  nodeId: Type.String(),
  tenant: Type.String(),
  resumed: Type.Boolean(),
  limits: Type.Object({ maxMessageBytes: whole(1), maxInputBytes: whole(1), resumeSec: whole(0) }),
  pingIntervalMs: whole(1),
  serverTime: Time,
});

/** `unknown`: the node does not know this lease; register again. */
export const heartbeatStates = ["online", "suspect", "draining", "unknown"] as const;
export const notRecordedReasons = ["SETTLED", "STALE_ATTEMPT", "STALE_EPOCH", "UNKNOWN"] as const;

export const AgentPage = Type.Object({ agents: Type.Array(Agent), cursor: optional(Type.String()) });
export const TaskEvents = Type.Object({
  events: Type.Array(JournalEvent),
  gap: optional(
    Type.Boolean({ description: "Older events were trimmed; the list does not begin where it was asked to." }),
  ),
});
export const Completed = Type.Object({ recorded: Type.Boolean(), reason: optional(oneOf(notRecordedReasons)) });
export const GroupCanceled = Type.Object({ canceled: whole(0) });
export const Requeued = Type.Object({ requeued: whole(0) });
const Nothing = Type.Object({});

/** Results by method. `progress` is a notification and has none. */
export const results = {
  hello: Hello,
  register: Registered,
  heartbeat: Type.Object({ state: oneOf(heartbeatStates) }),
  drain: Type.Object({ running: whole(0) }),
  deregister: Nothing,
  discover: Discovery,
  "agents.list": AgentPage,
  "agents.get": Agent,
  watch: Type.Object({ watchId: Type.String(), revision: whole(0) }),
  unwatch: Nothing,
  call: CallResult,
  submit: SubmitResult,
  "submit.many": SubmittedMany,
  "group.get": Group,
  "group.cancel": GroupCanceled,
  "group.requeue": Requeued,
  "task.get": Task,
  "task.result": Task,
  "task.cancel": Task,
  "task.events": TaskEvents,
  complete: Completed,
  publish: Published,
  subscribe: Nothing,
  unsubscribe: Nothing,
  ping: Nothing,
} as const satisfies Record<Exclude<Method, "progress">, TSchema>;
