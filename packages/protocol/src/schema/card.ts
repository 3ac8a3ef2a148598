/** What an agent says of itself. */
import { Type } from "typebox";
import { limits } from "../limits.js";
import { AgentId, CapabilityName, costTiers, Fallback, FallbackOn, Labels, transportTypes } from "./names.js";
import { anyObject, anything, oneOf, optional, text, whole } from "./parts.js";

export const Transport = Type.Object({
  type: oneOf(transportTypes),
  endpoint: optional(
    Type.String({ maxLength: 2048, description: "Where the node reaches the agent (http), or kept as information." }),
  ),
});

export const Capability = Type.Object({
  name: CapabilityName,
  description: optional(text()),
  operation: optional(text(limits.nameLengthMax)),
  objectType: optional(text(limits.nameLengthMax)),
  tags: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLengthMax }), { maxItems: limits.tagsMax }),
  ),
  inputSchema: optional(Type.Unsafe<Record<string, unknown> | boolean>({ type: ["object", "boolean"] })),
  outputSchema: optional(Type.Unsafe<Record<string, unknown> | boolean>({ type: ["object", "boolean"] })),
  examples: optional(Type.Array(anything, { maxItems: limits.examplesMax })),
  idempotent: optional(Type.Boolean()),
  costTier: optional(oneOf(costTiers)),
  timeoutHintMs: optional(whole(1, limits.waitMsMax)),
  version: optional(text(limits.nameLengthMax)),
  weight: optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  labels: optional(Labels),
  fallback: optional(Fallback),
  fallbackOn: optional(FallbackOn),
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
