import type { NewTask, TaskRecord } from "../../ports/task-store.js";
import type { Row, Value } from "./driver.js";
import { stateNumber, storedStates } from "./stored-states.js";
import { FRESH, packProgress, unpackProgress } from "./task-progress.js";

/** Longer texts lie in a table of their own, else every update would write them anew. In characters. */
export const NEAR_TEXT_MAX = 1_000;
export const FAR_INPUT = 1;
export const FAR_DATA = 2;

/** What the sender said. */
interface Given extends Pick<TaskRecord, "tenant" | "principal" | "contentHash" | "request"> {
  /** Left out if it is the messageId. */
  idempotencyKey?: string;
}

/** The columns that every insert fills. */
const common = "seq, lane, due_at, deadline_at, capability, created_at, message_id, trace_id, given, input";
/** Those which a task that has just been submitted leaves as they are by default. */
const rare = "state, progress, blocked, scoped_key, group_id, order_key, settled_at, notify, far, data";

export const SELECT_TASK = `SELECT revision, ${common}, ${rare} FROM tasks`;
export const INSERT_TASK = insert(common);
export const INSERT_RARE_TASK = insert(`${common}, ${rare}`);

const where = "WHERE seq = ? AND revision = ? AND message_id = ?";
/** A step of an attempt, which is most updates. */
export const UPDATE_STEP = `UPDATE tasks SET revision = revision + 1, state = ?, lane = ?, due_at = ?, settled_at = ?, progress = ? ${where}`;
export const UPDATE_WHOLE = UPDATE_STEP.replace("SET", "SET notify = ?, deadline_at = ?, capability = ?,");
export const UPDATE_WHOLE_AND_DATA = UPDATE_WHOLE.replace("SET", `SET data = ?, far = (far & ${FAR_INPUT}) | ?,`);

function insert(columns: string): string {
  return `INSERT INTO tasks (${columns}) VALUES (${columns.replace(/\w+/g, "?")}) ON CONFLICT DO NOTHING`;
}

/** Where `seq` and `blocked` stand in the values of an insert: they are known only within the transaction. */
export const SEQ_VALUE = 0;
export const BLOCKED_VALUE = 12;

export function commonValues(task: NewTask, far: number): Value[] {
  const { tenant, principal, contentHash, request } = task;
  const given: Given = { tenant, principal, contentHash, request };
  if (task.idempotencyKey !== task.messageId) given.idempotencyKey = task.idempotencyKey;
  return [
    0,
    task.lane,
    task.dueAt ?? null,
    task.deadlineAt,
    task.capability,
    task.createdAt,
    task.messageId,
    task.traceId,
    JSON.stringify(given),
    far & FAR_INPUT ? null : task.input,
  ];
}

export function rareValues(task: NewTask, far: number): Value[] {
  const near = far & FAR_DATA ? null : (task.data ?? null);
  return [
    stateNumber(task.state),
    packProgress(task),
    0,
    task.idempotencyKey === task.messageId ? null : scopedKey(task),
    task.groupId ?? null,
    task.orderKey ?? null,
    task.settledAt ?? null,
    task.notify ? 1 : 0,
    far,
    near,
  ];
}

/** Whether a task has a value that an insert of the common columns would leave out. */
export function isRare(task: NewTask, far: number): boolean {
  return (
    far !== 0 ||
    task.state !== "queued" ||
    packProgress(task) !== FRESH ||
    task.notify ||
    task.idempotencyKey !== task.messageId ||
    task.groupId !== undefined ||
    task.orderKey !== undefined ||
    task.settledAt !== undefined ||
    task.data !== undefined
  );
}

export function wholeValues(task: TaskRecord): Value[] {
  return [task.notify ? 1 : 0, task.deadlineAt, task.capability, ...stepValues(task)];
}

export function stepValues(task: TaskRecord): Value[] {
  return [
    stateNumber(task.state),
    task.lane,
    task.dueAt ?? null,
    task.settledAt ?? null,
    packProgress(task),
    task.seq,
    task.revision,
    task.messageId,
  ];
}

