import type { NewTask, TaskRecord, TaskRequest } from "../../ports/task-store.js";

/** What the sender said: it is written once and never changes. */
export type Given = Pick<TaskRecord, "tenant" | "principal" | "contentHash" | "idempotencyKey" | "request">;

/** Where the principal is found in the text, for conditions in SQL. */
export const PRINCIPAL = "given ->> '$[0]'";

type OrNone<T> = T | 0;
/** Later versions may add places at the end. */
type PackedGiven = [
  principal: string,
  tenant: OrNone<string>,
  contentHash: string,
  idempotencyKey: OrNone<string>,
  timeoutMs: number,
  completionTimeoutMs: number | null,
  sessionId: OrNone<string>,
  source: OrNone<TaskRequest["source"]>,
  rest?: Partial<TaskRequest>,
];

const placed = new Set(["timeoutMs", "completionTimeoutMs", "sessionId", "source"]);
const defaults: Record<string, unknown> = { onStalled: "review", delivery: "atLeastOnce" };
const TENANT = "default";

/**
 * As JSON text: values in a fixed order instead of names, and 0 or null for what goes without saying. A row as long as with names would
 * cost more pages, which is what a commit costs.
 */
export function packGiven({ messageId, idempotencyKey, tenant, principal, contentHash, request }: NewTask): string {
  const { timeoutMs, completionTimeoutMs, sessionId, source } = request;
  const key = idempotencyKey === messageId ? 0 : JSON.stringify(idempotencyKey);
  const sender = source.agentId === undefined && source.instanceId === undefined ? 0 : JSON.stringify(source);
  let text = `[${JSON.stringify(principal)},${tenant === TENANT ? 0 : JSON.stringify(tenant)},${JSON.stringify(contentHash)},${key},${timeoutMs}`;
  text += `,${completionTimeoutMs === timeoutMs ? null : completionTimeoutMs},${sessionId === undefined ? 0 : JSON.stringify(sessionId)},${sender}`;
  const rest = restOf(request);
  return rest === undefined ? `${text}]` : `${text},${JSON.stringify(rest)}]`;
}

/** What has no place of its own and does not go without saying. */
function restOf(request: Readonly<TaskRequest>): Record<string, unknown> | undefined {
  let rest: Record<string, unknown> | undefined;
  for (const key in request) {
    if (placed.has(key)) continue;
    const value = request[key as keyof TaskRequest];
    if (value === defaults[key]) continue;
    rest ??= {};
    rest[key] = value;
  }
  return rest;
}

export function unpackGiven(text: string, messageId: string): Given {
  const [principal, tenant, contentHash, key, timeoutMs, completionTimeoutMs, sessionId, source, rest] = JSON.parse(
    text,
  ) as PackedGiven;
  const request: TaskRequest = {
    source: source === 0 ? {} : source,
    timeoutMs,
    completionTimeoutMs: completionTimeoutMs ?? timeoutMs,
    onStalled: "review",
    delivery: "atLeastOnce",
  };
  if (sessionId !== 0) request.sessionId = sessionId;
  if (rest !== undefined) Object.assign(request, rest);
  return {
    principal,
    tenant: tenant === 0 ? TENANT : tenant,
    contentHash,
    idempotencyKey: key === 0 ? messageId : key,
    request,
  };
}
