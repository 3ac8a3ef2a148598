/** Bodies that only HTTP has, because it holds no socket that would say who is speaking. */
import { Type } from "typebox";
import { limits } from "../limits.js";
import { AgentErrorShape, Receipt } from "./envelope.js";
import { ErrorBody, Task } from "./messages.js";
import { AgentId, InstanceId, MessageId, Time, TraceId } from "./names.js";
import { params } from "./params.js";
import { anyObject, anything, oneOf, optional, text, whole } from "./parts.js";
import { Delivery } from "./pushes.js";

/** What proves that the sender is the instance, and still is. */
const lease = { instanceKey: key(), epoch: whole(1) };
const attempt = { instanceId: InstanceId, ...lease, attempt: whole(1) };

export const HttpLease = Type.Object(lease);
export const HttpHeartbeat = Type.Object({ ...withoutInstance(params.heartbeat.properties), ...lease });
export const HttpDrain = Type.Object({ ...withoutInstance(params.drain.properties), ...lease });
export const HttpDeregister = Type.Object({ reason: optional(text(1024)), ...lease });
/** `subscribe` and `unsubscribe`. */
export const HttpTopic = Type.Object({ ...params.subscribe.properties, ...lease });
export const HttpCancel = Type.Object({ reason: optional(text(1024)) });
export const HttpPull = Type.Object({
  ...lease,
  max: optional(whole(1, limits.pullMax)),
  waitMs: optional(whole(0, limits.pullWaitMsMax)),
});
export const Pulled = Type.Object({ deliveries: Type.Array(Delivery) });
export const HttpAck = Type.Object(attempt);
export const HttpNack = Type.Object({
  ...attempt,
  reason: text(1024),
  retryAfterMs: optional(whole(0, limits.waitMsMax)),
});
export const HttpComplete = Type.Object({
  ...attempt,
  status: oneOf(["completed", "failed"]),
  data: optional(anything),
  error: optional(AgentErrorShape),
  receipt: optional(Receipt),
});

export const TaskPage = Type.Object({ tasks: Type.Array(Task), cursor: optional(Type.String()) });

/** Which dead letters: these, or all that the filter finds. One of the two is needed. */
export const DeadLetterChoice = Type.Object({
  messageIds: optional(Type.Array(MessageId, { minItems: 1, maxItems: 10_000 })),
  filter: optional(
    Type.Object({
      state: optional(Type.String()),
      agent: optional(Type.String()),
      capability: optional(Type.String()),
      group: optional(Type.String()),
      since: optional(Type.String()),
    }),
  ),
});

/** A business error: the agent did its work and said no, so the exchange as such succeeded. */
export const BusinessError = Type.Object({ messageId: MessageId, traceId: TraceId, error: ErrorBody });

/** What waits, by capability, and how many tasks are in each state. */
export const Queues = Type.Object({ queues: Type.Array(anyObject) });

function key() {
  return Type.String({ minLength: 1, maxLength: 256, description: "The secret that `register` answered." });
}

/** The path already says which instance it is. */
function withoutInstance<T extends { instanceId: unknown }>({ instanceId: _, ...rest }: T): Omit<T, "instanceId"> {
  return rest;
}

export const Discarded = Type.Object({ discarded: whole(0) });

/** A fault that an operator asks for: one of `cut`, `delayMs` and `dropAcks`, the latter two also together. */
export const ChaosFault = Type.Object({
  agentId: AgentId,
  /** Ends the agent's connections now. */
  cut: optional(Type.Boolean()),
  /** Deliveries leave that much later. */
  delayMs: optional(whole(0, limits.waitMsMax)),
  /** Share of acknowledgements that the node does not hear. */
  dropAcks: optional(Type.Number({ minimum: 0, maximum: 1 })),
  /** How long it lasts; 60 s if not said. */
  forMs: optional(whole(1, limits.waitMsMax)),
});
export const ChaosConcerned = Type.Object({ agentId: AgentId, connections: whole(0) });
export const ChaosFaults = Type.Object({
  faults: Type.Array(Type.Object({ agentId: AgentId, delayMs: whole(0), dropAcks: Type.Number(), until: Time })),
});
export const ChaosCleared = Type.Object({ cleared: whole(0) });
