import type { AttemptRecord, TaskRecord } from "../../ports/task-store.js";

/** What has happened to a task since it came. */
export type Progress = Pick<
  TaskRecord,
  "agentId" | "instanceId" | "attempt" | "attempts" | "deliveryFailures" | "losses" | "error" | "receipt"
>;

/**
 * Progress as JSON text, put together by hand. Each step of a task writes it anew, so it is kept short: arrays in a fixed order instead of names,
 * and of an attempt no agent and instance if they are the task's own. Later versions may add places at the end.
 * `taken`: how much of the spare room goes to the result, which is written along.
 */
export function packProgress(task: Progress, taken = 0): string {
  if (isUntouched(task)) return FRESH;
  const { agentId, instanceId, attempt, attempts, deliveryFailures, losses, error, receipt } = task;
  let text = `[${json(agentId)},${json(instanceId)},${attempt},${deliveryFailures},${losses},[`;
  for (let i = 0; i < attempts.length; i++)
    text += (i === 0 ? "" : ",") + packAttempt(attempts[i]!, agentId, instanceId);
  text += "]";
  if (error !== undefined || receipt !== undefined) text += `,${json(error)}`;
  if (receipt !== undefined) text += `,${json(receipt)}`;
  return `${text}]`.padEnd(ROOM - taken);
}

function json(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}

export function isUntouched(task: Progress): boolean {
  const { agentId, instanceId, attempt, attempts, deliveryFailures, losses, error, receipt } = task;
  return !agentId && !instanceId && attempt + attempts.length + deliveryFailures + losses === 0 && !error && !receipt;
}

/** What hangs below is compared by identity: a false no costs a longer write and nothing else. */
export function isSameProgress(a: Progress, b: Progress): boolean {
  return (
    a.agentId === b.agentId &&
    a.instanceId === b.instanceId &&
    a.attempt === b.attempt &&
    a.attempts === b.attempts &&
    a.deliveryFailures === b.deliveryFailures &&
    a.losses === b.losses &&
    a.error === b.error &&
    a.receipt === b.receipt
  );
}

/** Where agentId and instanceId are found in the text, for conditions in SQL. */
export const AGENT_ID = "progress ->> '$[0]'";
export const INSTANCE_ID = "progress ->> '$[1]'";

/** A row is inserted with room for its first attempt: growing later would split its page. JSON may end in spaces. */
const ROOM = 176;

/** What nearly every insert writes. */
export const FRESH = "[null,null,0,0,0,[]]".padEnd(ROOM);

type Packed<T> = T | null | undefined;
type PackedProgress = [
  agentId: Packed<string>,
  instanceId: Packed<string>,
  attempt: number,
  deliveryFailures: number,
  losses: number,
  attempts: PackedAttempt[],
  error?: Packed<NonNullable<TaskRecord["error"]>>,
  receipt?: Packed<NonNullable<TaskRecord["receipt"]>>,
];

/** A field that an attempt gets one day needs a place below: until it has one, this is `never`, and nothing here compiles. */
type PackedAttempt = keyof AttemptRecord extends Placed ? AttemptPlaces : never;
type Placed =
  | "attempt"
  | "agentId"
  | "instanceId"
  | "epoch"
  | "outcome"
  | "sentAt"
  | "acceptedAt"
  | "endedAt"
  | "error"
  | "standIn";
type AttemptPlaces = [
  attempt: number,
  agentId: Packed<string>,
  instanceId: Packed<string>,
  epoch: number,
  outcome: AttemptRecord["outcome"],
  sentAt: number,
  acceptedAt: Packed<number>,
  endedAt: Packed<number>,
  error?: Packed<NonNullable<AttemptRecord["error"]>>,
  standIn?: string,
];

export function unpackProgress(text: string): Progress {
  const [agentId, instanceId, attempt, deliveryFailures, losses, attempts, error, receipt] = JSON.parse(
    text,
  ) as PackedProgress;
  return {
    agentId: agentId ?? undefined,
    instanceId: instanceId ?? undefined,
    attempt,
    attempts: attempts.map((each) => unpackAttempt(each, agentId, instanceId)),
    deliveryFailures,
    losses,
    error: error ?? undefined,
    receipt: receipt ?? undefined,
  };
}

/** The places of `AttemptPlaces`, in their order. */
function packAttempt(each: AttemptRecord, agentId: Packed<string>, instanceId: Packed<string>): string {
  const { attempt, epoch, outcome, sentAt, acceptedAt, endedAt, error, standIn } = each;
  const ownAgentId = each.agentId === agentId ? "null" : json(each.agentId);
  const ownInstanceId = each.instanceId === instanceId ? "null" : json(each.instanceId);
  const text = `[${attempt},${ownAgentId},${ownInstanceId},${epoch},"${outcome}",${sentAt},${acceptedAt ?? null},${endedAt ?? null}`;
  if (error === undefined && standIn === undefined) return `${text}]`;
  return standIn === undefined ? `${text},${json(error)}]` : `${text},${json(error)},${json(standIn)}]`;
}

function unpackAttempt(packed: PackedAttempt, agentId: Packed<string>, instanceId: Packed<string>): AttemptRecord {
  const [attempt, ownAgentId, ownInstanceId, epoch, outcome, sentAt, acceptedAt, endedAt, error, standIn] = packed;
  const each: { -readonly [Key in keyof AttemptRecord]: AttemptRecord[Key] } = {
    attempt,
    agentId: ownAgentId ?? agentId!,
    instanceId: ownInstanceId ?? instanceId!,
    epoch,
    sentAt,
    outcome,
  };
  if (typeof acceptedAt === "number") each.acceptedAt = acceptedAt;
  if (typeof endedAt === "number") each.endedAt = endedAt;
  if (error) each.error = error;
  if (standIn !== undefined) each.standIn = standIn;
  return each;
}
