import type { AgentErrorShape, DeliveryMode, ErrorBody, OnStalled, Receipt, TaskState } from "@agent-reach/protocol";

/**
 * Where tasks are kept.
 *
 * TS1  `insert` stores a task once: a second one with the same messageId, or the same scope and idempotencyKey, is not
 *      stored, and the first one is answered. (An idempotencyKey that was not given is the messageId itself, so a key
 *      equal to another task's messageId in the same scope is the same key.)
 * TS2  `insert` and `update` resolve only when the change is durable, as far as the engine is durable at all.
 * TS3  `update` is compare-and-set on `revision`, which it raises by one; it answers the stored task, or undefined on a mismatch.
 * TS4  `claimDue` hands no task to two callers: a claimed one is not handed out again until it has been updated, or
 *      `release`d, or the store was reopened. Claims need not survive the process.
 * TS5  `claimDue` on a lane hands out queued tasks whose `dueAt` has come, oldest dueAt first, then in order of insertion.
 *      Of those with one `orderKey` only the first may go, and only while none of the others is in somebody's hands or
 *      stalled. First is the lowest `request.sequence`, then those without one, among equals in order of insertion. A claim
 *      keeps nobody's place: an `update` that would put a queued task into somebody's hands when it may not go (any more)
 *      changes nothing and answers undefined.
 * TS6  `claimDue` on the lane OVERDUE hands out tasks that are not queued but due, and queued ones past their deadline.
 * TS7  Input and data are kept as the JSON text that came in, to the digit.
 * TS8  A store that cannot write rejects with NOT_READY, has changed nothing, and works again when the cause is gone.
 * TS9  `insertAll` stores all of them (TS1), or none: where one is there already and `isSame` says no to that, nothing is
 *      stored, and what is there is answered. `isSame` is asked within the change, so it only looks and compares.
 *
 * Records are values: nobody changes one that was given or handed out, so the store need not copy them.
 * It knows no clock, moves nothing by itself, and does not promise that `list` sees one moment across pages.
 */
export interface TaskStore {
  insert(task: NewTask): Promise<Inserted>;
  insertAll(tasks: readonly NewTask[], isSame: (stored: TaskRecord, given: NewTask) => boolean): Promise<InsertedAll>;
  get(messageId: string): Promise<TaskRecord | undefined>;
  /** `data`: the raw JSON text of the result where this update brings one. Undefined: it did not fit (TS3, TS5). */
  update(task: TaskRecord, data?: string): Promise<TaskRecord | undefined>;
  /**
   * Up to `limit` tasks of the lane that are due at `now`, marked as claimed. When there are fewer, `nextAt` is the wall ms
   * at which the lane will have another one, if it waits for a moment (and not for a predecessor).
   */
  claimDue(claim: { lane: string; now: number; limit: number }): Promise<Claimed>;
  /** Gives claims back unchanged. */
  release(messageIds: readonly string[]): void;
  /** The highest `request.sequence` among the tasks of an order that have ended and are still kept. */
  lastEnded(orderKey: string): Promise<number | undefined>;
  /** Newest first, or in ascending order of insertion for `order: "oldest"`. `after` is a `seq` of the page before. */
  list(filter: TaskFilter, page: { after?: number; limit: number; order?: "newest" | "oldest" }): Promise<TaskRecord[]>;
  /** What waits, by lane: for queues, for the dispatcher's start, and for metrics. */
  counts(): Promise<TaskCounts>;
  /** How many tasks of a group there are, in each state: a row for each principal that has any. */
  countGroup(groupId: string): Promise<GroupCount[]>;
  /** The same for all groups that have any open tasks, of which alone it counts. */
  countOpenGroups(): Promise<GroupCount[]>;
  /** Forgets up to `limit` terminal tasks that settled before `before`; answers how many. */
  trim(before: number, limit: number): Promise<number>;
}

export interface Inserted {
  task: TaskRecord;
  duplicate: boolean;
}

/** In the order of what was given; or the place of the one that stands against it, with what is stored in its place. */
export type InsertedAll = { ok: true; inserted: Inserted[] } | { ok: false; at: number; stored: TaskRecord };

export interface GroupCount {
  groupId: string;
  principal: string;
  byState: Record<TaskState, number>;
}

export interface Claimed {
  tasks: TaskRecord[];
  nextAt: number | undefined;
}

/** The lane of everything that is not waiting for a free instance. */
export const OVERDUE = "";

