import type { FastifyRequest } from "fastify";

/** The fields of a request, and of what stands in it, that hold UUIDs, if their schema knows them. */
interface Ids {
  messageId?: unknown;
  instanceId?: unknown;
  parentId?: unknown;
}

/**
 * A UUID may be written in either case and means the same (RFC 9562, section 4), so every one that comes in is brought to lower
 * case: `value` is a request that fits its schema. In place, for it came off the wire a moment ago and is nobody else's.
 */
export function lowerIds(value: unknown): void {
  if (!isObject(value)) return;
  const request: Ids & { target?: unknown; handback?: unknown; messageIds?: unknown } = value;
  lower(request);
  const { target, handback, messageIds } = request;
  if (isObject(target)) lower(target);
  if (Array.isArray(handback)) for (const each of handback) if (isObject(each)) lower(each);
  if (Array.isArray(messageIds)) request.messageIds = messageIds.map(lowered);
}

function lower(ids: Ids): void {
  if (ids.messageId !== undefined) ids.messageId = lowered(ids.messageId);
  if (ids.instanceId !== undefined) ids.instanceId = lowered(ids.instanceId);
  if (ids.parentId !== undefined) ids.parentId = lowered(ids.parentId);
}

/** A method may be sent fields that it does not know, of any type. */
function lowered(id: unknown): unknown {
  return typeof id === "string" ? id.toLowerCase() : id;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The messageId in the path of a request. */
export function messageIdOf(request: FastifyRequest): string {
  return (request.params as { messageId: string }).messageId.toLowerCase();
}

/** The instanceId in the path of a request. */
export function instanceIdOf(request: FastifyRequest): string {
  return (request.params as { instanceId: string }).instanceId.toLowerCase();
}
