/**
 * The one source of the wire's shapes: TypeScript types, JSON Schemas and OpenAPI all come from here.
 * No schema closes an object: unknown fields are kept and ignored on both sides, for as long as the major version lives.
 */
import { Type, type Static, type TSchema } from "typebox";
import { limits } from "./limits.js";

const optional = Type.Optional;
const text = (max: number = limits.textLengthMax) => Type.String({ maxLength: max });
const whole = (minimum: number, maximum?: number) => Type.Integer(maximum === undefined ? { minimum } : { minimum, maximum });
const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values] });
const anyObject = Type.Unsafe<Record<string, unknown>>({ type: "object" });
const anything = Type.Unknown();

export const AgentId = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$", description: "Who it is, chosen by its owner." });
export const InstanceId = Type.String({ pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", description: "One run of an agent: a UUID, fresh at each start." });
export const MessageId = Type.String({ pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", description: "A UUID (version 7 where we make it)." });
export const TraceId = Type.String({ pattern: "^[0-9a-f]{32}$", description: "W3C trace id." });
export const Time = Type.String({ description: "ISO 8601 with offset." });
const Labels = Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: { type: "string" }, maxProperties: limits.labelsMax });
const CapabilityName = Type.String({ minLength: 1, maxLength: limits.nameLengthMax });

export const costTiers = ["low", "medium", "high"] as const;
export const transportTypes = ["ws", "pull", "http"] as const;
export const instanceStates = ["online", "suspect", "draining", "offline"] as const;
export const taskStates = ["queued", "delivered", "working", "completed", "failed", "canceled", "dead", "stalled"] as const;
export const outcomes = ["not_executed", "unknown", "executed"] as const;
export const onStalledActions = ["review", "redeliver", "fail"] as const;
export const deliveryModes = ["atLeastOnce", "atMostOnce"] as const;
export const leftOutReasons = [
  "chosen", "lower_score", "offline", "suspect", "draining", "breaker_open", "full",
  "policy", "health", "version", "label", "cool_down", "not_matched",
] as const;
export const discoveryVerdicts = ["match", "ambiguous", "no_match", "unavailable"] as const;

export const Transport = Type.Object({
  type: oneOf(transportTypes),
  endpoint: optional(Type.String({ maxLength: 2048, description: "Where the node reaches the agent (http), or kept as information." })),
});

export const Capability = Type.Object({
  name: CapabilityName,
  description: optional(text()),
  operation: optional(text(limits.nameLengthMax)),
  objectType: optional(text(limits.nameLengthMax)),
  tags: optional(Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLengthMax }), { maxItems: limits.tagsMax })),
  inputSchema: optional(Type.Unsafe<Record<string, unknown> | boolean>({ type: ["object", "boolean"] })),
  outputSchema: optional(Type.Unsafe<Record<string, unknown> | boolean>({ type: ["object", "boolean"] })),
  examples: optional(Type.Array(anything, { maxItems: limits.examplesMax })),
  idempotent: optional(Type.Boolean()),
  costTier: optional(oneOf(costTiers)),
  timeoutHintMs: optional(whole(1, limits.waitMsMax)),
  version: optional(text(limits.nameLengthMax)),
  weight: optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  labels: optional(Labels),
});

export const Card = Type.Object({
  agentId: AgentId,
  name: optional(text(256)),
  description: optional(text()),
  maxConcurrentTasks: optional(whole(1, 1_000_000)),
  heartbeatIntervalSec: optional(Type.Number({ minimum: 0.1, maximum: 3600 })),
  labels: optional(Labels),
  resources: optional(anyObject),
  transport: optional(Transport),
  capabilities: optional(Type.Array(Capability, { maxItems: limits.capabilitiesMax })),
});

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
const WeightsOrPreset = Type.Unsafe<Static<typeof Weights> | "realtime" | "balanced" | "batch">({
  anyOf: [Weights, { type: "string", enum: ["realtime", "balanced", "batch"] }],
});

const envelopeFields = {
  target: optional(Type.Object({ agentId: optional(AgentId), instanceId: optional(InstanceId) })),
  capability: optional(CapabilityName),
  intent: optional(Type.String({ minLength: 1, maxLength: limits.textLengthMax })),
  input: optional(anything),
  timeoutMs: optional(whole(1, limits.waitMsMax)),
  messageId: optional(MessageId),
  idempotencyKey: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  sessionRef: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  sequence: optional(whole(0)),
  ordering: optional(Type.Object({ key: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })), mode: oneOf(["sequence", "barrier"]) })),
  partitionKey: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  traceId: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
  parentId: optional(MessageId),
  labels: optional(Labels),
  version: optional(text(limits.nameLengthMax)),
  weights: optional(WeightsOrPreset),
  fallback: optional(Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLengthMax }), { maxItems: 8 })),
  dryRun: optional(Type.Boolean()),
};

/** What `call` takes. */
export const CallEnvelope = Type.Object(envelopeFields);

/** What `submit` takes. */
export const SubmitEnvelope = Type.Object({
  ...envelopeFields,
  completionTimeoutMs: optional(whole(1, limits.waitMsMax)),
  deadlineMs: optional(whole(1, limits.waitMsMax)),
  notBefore: optional(Time),
  onStalled: optional(oneOf(onStalledActions)),
  delivery: optional(oneOf(deliveryModes)),
  groupId: optional(Type.String({ minLength: 1, maxLength: limits.keyLengthMax })),
});

const Address = Type.Object({ agentId: optional(AgentId), instanceId: optional(InstanceId) });
const Hop = Type.Object({ agentId: optional(AgentId), messageId: MessageId });

