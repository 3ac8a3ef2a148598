import type { FastifyRequest } from "fastify";

/** The fields of a request, or of what stands in it, that hold UUIDs. */
const ID_FIELDS = ["messageId", "instanceId", "parentId"] as const;

/**
 * A UUID may be written in either case and means the same (RFC 9562, section 4), so every one that comes in is brought to lower
 * case: `value` is a request that fits its schema. In place, for it came off the wire a moment ago and is nobody else's.
 */
export function lowerIds(value: unknown): void {
  if (value === null || typeof value !== "object") return;
  const fields = value as Record<string, unknown>;
  lowerFields(fields);
  const { target, handback, messageIds } = fields;
  if (target !== undefined) lowerFields(target as Record<string, unknown>);
  if (Array.isArray(handback)) for (const each of handback) lowerFields(each as Record<string, unknown>);
  if (Array.isArray(messageIds)) fields["messageIds"] = messageIds.map((id) => String(id).toLowerCase());
}

function lowerFields(fields: Record<string, unknown>): void {
  for (const key of ID_FIELDS) {
    const id = fields[key];
    if (typeof id !== "string") continue;
    const lower = id.toLowerCase();
    if (lower !== id) fields[key] = lower;
  }
}

/** The messageId in the path of a request. */
export function messageIdOf(request: FastifyRequest): string {
  return (request.params as { messageId: string }).messageId.toLowerCase();
}

/** The instanceId in the path of a request. */
export function instanceIdOf(request: FastifyRequest): string {
  return (request.params as { instanceId: string }).instanceId.toLowerCase();
}
