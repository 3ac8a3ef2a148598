import type { DeliveredEnvelope } from "@agent-reach/protocol";

/**
 * What tells two executions apart: the capability, since somebody may stand in for himself by another; the caller as far as
 * the agent knows him; and the idempotencyKey. A key chosen by the caller counts together with the input, since two callers
 * without a name may choose the same one; the default, the messageId, is unique and spares looking at the input.
 */
export function executionKey(envelope: DeliveredEnvelope): string {
  const key = envelope.idempotencyKey ?? envelope.messageId;
  if (key === envelope.messageId) return `${key} ${envelope.capability}`;
  const input = JSON.stringify(envelope.input) ?? "";
  return `${envelope.source?.agentId ?? ""}\n${envelope.capability}\n${key}\n${input.length}:${hash(input)}`;
}

/** FNV-1a over the code units, in two lanes with different seeds. */
function hash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
}
