import type { Task } from "@agent-reach/protocol";
import { shortId } from "./id.js";
import { type Paint, paintState } from "./paint.js";
import { renderFields, renderTable, shorten } from "./table.js";
import { formatAge, formatDuration } from "./time.js";

export function renderTasks(tasks: readonly Task[], now: number, paint: Paint): string {
  if (tasks.length === 0) return "No such tasks.\n";
  const rows = tasks.map((task) => [
    task.messageId,
    paintState(task.state, paint),
    task.capability,
    task.agentId ?? "-",
    String(task.attempt),
    formatAge(task.createdAt, now),
    shorten(task.error === undefined ? waitsFor(task, now) : explainError(task.error), 70),
  ]);
  return renderTable(["TASK", "STATE", "CAPABILITY", "AGENT", "TRIES", "CREATED", "NOTE"], rows, paint);
}

/** Everything about one task but its data, which is printed to the digit by whoever has the text. */
export function renderTask(task: Task, now: number, paint: Paint): string {
  const head = renderFields(
    [
      [task.kind, task.messageId],
      ["state", paintState(task.state, paint)],
      ["capability", task.capability],
      ["agent", task.agentId === undefined ? undefined : `${paint.name(task.agentId)} ${task.instanceId ?? ""}`.trim()],
      ["created", `${task.createdAt} (${formatAge(task.createdAt, now)})`],
      ["next look", task.dueAt === undefined ? undefined : `${task.dueAt} (${formatAge(task.dueAt, now)})`],
      ["deadline", isSettled(task) ? undefined : task.deadlineAt],
      ["group", task.groupId],
      ["trace", task.traceId],
      ["error", task.error === undefined ? undefined : paint.bad(explainError(task.error))],
    ],
    paint,
  );
  return task.attempts.length === 0 ? head : `${head}\n${renderAttempts(task, paint)}`;
}

function renderAttempts(task: Task, paint: Paint): string {
  const rows = task.attempts.map((attempt) => [
    String(attempt.attempt),
    attempt.agentId ?? "-",
    shortId(attempt.instanceId),
    attempt.sentAt,
    since(attempt.sentAt, attempt.acceptedAt),
    since(attempt.sentAt, attempt.endedAt),
    attempt.outcome?.replaceAll("_", " ") ?? "-",
  ]);
  return renderTable(["ATTEMPT", "AGENT", "INSTANCE", "SENT", "ACCEPTED", "ENDED", "OUTCOME"], rows, paint);
}

export function isSettled(task: { state: string }): boolean {
  return task.state === "completed" || task.state === "failed" || task.state === "canceled" || task.state === "dead";
}

function waitsFor(task: Task, now: number): string {
  if (isSettled(task)) return "";
  if (task.state === "stalled") return "waits for a person: no receipt came in time";
  return task.dueAt !== undefined && Date.parse(task.dueAt) > now ? `next look ${formatAge(task.dueAt, now)}` : "";
}

function explainError({ code, message, details }: NonNullable<Task["error"]>): string {
  // An agent's own words say more than the sentence that the node puts around them.
  const own = details?.["message"];
  const plain = typeof own === "string" && own !== "" ? own : message.replace(/^\[[A-Z_]+\] /, "");
  const ownCode = typeof details?.["code"] === "string" ? ` ${details["code"]}` : "";
  return `${code}${ownCode}: ${plain}`;
}

const since = (from: string, to: string | undefined): string =>
  to === undefined ? "-" : `+${formatDuration(Date.parse(to) - Date.parse(from))}`;
