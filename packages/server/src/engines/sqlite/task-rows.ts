import { type NewTask, OVERDUE, type TaskRecord } from "../../ports/task-store.js";
import { placeOf } from "../order-place.js";
import type { Row, Value } from "./driver.js";
import { stateNumber, storedStates } from "./stored-states.js";
import { packGiven, unpackGiven } from "./task-given.js";
import { isSameProgress, isUntouched, packProgress, unpackProgress } from "./task-progress.js";

/** Longer texts lie in a table of their own, else every update would write them anew. In characters. */
export const NEAR_TEXT_MAX = 1_000;
export const FAR_INPUT = 1;
export const FAR_DATA = 2;

/** The columns that every insert fills. */
const common = "seq, lane, due_at, deadline_at, capability, created_at, message_id, trace_id, given, input";
/** Those which a task that has just been submitted leaves as they are by default. */
const rare = "state, progress, blocked, scoped_key, group_id, order_key, order_at, settled_at, notify, far, data";

export const SELECT_TASK = `SELECT revision, ${common}, ${rare} FROM tasks`;
export const INSERT_TASK = insert(common);
/** One that goes out at once: it is stored as sent. */
export const INSERT_SENT_TASK = insert(`${common}, state, progress`);
export const INSERT_RARE_TASK = insert(`${common}, ${rare}`);

const where = "WHERE seq = ? AND revision = ?";
/** A step of an attempt, which is most updates. */
export const UPDATE_STEP = `UPDATE tasks SET revision = revision + 1, state = ?, lane = ?, due_at = ?, settled_at = ?, progress = ? ${where}`;
export const UPDATE_WHOLE = UPDATE_STEP.replace("SET", "SET notify = ?, deadline_at = ?, capability = ?,");
/** The end of a task, if its data is short: a result, as a rule. */
export const UPDATE_SETTLED = `UPDATE tasks SET revision = revision + 1, lane = '', due_at = NULL, state = ?, settled_at = ?, notify = ?, data = ?, progress = ? ${where}`;
/** The submitter has heard of the end. */
export const UPDATE_HEARD = `UPDATE tasks SET revision = revision + 1, notify = 0 ${where}`;
/** The same for many at once: pairs of seq and revision, as JSON. */
export const UPDATE_ALL_HEARD = `UPDATE tasks SET revision = revision + 1, notify = 0 FROM json_each(?) AS heard
  WHERE seq = heard.value ->> 0 AND revision = heard.value ->> 1`;
export const UPDATE_WHOLE_AND_DATA = UPDATE_WHOLE.replace("SET", `SET data = ?, far = (far & ${FAR_INPUT}) | ?,`);

function insert(columns: string): string {
  return `INSERT INTO tasks (${columns}) VALUES (${columns.replace(/\w+/g, "?")}) ON CONFLICT DO NOTHING`;
}

/** Where `seq` stands in the values of an insert: it is known only within the transaction. */
export const SEQ_VALUE = 0;

export function commonValues(task: NewTask, far: number): Value[] {
  return [
    0,
    task.lane,
    task.dueAt ?? null,
    task.deadlineAt,
    task.capability,
    task.createdAt,
    task.messageId,
    task.traceId,
    packGiven(task),
    far & FAR_INPUT ? null : task.input,
  ];
}

export function rareValues(task: NewTask, far: number): Value[] {
  const near = far & FAR_DATA ? null : (task.data ?? null);
  return [
    stateNumber(task.state),
    packProgress(task),
    // Whether it may go is decided when it is there.
    task.orderKey === undefined ? 0 : 1,
    task.idempotencyKey === task.messageId ? null : scopedKey(task),
    task.groupId ?? null,
    task.orderKey ?? null,
    task.orderKey === undefined ? null : placeOf(task),
    task.settledAt ?? null,
    task.notify ? 1 : 0,
    far,
    near,
  ];
}

export function sentValues(task: NewTask): Value[] {
  return [stateNumber(task.state), packProgress(task)];
}

/** Whether a task has a value that inserts of the common columns, state and progress would leave out. */
export function isRare(task: NewTask, far: number): boolean {
  return (
    far !== 0 ||
    task.notify ||
    task.idempotencyKey !== task.messageId ||
    task.groupId !== undefined ||
    task.orderKey !== undefined ||
    task.settledAt !== undefined ||
    task.data !== undefined
  );
}

/** Whether nothing has happened yet. */
export function isFresh(task: NewTask): boolean {
  return task.state === "queued" && isUntouched(task);
}

export function wholeValues(task: TaskRecord): Value[] {
  return [task.notify ? 1 : 0, task.deadlineAt, task.capability, ...stepValues(task)];
}

export function settledValues(task: TaskRecord, data: string): Value[] {
  return [
    stateNumber(task.state),
    task.settledAt ?? null,
    task.notify ? 1 : 0,
    data,
    packProgress(task, data.length),
    task.seq,
    task.revision,
  ];
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
  ];
}

/** What an update has to write. */
export type Extent = "heard" | "step" | "settled" | "whole";

/** The least that `task` needs in place of `stored`, which is what the cache knows. */
export function extentOf(task: TaskRecord, stored: TaskRecord | undefined, data: string | undefined): Extent {
  const known =
    stored?.revision === task.revision &&
    stored.deadlineAt === task.deadlineAt &&
    stored.capability === task.capability;
  if (!known) return "whole";
  if (data !== undefined) {
    const isResult = stored.data === undefined && task.lane === OVERDUE && task.dueAt === undefined;
    return isResult && data.length <= NEAR_TEXT_MAX ? "settled" : "whole";
  }
  if (stored.notify === task.notify) return "step";
  return stored.notify && isSameBut(task, stored) ? "heard" : "whole";
}

/** Whether two records of one task differ in nothing that an update writes, but in `notify`. */
function isSameBut(task: TaskRecord, stored: TaskRecord): boolean {
  return (
    task.state === stored.state &&
    task.lane === stored.lane &&
    task.dueAt === stored.dueAt &&
    task.settledAt === stored.settledAt &&
    isSameProgress(task, stored)
  );
}

export function scopedKey({
  tenant,
  principal,
  idempotencyKey,
}: Pick<NewTask, "tenant" | "principal" | "idempotencyKey">): string {
  return JSON.stringify([tenant, principal, idempotencyKey]);
}

/** Reads a text from the other table. */
export type ReadText = (id: number) => string;

export function toTask(row: Row, far: ReadText): TaskRecord {
  const given = unpackGiven(row["given"] as string, row["message_id"] as string);
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
    idempotencyKey: given.idempotencyKey,
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

/** As the store will have it; its place is known only once it is inserted. */
export function firstRevision(task: NewTask): { -readonly [Key in keyof TaskRecord]: TaskRecord[Key] } {
  return { ...task, seq: 0, revision: 1 };
}

export function nextRevision(task: TaskRecord, data: string | undefined): TaskRecord {
  const revision = task.revision + 1;
  return data === undefined ? { ...task, revision } : { ...task, revision, data };
}

export const inputId = (seq: number): number => 2 * seq;
export const dataId = (seq: number): number => 2 * seq + 1;

function optional<T extends Value>(value: Value | undefined): T | undefined {
  return (value ?? undefined) as T | undefined;
}
