import type {
  Claimed,
  GroupCount,
  Inserted,
  InsertedAll,
  NewTask,
  TaskCounts,
  TaskFilter,
  TaskRecord,
  TaskStore,
} from "../../ports/task-store.js";
import { OVERDUE } from "../../ports/task-store.js";
import { isTerminal, noTasks } from "../task-states.js";
import { type Due, DueQueue } from "./due-queue.js";
import { TaskOrder } from "./task-order.js";

export class MemoryTaskStore implements TaskStore {
  /** By seq, which is also the order of insertion. */
  readonly #tasks = new Map<number, TaskRecord>();
  readonly #byMessageId = new Map<string, number>();
  readonly #byKey = new Map<string, number>();
  readonly #claimed = new Set<number>();
  readonly #order = new TaskOrder();
  readonly #lanes = new Map<string, DueQueue>();
  readonly #due = new DueQueue();
  readonly #deadlines = new DueQueue();
  #seq = 0;

  async insert(task: NewTask): Promise<Inserted> {
    const inserted = this.#insert(task);
    if (!inserted.duplicate) this.#arrange(inserted.task);
    return inserted;
  }

  async insertAll(
    tasks: readonly NewTask[],
    isSame: (stored: TaskRecord, given: NewTask) => boolean,
  ): Promise<InsertedAll> {
    const inserted: Inserted[] = [];
    for (const [at, task] of tasks.entries()) {
      const one = this.#insert(task);
      if (one.duplicate && !isSame(one.task, task)) {
        for (const { task, duplicate } of inserted) if (!duplicate) this.#forget(task);
        return { ok: false, at, stored: one.task };
      }
      inserted.push(one);
    }
    for (const { task, duplicate } of inserted) if (!duplicate) this.#arrange(task);
    return { ok: true, inserted };
  }

  async get(messageId: string): Promise<TaskRecord | undefined> {
    return this.#find(messageId);
  }