/** Whether an update changes nothing beyond a step. */
export function isStep(task: TaskRecord, stored: TaskRecord | undefined): boolean {
  return (
    stored?.revision === task.revision &&
    stored.notify === task.notify &&
    stored.deadlineAt === task.deadlineAt &&
    stored.capability === task.capability
  );
}

export function scopedKey({
  tenant,
  principal,
  idempotencyKey,
}: Pick<NewTask, "tenant" | "principal" | "idempotencyKey">): string {
  return JSON.stringify([tenant, principal, idempotencyKey]);
}

/** `far` reads a text from the other table. */
export function toTask(row: Row, far: (id: number) => string): TaskRecord {
  const given = JSON.parse(row["given"] as string) as Given;
  const progress = unpackProgress(row["progress"] as string);
  const seq = row["seq"] as number;
  const farBits = row["far"] as number;
  return {
    seq,
    revision: row["revision"] as number,
    messageId: row["message_id"] as string,
    traceId: row["trace_id"] as string,
    tenant: given.tenant,
    principal: given.principal,
    idempotencyKey: given.idempotencyKey ?? (row["message_id"] as string),
    contentHash: given.contentHash,
    state: storedStates[row["state"] as number]!,
    lane: row["lane"] as string,
    dueAt: optional<number>(row["due_at"]),
    deadlineAt: row["deadline_at"] as number,
    capability: row["capability"] as string,
    agentId: progress.agentId,
    instanceId: progress.instanceId,
    groupId: optional<string>(row["group_id"]),
    orderKey: optional<string>(row["order_key"]),
    createdAt: row["created_at"] as number,
    settledAt: optional<number>(row["settled_at"]),
    attempt: progress.attempt,
    attempts: progress.attempts,
    deliveryFailures: progress.deliveryFailures,
    losses: progress.losses,
    request: given.request,
    error: progress.error,
    receipt: progress.receipt,
    notify: row["notify"] === 1,
    input: farBits & FAR_INPUT ? far(inputId(seq)) : (row["input"] as string),
    data: farBits & FAR_DATA ? far(dataId(seq)) : optional<string>(row["data"]),
  };
}

/**
 * A copy, deep enough: what hangs below a receipt, an error or a request is never changed in place by anyone. Written out, since
 * a spread of so many fields takes microseconds and gives each record a shape of its own.
 */
export function copyTask(task: TaskRecord): TaskRecord {
  return {
    seq: task.seq,
    revision: task.revision,
    messageId: task.messageId,
    traceId: task.traceId,
    tenant: task.tenant,
    principal: task.principal,
    idempotencyKey: task.idempotencyKey,
    contentHash: task.contentHash,
    state: task.state,
    lane: task.lane,
    dueAt: task.dueAt,
    deadlineAt: task.deadlineAt,
    capability: task.capability,
    agentId: task.agentId,
    instanceId: task.instanceId,
    groupId: task.groupId,
    orderKey: task.orderKey,
    createdAt: task.createdAt,
    settledAt: task.settledAt,
    attempt: task.attempt,
    attempts: task.attempts.length === 0 ? [] : task.attempts.map((attempt) => ({ ...attempt })),
    deliveryFailures: task.deliveryFailures,
    losses: task.losses,
    request: task.request,
    error: task.error,
    receipt: task.receipt,
    notify: task.notify,
    input: task.input,
    data: task.data,
  };
}

/** As the store will have it; its place is known only once it is inserted. */
export function firstRevision(task: NewTask): TaskRecord {
  const next = copyTask(task as TaskRecord);
  next.seq = 0;
  next.revision = 1;
  return next;
}

export function nextRevision(task: TaskRecord, data: string | undefined): TaskRecord {
  const next = copyTask(task);
  next.revision += 1;
  if (data !== undefined) next.data = data;
  return next;
}

export const inputId = (seq: number): number => 2 * seq;
export const dataId = (seq: number): number => 2 * seq + 1;

function optional<T extends Value>(value: Value | undefined): T | undefined {
  return (value ?? undefined) as T | undefined;
}
