import { ReachError } from "@agent-reach/protocol";
import { type Caller, mayTouch, notYours } from "../access/access.js";
import type { Resolved } from "../catalog/found.js";
import type { NewTask, TaskRecord, TaskRequest } from "../ports/task-store.js";
import { chainOf, type Hop, loopIn, type Parent } from "../router/chain.js";
import { contentHashOf, fingerprintOf } from "../router/content.js";
import { fallbackOf } from "../router/fallback.js";
import { laneOf, type MessageRequest } from "../router/message.js";

export interface NewTaskSettings {
  completionTimeoutMs: number;
  deadlineMs: number;
}

/**
 * The record of a task that is submitted at `now`, on the wall clock in milliseconds. Revision 0: it is not stored yet.
 * Throws LOOP_DETECTED, or INVALID_REQUEST where an order has no key.
 */
export function newTask(
  request: MessageRequest,
  resolved: Resolved,
  parent: Parent | undefined,
  now: number,
  settings: NewTaskSettings,
): TaskRecord {
  const { envelope, caller } = request;
  const { target, notBefore } = envelope;
  const given = givenBy(request, resolved, chainWith(request, resolved, parent), settings);
  return {
    seq: 0,
    revision: 0,
    messageId: request.messageId,
    traceId: request.traceId,
    tenant: caller.tenant,
    principal: caller.principal,
    idempotencyKey: envelope.idempotencyKey ?? request.messageId,
    contentHash: taskContent(request),
    state: "queued",
    lane: laneOf(resolved.name, given),
    dueAt: notBefore === undefined ? now : Math.max(now, Date.parse(notBefore)),
    deadlineAt: now + (envelope.deadlineMs ?? settings.deadlineMs),
    capability: resolved.name,
    agentId: target?.agentId,
    instanceId: target?.instanceId,
    groupId: envelope.groupId,
    orderKey: orderKeyOf(request),
    createdAt: now,
    settledAt: undefined,
    attempt: 0,
    attempts: [],
    deliveryFailures: 0,
    losses: 0,
    request: given,
    error: undefined,
    receipt: undefined,
    notify: false,
    input: request.sent.inputText,
    data: undefined,
  };
}

/** The messages that it is part of, unless it is one of them itself. */
function chainWith(request: MessageRequest, resolved: Resolved, parent: Parent | undefined): readonly Hop[] {
  const chain = chainOf(parent);
  if (parent === undefined) return chain;
  const agentId = request.envelope.target && firstOf(resolved)?.instance.record.agentId;
  const inputHash = fingerprintOf(undefined, undefined, request.input, request.sent.inputText);
  const loop = loopIn(parent, chain, resolved.name, agentId, inputHash);
  if (loop !== undefined) throw loop;
  return chain;
}

/** What the submitter asked for, as it is kept with the task. */
function givenBy(
  { envelope, caller, topic, externalTraceId }: MessageRequest,
  resolved: Resolved,
  chain: readonly Hop[],
  settings: NewTaskSettings,
): TaskRequest {
  const given: TaskRequest = {
    source: { ...caller.source },
    timeoutMs: envelope.timeoutMs ?? settings.completionTimeoutMs,
    completionTimeoutMs: envelope.completionTimeoutMs ?? envelope.timeoutMs ?? settings.completionTimeoutMs,
    onStalled: envelope.onStalled ?? "review",
    delivery: envelope.delivery ?? "atLeastOnce",
  };
  const { target, intent, sessionRef, sequence, partitionKey, parentId, labels, version, weights } = envelope;
  if (target !== undefined) given.target = target;
  if (intent !== undefined) given.intent = intent;
  if (intent !== undefined && envelope.capability === undefined)
    given.understood = { match: resolved.match, reasons: resolved.reasons };
  if (sessionRef !== undefined) given.sessionRef = sessionRef;
  if (sequence !== undefined) given.sequence = sequence;
  if (partitionKey !== undefined) given.partitionKey = partitionKey;
  if (parentId !== undefined) given.parentId = parentId;
  if (labels !== undefined) given.labels = labels;
  if (version !== undefined) given.version = version;
  if (weights !== undefined) given.weights = weights;
  if (topic !== undefined) given.topic = topic;
  const fallback = fallbackOf(envelope, firstOf(resolved)?.capability);
  if (fallback !== undefined) {
    given.fallback = fallback.names;
    if (fallback.codes.length > 0) given.fallbackOn = fallback.codes;
  }
  if (chain.length > 0) given.chain = [...chain];
  if (caller.sessionId !== undefined) given.sessionId = caller.sessionId;
  if (externalTraceId !== undefined) given.externalTraceId = externalTraceId;
  return given;
}

function orderKeyOf({ envelope: { ordering, sessionRef }, caller }: MessageRequest): string | undefined {
  if (ordering === undefined) return undefined;
  const key = ordering.key ?? sessionRef;
  if (key !== undefined) return `${caller.tenant}/${caller.principal}/${key}`;
  throw new ReachError("INVALID_REQUEST", "ordering needs a key: give ordering.key, or a sessionRef.", {
    path: "ordering.key",
  });
}

function firstOf({ offers, gone }: Resolved) {
  return offers[0] ?? gone[0];
}

/** Why a task that is stored under the key of a new one cannot stand for it: it is another's, or says something else. */
export function otherThan(stored: TaskRecord, fresh: NewTask, caller: Caller): ReachError | undefined {
  if (!mayTouch(caller, stored)) return notYours(stored.messageId);
  if (stored.contentHash === fresh.contentHash) return undefined;
  return new ReachError(
    "CONFLICT",
    `the key "${fresh.idempotencyKey}" was used before for other content (message ${stored.messageId}); a new task needs a new key.`,
    { details: { messageId: stored.messageId } },
  );
}

/** What a task says, as far as it tells one task from another under the same key. */
export function taskContent({ envelope, topic, input, sent }: MessageRequest): string {
  const what = topic === undefined ? (envelope.capability ?? envelope.intent) : `topic ${topic}`;
  return contentHashOf(envelope.target, what, input, sent.inputText);
}