  async update(task: TaskRecord, data?: string): Promise<TaskRecord | undefined> {
    const stored = this.#find(task.messageId);
    if (!stored || stored.revision !== task.revision) return undefined;
    if (stored.state === "queued" && isFlying(task) && !this.#mayGo(stored)) return undefined;
    const next: TaskRecord = {
      ...task,
      ...given(stored),
      revision: task.revision + 1,
      data: data ?? stored.data,
    };
    this.#tasks.set(next.seq, next);
    this.#claimed.delete(next.seq);
    this.#arrange(next);
    return next;
  }

  async claimDue({ lane, now, limit }: { lane: string; now: number; limit: number }): Promise<Claimed> {
    const lines = lane === OVERDUE ? [this.#due, this.#deadlines] : [this.#lane(lane)];
    const tasks: TaskRecord[] = [];
    let nextAt: number | undefined;
    for (const line of lines) {
      for (;;) {
        const first = this.#first(line, lane);
        if (!first || tasks.length >= limit) break;
        if (first.at > now) {
          nextAt = Math.min(first.at, nextAt ?? first.at);
          break;
        }
        line.pop();
        this.#claimed.add(first.seq);
        tasks.push(this.#tasks.get(first.seq)!);
      }
    }
    return { tasks, nextAt: tasks.length < limit ? nextAt : undefined };
  }

  release(messageIds: readonly string[]): void {
    for (const messageId of messageIds) {
      const task = this.#find(messageId);
      if (task && this.#claimed.delete(task.seq)) this.#enqueue(task);
    }
  }

  async lastEnded(orderKey: string): Promise<number | undefined> {
    let last: number | undefined;
    for (const { orderKey: key, state, request } of this.#tasks.values()) {
      if (key !== orderKey || !isTerminal(state) || request.sequence === undefined) continue;
      last = Math.max(last ?? 0, request.sequence);
    }
    return last;
  }

  async list(
    filter: TaskFilter,
    page: { after?: number; limit: number; order?: "newest" | "oldest" },
  ): Promise<TaskRecord[]> {
    const oldestFirst = page.order === "oldest";
    const seqs = [...this.#tasks.keys()];
    if (!oldestFirst) seqs.reverse();
    const found: TaskRecord[] = [];
    for (const seq of seqs) {
      if (found.length >= page.limit) break;
      if (page.after !== undefined && (oldestFirst ? seq <= page.after : seq >= page.after)) continue;
      const task = this.#tasks.get(seq)!;
      if (matches(task, filter)) found.push(task);
    }
    return found;
  }

  async counts(): Promise<TaskCounts> {
    const byState = noTasks();
    const lanes = new Map<string, TaskCounts["lanes"][number]>();
    let overdueAt: number | undefined;
    for (const task of this.#tasks.values()) {
      byState[task.state] += 1;
      const at = task.state === "queued" ? task.deadlineAt : isFlying(task) ? task.dueAt : undefined;
      if (at !== undefined) overdueAt = Math.min(at, overdueAt ?? at);
      if (task.state !== "queued" || task.dueAt === undefined) continue;
      const { lane, capability, dueAt, createdAt } = task;
      const key = JSON.stringify([lane, capability]);
      const row = lanes.get(key) ?? { lane, capability, waiting: 0, firstDueAt: dueAt, oldestAt: createdAt };
      row.waiting += 1;
      row.firstDueAt = Math.min(row.firstDueAt, dueAt);
      row.oldestAt = Math.min(row.oldestAt, createdAt);
      lanes.set(key, row);
    }
    return { byState, lanes: [...lanes.values()], overdueAt };
  }

  async countGroup(groupId: string): Promise<GroupCount[]> {
    return this.#countGroups((task) => task.groupId === groupId);
  }

  async countOpenGroups(): Promise<GroupCount[]> {
    return this.#countGroups(({ state }) => !isTerminal(state));
  }

  async trim(before: number, limit: number): Promise<number> {
    const old: TaskRecord[] = [];
    for (const task of this.#tasks.values()) {
      if (isTerminal(task.state) && task.settledAt !== undefined && task.settledAt < before) old.push(task);
    }
    old.sort((a, b) => a.settledAt! - b.settledAt! || a.seq - b.seq);
    for (const task of old.slice(0, limit)) this.#forget(task);
    return Math.min(old.length, limit);
  }

  /** Nobody may claim it before it was arranged. */
  #insert(task: NewTask): Inserted {
    const key = scopedKey(task);
    const first = this.#byMessageId.get(task.messageId) ?? this.#byKey.get(key);
    if (first !== undefined) return { task: this.#tasks.get(first)!, duplicate: true };
    const stored: TaskRecord = { ...task, seq: ++this.#seq, revision: 1 };
    this.#tasks.set(stored.seq, stored);
    this.#byMessageId.set(stored.messageId, stored.seq);
    this.#byKey.set(key, stored.seq);
    return { task: stored, duplicate: false };
  }

  #forget(task: TaskRecord): void {
    this.#tasks.delete(task.seq);
    this.#byMessageId.delete(task.messageId);
    this.#byKey.delete(scopedKey(task));
    this.#claimed.delete(task.seq);
  }

  #countGroups(counts: (task: TaskRecord) => boolean): GroupCount[] {
    const groups = new Map<string, GroupCount>();
    for (const task of this.#tasks.values()) {
      const { groupId, principal, state } = task;
      if (groupId === undefined || !counts(task)) continue;
      const key = JSON.stringify([groupId, principal]);
      const group = groups.get(key) ?? { groupId, principal, byState: noTasks() };
      group.byState[state] += 1;
      groups.set(key, group);
    }
    return [...groups.values()];
  }

  #find(messageId: string): TaskRecord | undefined {
    const seq = this.#byMessageId.get(messageId);
    return seq === undefined ? undefined : this.#tasks.get(seq);
  }

  /** A task came or changed; somebody else may stand first in its order now. */
  #arrange(task: TaskRecord): void {
    if (task.orderKey !== undefined) {
      this.#order.put(task);
      const first = this.#order.first(task.orderKey);
      if (first !== undefined && first !== task.seq) this.#enqueue(this.#tasks.get(first)!);
    }
    this.#enqueue(task);
  }

  /** Puts a task where claims look for it. Each change does so anew, which leaves entries that no longer hold behind. */
  #enqueue(task: TaskRecord): void {
    if (this.#claimed.has(task.seq)) return;
    if (task.dueAt !== undefined && isFlying(task)) this.#due.push(task.dueAt, task.seq);
    if (task.state !== "queued") return;
    this.#deadlines.push(task.deadlineAt, task.seq);
    if (task.dueAt === undefined || !this.#mayGo(task)) return;
    this.#lane(task.lane).push(task.dueAt, task.seq);
  }

  #mayGo({ orderKey, seq }: TaskRecord): boolean {
    return orderKey === undefined || this.#order.first(orderKey) === seq;
  }

  #lane(lane: string): DueQueue {
    const queue = this.#lanes.get(lane) ?? new DueQueue();
    this.#lanes.set(lane, queue);
    return queue;
  }

  /** The first entry, once those are gone which no longer hold. */
  #first(line: DueQueue, lane: string): Due | undefined {
    for (let first = line.peek(); first; first = line.peek()) {
      const task = this.#tasks.get(first.seq);
      if (task && !this.#claimed.has(task.seq) && this.#standsAt(task, line, lane) === first.at) return first;
      line.pop();
    }
    return undefined;
  }

  /** The time under which a task stands in a line now, if it does. */
  #standsAt(task: TaskRecord, line: DueQueue, lane: string): number | undefined {
    if (line === this.#due) return isFlying(task) ? task.dueAt : undefined;
    if (task.state !== "queued") return undefined;
    if (line === this.#deadlines) return task.deadlineAt;
    return task.lane === lane && this.#mayGo(task) ? task.dueAt : undefined;
  }
}

/** Neither waiting nor ended: somebody has it, or it lies stalled. */
function isFlying(task: TaskRecord): boolean {
  return task.state !== "queued" && !isTerminal(task.state);
}

function scopedKey(task: NewTask): string {
  return JSON.stringify([task.tenant, task.principal, task.idempotencyKey]);
}

function matches(task: TaskRecord, filter: TaskFilter): boolean {
  return (
    (filter.states === undefined || filter.states.includes(task.state)) &&
    (filter.capability === undefined || task.capability === filter.capability) &&
    (filter.agentId === undefined || task.agentId === filter.agentId) &&
    (filter.instanceId === undefined || task.instanceId === filter.instanceId) &&
    (filter.groupId === undefined || task.groupId === filter.groupId) &&
    (filter.principal === undefined || task.principal === filter.principal) &&
    (filter.traceId === undefined || task.traceId === filter.traceId) &&
    (filter.since === undefined || task.createdAt >= filter.since) &&
    (filter.notify === undefined || task.notify === filter.notify)
  );
}

/** What was given when the task was inserted: no update changes it. */
function given(task: TaskRecord) {
  const { seq, traceId, tenant, principal, idempotencyKey, contentHash, groupId, orderKey, createdAt, request, input } =
    task;
  return { seq, traceId, tenant, principal, idempotencyKey, contentHash, groupId, orderKey, createdAt, request, input };
}
