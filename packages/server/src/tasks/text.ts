import type { AttemptRecord, TaskRecord } from "../ports/task-store.js";
import { iso } from "../time/iso.js";

/**
 * The wire's shape of a task as JSON text; input and data stand in it as they came, to the digit. Put together by hand, since
 * it is made for every task that ends: ids and times need no escaping.
 */
export function taskText(task: TaskRecord, parts: { input: boolean }): string {
  let text = `{"messageId":"${task.messageId}","traceId":"${task.traceId}","kind":"task","state":"${task.state}","capability":${JSON.stringify(task.capability)}`;
  if (task.request.topic !== undefined) text += `,"topic":${JSON.stringify(task.request.topic)}`;
  if (task.agentId !== undefined) text += `,"agentId":"${task.agentId}"`;
  if (task.instanceId !== undefined) text += `,"instanceId":"${task.instanceId}"`;
  text += `,"attempt":${task.attempt},"attempts":[${task.attempts.map(attemptText).join(",")}],"createdAt":"${iso(task.createdAt)}"`;
  if (task.dueAt !== undefined) text += `,"dueAt":"${iso(task.dueAt)}"`;
  text += `,"deadlineAt":"${iso(task.deadlineAt)}"`;
  if (task.settledAt !== undefined) text += `,"settledAt":"${iso(task.settledAt)}"`;
  text += `,"idempotencyKey":${JSON.stringify(task.idempotencyKey)}`;
  if (task.groupId !== undefined) text += `,"groupId":${JSON.stringify(task.groupId)}`;
  if (task.request.externalTraceId !== undefined)
    text += `,"externalTraceId":${JSON.stringify(task.request.externalTraceId)}`;
  if (task.error !== undefined) text += `,"reason":"${reasonOf(task)}","error":${JSON.stringify(task.error)}`;
  if (task.receipt !== undefined) text += `,"receipt":${JSON.stringify(task.receipt)}`;
  if (parts.input) text += `,"input":${task.input}`;
  if (task.state === "completed" && task.attempts.some((a) => a.outcome === "completed" && a.standIn !== undefined))
    text += ',"degraded":true';
  if (task.data !== undefined) text += `,"data":${task.data}`;
  return `${text}}`;
}

/** Why it stands among the dead letters, or was canceled: a word to filter by. */
function reasonOf({ state, error }: TaskRecord): string {
  return state === "failed" && error!.code === "AGENT_ERROR" ? "business_error" : error!.code.toLowerCase();
}

function attemptText(a: AttemptRecord): string {
  let text = `{"attempt":${a.attempt},"agentId":"${a.agentId}","instanceId":"${a.instanceId}","epoch":${a.epoch},"sentAt":"${iso(a.sentAt)}"`;
  if (a.standIn !== undefined) text += `,"standIn":${JSON.stringify(a.standIn)}`;
  if (a.acceptedAt !== undefined) text += `,"acceptedAt":"${iso(a.acceptedAt)}"`;
  if (a.endedAt !== undefined) text += `,"endedAt":"${iso(a.endedAt)}"`;
  return `${text},"outcome":"${a.outcome}"}`;
}
