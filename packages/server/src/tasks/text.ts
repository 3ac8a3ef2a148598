import type { Attempt } from "@agent-reach/protocol";
import type { AttemptRecord, TaskRecord } from "../ports/task-store.js";

const iso = (ms: number): string => new Date(ms).toISOString();

/** The wire's shape of a task as JSON text; input and data stand in it as they came, to the digit. */
export function taskText(task: TaskRecord, parts: { input: boolean }): string {
  const head: Record<string, unknown> = {
    messageId: task.messageId,
    traceId: task.traceId,
    kind: "task",
    state: task.state,
    capability: task.capability,
    ...(task.agentId !== undefined && { agentId: task.agentId }),
    ...(task.instanceId !== undefined && { instanceId: task.instanceId }),
    attempt: task.attempt,
    attempts: task.attempts.map(attemptShape),
    createdAt: iso(task.createdAt),
    ...(task.dueAt !== undefined && { dueAt: iso(task.dueAt) }),
    deadlineAt: iso(task.deadlineAt),
    ...(task.settledAt !== undefined && { settledAt: iso(task.settledAt) }),
    idempotencyKey: task.idempotencyKey,
    ...(task.groupId !== undefined && { groupId: task.groupId }),
    ...(task.request.externalTraceId !== undefined && { externalTraceId: task.request.externalTraceId }),
    ...(task.error !== undefined && { reason: reasonOf(task), error: task.error }),
    ...(task.receipt !== undefined && { receipt: task.receipt }),
  };
  let text = JSON.stringify(head).slice(0, -1);
  if (parts.input) text += `,"input":${task.input}`;
  if (task.data !== undefined) text += `,"data":${task.data}`;
  return `${text}}`;
}

/** Why it stands among the dead letters, or was canceled: a word to filter by. */
function reasonOf({ state, error }: TaskRecord): string {
  return state === "failed" && error!.code === "AGENT_ERROR" ? "business_error" : error!.code.toLowerCase();
}

function attemptShape(a: AttemptRecord): Attempt {
  return {
    attempt: a.attempt,
    agentId: a.agentId,
    instanceId: a.instanceId,
    epoch: a.epoch,
    sentAt: iso(a.sentAt),
    ...(a.acceptedAt !== undefined && { acceptedAt: iso(a.acceptedAt) }),
    ...(a.endedAt !== undefined && { endedAt: iso(a.endedAt) }),
    outcome: a.outcome,
  };
}
