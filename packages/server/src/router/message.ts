import type { SubmitEnvelope } from "@agent-reach/protocol";
import type { Caller } from "../access/access.js";
import type { Advice } from "../catalog/advice.js";
import type { Wanted } from "../catalog/found.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Sent } from "./envelope.js";
import type { Demands } from "./router.js";

/** A call or task as it came through the door: checked against the wire's schema, not yet against anybody's. */
export interface MessageRequest {
  readonly caller: Caller;
  readonly messageId: string;
  readonly traceId: string;
  readonly externalTraceId: string | undefined;
  readonly envelope: SubmitEnvelope;
  /** What it was published to, by the name that stands as the capability. */
  readonly topic?: string | undefined;
  /** What slower readers than the index say of the intent, if they were asked. */
  readonly advice?: Advice | undefined;
  readonly input: unknown;
  /** What travels on to the agent; the input as it came in, to the digit. */
  readonly sent: Sent;
}

/** Where a message's answer goes. One of the methods is called, once. */
export interface Reply {
  result(json: string): void;
  error(error: Error): void;
  /** Raw JSON of the progress notification's parameters. */
  progress?(json: string): void;
}

export function demandsOf(envelope: SubmitEnvelope): Demands {
  const { version, labels, weights, sessionRef, partitionKey, dryRun } = envelope;
  return { version, labels, weights, sessionRef, partitionKey, dryRun };
}

/** Who, what, or in which words the message asks for. */
export function wantedBy({ caller, envelope, topic, advice }: MessageRequest): Wanted {
  return {
    tenant: caller.tenant,
    capability: envelope.capability,
    intent: envelope.intent,
    agentId: envelope.target?.agentId,
    instanceId: envelope.target?.instanceId,
    topic,
    advice,
  };
}

/** The request as it stands in a decision's record: everything but the input. Undefined where that is the capability alone. */
export function requestOf(envelope: SubmitEnvelope): Record<string, unknown> | undefined {
  const { target, capability, intent, version, labels, weights, sessionRef, partitionKey } = envelope;
  const plain =
    target === undefined &&
    intent === undefined &&
    version === undefined &&
    labels === undefined &&
    weights === undefined &&
    sessionRef === undefined &&
    partitionKey === undefined;
  if (plain) return undefined;
  const request: Record<string, unknown> = {};
  if (capability !== undefined) request["capability"] = capability;
  if (target !== undefined) request["target"] = target;
  if (intent !== undefined) request["intent"] = intent;
  if (version !== undefined) request["version"] = version;
  if (labels !== undefined) request["labels"] = labels;
  if (weights !== undefined) request["weights"] = weights;
  if (sessionRef !== undefined) request["sessionRef"] = sessionRef;
  if (partitionKey !== undefined) request["partitionKey"] = partitionKey;
  return request;
}

/** Messages of one lane can be served by exactly the same instances. */
export function laneOf(
  capability: string,
  {
    target,
    version,
    labels,
    fallback,
    topic,
  }: Pick<SubmitEnvelope, "target" | "version" | "labels"> & {
    fallback?: readonly string[] | undefined;
    topic?: string | undefined;
  },
): string {
  if (target === undefined && version === undefined && labels === undefined && fallback === undefined)
    return capability;
  // What was published to a topic is not for those who offer a capability of that name.
  if (topic !== undefined) return JSON.stringify([capability, target?.agentId, { topic }]);
  const sorted = labels === undefined ? undefined : Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([capability, target?.agentId, target?.instanceId, version, sorted, ...(fallback ?? [])]);
}

/** Where a message waits that only one instance may take, because its session is at home there. */
export function laneAt(lane: string, instance: LiveInstance | undefined): string {
  return instance === undefined ? lane : `${lane}@${instance.record.instanceId}`;
}
