/** Identities, and the closed sets of words. */
import { Type } from "typebox";
import { limits } from "../limits.js";

export const AgentId = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$",
  description: "Who it is, chosen by its owner.",
});
export const InstanceId = Type.String({
  pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
  description: "One run of an agent: a UUID, fresh at each start.",
});
export const MessageId = Type.String({
  pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
  description: "A UUID (version 7 where we make it).",
});
export const TraceId = Type.String({ pattern: "^[0-9a-f]{32}$", description: "W3C trace id." });
export const Time = Type.String({ description: "ISO 8601 with offset." });
export const Labels = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string" },
  maxProperties: limits.labelsMax,
});
export const GroupId = Type.String({
  minLength: 1,
  maxLength: limits.keyLengthMax,
  description: "Tasks that belong together, under a name that the sender gives or the node makes.",
});
export const CapabilityName = Type.String({ minLength: 1, maxLength: limits.nameLengthMax });

export const costTiers = ["low", "medium", "high"] as const;
export const transportTypes = ["ws", "pull", "http"] as const;
export const instanceStates = ["online", "suspect", "draining", "offline"] as const;
export const taskStates = [
  "queued",
  "delivered",
  "working",
  "completed",
  "failed",
  "canceled",
  "dead",
  "stalled",
] as const;
export const outcomes = ["not_executed", "unknown", "executed"] as const;
export const onStalledActions = ["review", "redeliver", "fail"] as const;
export const deliveryModes = ["atLeastOnce", "atMostOnce"] as const;
/** Who reads a request in words: `auto` lets the fine stage look at calls and discoveries, and not at tasks. */
export const matchings = ["auto", "local", "two-stage"] as const;
export const leftOutReasons = [
  "chosen",
  "lower_score",
  "offline",
  "suspect",
  "draining",
  "breaker_open",
  "full",
  "policy",
  "health",
  "version",
  "label",
  "cool_down",
  "not_matched",
] as const;
export const discoveryVerdicts = ["match", "ambiguous", "no_match", "unavailable"] as const;
export const registryEventTypes = [
  "agent.registered",
  "agent.updated",
  "agent.removed",
  "instance.online",
  "instance.suspect",
  "instance.offline",
  "instance.updated",
  "instance.draining",
] as const;

/** Who may stand in: capabilities or agents, tried in this order. */
export const Fallback = Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLengthMax }), { maxItems: 8 });
/** Codes of business errors after which somebody else is asked. */
export const FallbackOn = Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLengthMax }), { maxItems: 32 });