export interface TaskRecord {
  /** Order of insertion on this store, from 1. Set by the store. */
  readonly seq: number;
  readonly revision: number;
  readonly messageId: string;
  readonly traceId: string;
  readonly tenant: string;
  readonly principal: string;
  /** Given by the sender, or the messageId. */
  readonly idempotencyKey: string;
  /** SHA-256 of target, capability or intent, and canonical input. */
  readonly contentHash: string;
  readonly state: TaskState;
  /** Which waiting line it stands in while queued: tasks of one lane can be served by the same instances. Else OVERDUE. */
  readonly lane: string;
  /** When someone must look at it again, wall ms; undefined: nobody (terminal, or stalled for review). */
  readonly dueAt: number | undefined;
  /** When it stops waiting to be delivered, wall ms. */
  readonly deadlineAt: number;
  readonly capability: string;
  readonly agentId: string | undefined;
  readonly instanceId: string | undefined;
  readonly groupId: string | undefined;
  /** Tasks with one orderKey are handed out one after another, by `request.sequence` (TS5). */
  readonly orderKey: string | undefined;
  readonly createdAt: number;
  /** When it became terminal, wall ms. */
  readonly settledAt: number | undefined;
  /** Number of the newest attempt; 0 before the first. Never reused. */
  readonly attempt: number;
  readonly attempts: readonly AttemptRecord[];
  /** Deliveries that failed for want of an acknowledgement, and losses of an instance: counted apart. */
  readonly deliveryFailures: number;
  readonly losses: number;
  readonly request: Readonly<TaskRequest>;
  readonly error: ErrorBody | undefined;
  readonly receipt: Receipt | undefined;
  /** Whether the submitter has yet to acknowledge the terminal state. */
  readonly notify: boolean;
  /** Raw JSON text. */
  readonly input: string;
  readonly data: string | undefined;
}

export type NewTask = Omit<TaskRecord, "seq" | "revision">;

/** What the sender asked for, as far as delivery needs it. Never changes. */
export interface TaskRequest {
  target?: { agentId?: string; instanceId?: string };
  intent?: string;
  /** What the words of the intent were understood by, when they were: how well the capability fits, 0..1, and what says so. */
  understood?: { match: number; reasons: readonly string[] };
  sessionRef?: string;
  sequence?: number;
  partitionKey?: string;
  parentId?: string;
  labels?: Record<string, string>;
  version?: string;
  weights?: unknown;
  /** The topic that it was published to; the capability is the same. */
  topic?: string;
  /** Who may stand in, in this order, and after which business errors (RES-9). */
  fallback?: readonly string[];
  fallbackOn?: readonly string[];
  source: { agentId?: string; instanceId?: string };
  chain?: { agentId?: string; messageId: string }[];
  timeoutMs: number;
  completionTimeoutMs: number;
  ackTimeoutMs?: number;
  onStalled: OnStalled;
  delivery: DeliveryMode;
  /** The session that wants to be told, as long as it lives. */
  sessionId?: string;
  externalTraceId?: string;
}

export interface AttemptRecord {
  readonly attempt: number;
  readonly agentId: string;
  readonly instanceId: string;
  readonly epoch: number;
  /** The name, in the task's list, of somebody who stood in. */
  readonly standIn?: string;
  /** Wall ms. */
  readonly sentAt: number;
  readonly acceptedAt?: number;
  readonly endedAt?: number;
  readonly outcome:
    | "pending"
    | "completed"
    | "failed"
    /** A business error after which somebody else was to be asked. */
    | "passed_on"
    | "refused"
    | "lost"
    | "no_ack"
    | "stalled"
    | "canceled"
    | "handed_back";
  readonly error?: AgentErrorShape;
}

export interface TaskFilter {
  states?: readonly TaskState[];
  capability?: string;
  agentId?: string;
  instanceId?: string;
  groupId?: string;
  principal?: string;
  traceId?: string;
  /** Created at or after, wall ms. */
  since?: number;
  /** Only those whose submitter has yet to be told. */
  notify?: boolean;
}

export interface TaskCounts {
  byState: Record<TaskState, number>;
  /** Queued tasks. `firstDueAt` and `oldestAt` are wall ms. */
  lanes: { lane: string; capability: string; waiting: number; firstDueAt: number; oldestAt: number }[];
  /** The earliest moment at which OVERDUE will have something, wall ms. */
  overdueAt: number | undefined;
}
