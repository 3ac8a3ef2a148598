import type { Offer } from "../registry/instance.js";

export interface AckSettings {
  ackTimeoutMs: number;
  slowAckTimeoutMs: number;
}

/**
 * How long an agent may take to acknowledge (DLV-3). One behind an endpoint that works before it answers acknowledges by its
 * result, so it has at least as long as its card says that the work takes.
 */
export function ackWaitMs({ instance, capability }: Offer, { ackTimeoutMs, slowAckTimeoutMs }: AckSettings): number {
  switch (instance.link?.kind) {
    case "ws":
      return ackTimeoutMs;
    case "http":
      return Math.max(slowAckTimeoutMs, capability.timeoutHintMs ?? 0);
    default:
      return slowAckTimeoutMs;
  }
}
