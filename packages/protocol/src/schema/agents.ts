/** Who is there: agents, instances, candidates, and why one of them was chosen. */
import { Type } from "typebox";
import { Card } from "./card.js";
import { Address } from "./envelope.js";
import {
  AgentId,
  CapabilityName,
  costTiers,
  discoveryVerdicts,
  InstanceId,
  instanceStates,
  leftOutReasons,
  MessageId,
  registryEventTypes,
  Time,
  TraceId,
} from "./names.js";
import { anyObject, oneOf, optional, whole } from "./parts.js";

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
  direct: optional(
    Type.Object(
      { endpoint: Type.String(), ticket: Type.String(), expiresAt: Time },
      { description: "Where the agent itself answers, if it was asked for." },
    ),
  ),
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
  fit: optional(
    Type.Number({
      description:
        "How much the words are like what is served here at all, 0..1: below a threshold nobody is meant. Missing where they were not compared by meaning.",
    }),
  ),
  notes: optional(
    Type.Array(Type.String(), { description: "With `no_match`: what kept the fine stage from having a look." }),
  ),
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
  /** The instance that the message's session is at home on, which is full: nobody else is asked. */
  waitsFor: optional(Address),
  /** How many more candidates there were than are listed. */
  omitted: optional(whole(0)),
  probe: optional(
    Type.Boolean({ description: "Whether it went to a half-open breaker, to find out whether all is well again." }),
  ),
  panic: optional(
    Type.Boolean({
      description:
        "Whether everybody able had bad outcomes lately, so that these were not reckoned with (panic routing).",
    }),
  ),
  previous: optional(
    Type.Object(
      {
        attempt: whole(1),
        agentId: AgentId,
        instanceId: InstanceId,
        outcome: Type.String({ description: "How it ended: refused, lost, no_ack, stalled, handed_back." }),
        code: optional(Type.String({ description: "What the agent said." })),
        moved: optional(Type.Boolean({ description: "Whether another instance was chosen than for that attempt." })),
        verdict: optional(oneOf(leftOutReasons)),
      },
      {
        description:
          "The attempt before this one; `verdict` is what this decision says of its instance, and so why it changed. Absent for a first attempt.",
      },
    ),
  ),
});

/** A circuit breaker that is not closed: nothing is sent for this capability but a probe (RES-1). */
const OpenBreaker = Type.Object({
  capability: CapabilityName,
  state: oneOf(["open", "half_open"]),
  failures: whole(0),
  outcomes: whole(0),
  windowMs: whole(0),
  lastFailure: optional(Type.String()),
  brokenForMs: whole(0),
  probeInMs: whole(0),
});

export const Instance = Type.Object({
  instanceId: InstanceId,
  epoch: whole(1),
  state: oneOf(instanceStates),
  since: Time,
  lastHeartbeatAt: optional(Time),
  health: Type.Number(),
  ownHealth: optional(Type.Number({ description: "The agent's own word; `health` is this times `probe`." })),
  probe: optional(Type.Number()),
  measured: optional(
    Type.Array(
      Type.Object({
        capability: CapabilityName,
        p50Ms: optional(Type.Number()),
        successRate: optional(Type.Number()),
      }),
      { description: "What callers saw, by capability." },
    ),
  ),
  selfReported: optional(anyObject),
  flapping: optional(
    Type.Object(
      { losses: whole(0), restsUntil: Time },
      { description: "It lost its lease too often and gets no new work for a while." },
    ),
  ),
  load: Type.Object({ running: whole(0), queued: whole(0), load: Type.Number() }),
  breakers: optional(Type.Array(OpenBreaker, { description: "Absent when all are closed." })),
  node: Type.String(),
  address: optional(Type.String()),
});

export const Agent = Type.Object({
  agentId: AgentId,
  version: whole(1),
  card: Card,
  warnings: optional(
    Type.Array(Type.String(), {
      description:
        "What may keep its capabilities from being found, as far as it is known; only from `agents.get`, absent when nothing.",
    }),
  ),
  state: oneOf(instanceStates),
  topics: optional(Type.Array(CapabilityName, { description: "What it subscribes to; absent when nothing." })),
  instances: Type.Array(Instance),
});

/** A registry change as a watcher sees it (REG-6). `revision` rises strictly. */
export const RegistryEvent = Type.Object({
  watchId: optional(Type.String()),
  revision: whole(1),
  type: oneOf(registryEventTypes),
  agentId: AgentId,
  instanceId: optional(InstanceId),
  at: Time,
});