/** What the agent gets in `deliver`. */
export const DeliveredEnvelope = Type.Object({
  messageId: MessageId,
  traceId: TraceId,
  kind: oneOf(["call", "task"]),
  capability: CapabilityName,
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

const Load = Type.Object({ running: optional(whole(0)), queued: optional(whole(0)) });

/** Parameters of each method that a client may send. */
export const params = {
  hello: Type.Object({
    protocol: Type.String(),
    token: optional(Type.String({ maxLength: 16_384 })),
    client: optional(Type.Object({ name: optional(text(256)), version: optional(text(128)), language: optional(text(128)) })),
    resume: optional(Type.Object({ sessionId: Type.String({ maxLength: 256 }) })),
  }),
  register: Type.Object({ card: anyObject, instanceId: optional(InstanceId), instanceKey: optional(Type.String({ maxLength: 256 })) }),
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
    tags: optional(Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLengthMax }), { maxItems: limits.tagsMax })),
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
  watch: Type.Object({ revision: optional(whole(0)), agentId: optional(AgentId), capability: optional(CapabilityName) }),
  unwatch: Type.Object({ watchId: Type.String({ maxLength: 64 }) }),
  call: CallEnvelope,
  submit: SubmitEnvelope,
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
  publish: Type.Object({ topic: optional(CapabilityName), capability: optional(CapabilityName), input: optional(anything) }),
  subscribe: Type.Object({ topic: CapabilityName }),
  unsubscribe: Type.Object({ topic: CapabilityName }),
  ping: Type.Object({}),
} as const satisfies Record<string, TSchema>;

export type Method = keyof typeof params;

const Facts = Type.Object({
  state: oneOf(instanceStates),
  p50Ms: optional(Type.Number()),
  successRate: optional(Type.Number()),
  running: whole(0),
  queued: whole(0),
  load: Type.Number(),
  costTier: oneOf(costTiers),
  health: Type.Number(),
  selfReported: optional(anyObject),
});

export const Candidate = Type.Object({
  agentId: AgentId,
  instanceId: InstanceId,
  capability: CapabilityName,
  version: optional(Type.String()),
  match: Type.Number(),
  score: Type.Number(),
  reasons: Type.Array(Type.String()),
  facts: Facts,
});

const Miss = Type.Object({
  agentId: AgentId,
  instanceId: optional(InstanceId),
  capability: CapabilityName,
  match: Type.Number(),
  why: optional(oneOf(leftOutReasons)),
});

export const Discovery = Type.Object({
  candidates: Type.Array(Candidate),
  verdict: oneOf(discoveryVerdicts),
  misses: Type.Array(Miss),
  decisionId: Type.String(),
});

const DecidedCandidate = Type.Intersect([Candidate, Type.Object({ verdict: oneOf(leftOutReasons) })]);

export const Decision = Type.Object({
  decisionId: Type.String(),
  messageId: MessageId,
  traceId: TraceId,
  attempt: whole(1),
  at: Time,
  tookMs: Type.Number(),
  request: anyObject,
  candidates: Type.Array(DecidedCandidate),
  chosen: optional(Address),
  /** How many more candidates there were than are listed. */
  omitted: optional(whole(0)),
});

export const Instance = Type.Object({
  instanceId: InstanceId,
  epoch: whole(1),
  state: oneOf(instanceStates),
  since: Time,
  lastHeartbeatAt: optional(Time),
  health: Type.Number(),
  load: Type.Object({ running: whole(0), queued: whole(0), load: Type.Number() }),
  node: Type.String(),
  address: optional(Type.String()),
});

export const Agent = Type.Object({
  agentId: AgentId,
  version: whole(1),
  card: Card,
  state: oneOf(instanceStates),
  instances: Type.Array(Instance),
});

export const Attempt = Type.Object({
  attempt: whole(1),
  agentId: optional(AgentId),
  instanceId: InstanceId,
  epoch: optional(whole(1)),
  sentAt: Time,
  acceptedAt: optional(Time),
  endedAt: optional(Time),
  outcome: optional(Type.String({ description: "pending, completed, failed, refused, lost, no_ack, stalled, canceled, handed_back" })),
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
  agentId: optional(AgentId),
  instanceId: optional(InstanceId),
  attempt: whole(0),
  attempts: Type.Array(Attempt),
  createdAt: Time,
  dueAt: optional(Time),
  deadlineAt: Time,
  groupId: optional(Type.String()),
  input: optional(anything),
  data: optional(anything),
  error: optional(ErrorBodySchema),
  receipt: optional(Receipt),
});

export const CallResult = Type.Object({
  messageId: MessageId,
  traceId: TraceId,
  data: anything,
  agentId: AgentId,
  instanceId: InstanceId,
  receipt: optional(Receipt),
  degraded: optional(Type.Boolean()),
});

export const SubmitResult = Type.Object({ messageId: MessageId, traceId: TraceId, state: oneOf(taskStates), duplicate: Type.Boolean() });

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

export const registryEventTypes = [
  "agent.registered", "agent.updated", "agent.removed",
  "instance.online", "instance.suspect", "instance.offline", "instance.updated", "instance.draining",
] as const;

/** A registry change as a watcher sees it (REG-6). `revision` rises strictly. */
export const RegistryEvent = Type.Object({
  watchId: optional(Type.String()),
  revision: whole(1),
  type: oneOf(registryEventTypes),
  agentId: AgentId,
  instanceId: optional(InstanceId),
  at: Time,
});
