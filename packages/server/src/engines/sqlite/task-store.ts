import {
  type Claimed,
  type GroupCount,
  type Inserted,
  type InsertedAll,
  type NewTask,
  OVERDUE,
  type TaskCounts,
  type TaskFilter,
  type TaskRecord,
  type TaskStore,
} from "../../ports/task-store.js";
import { noTasks } from "../task-states.js";
import { Claims, type Due, type ReadDue } from "./claims.js";
import type { Database } from "./database.js";
import type { Row, Statement, Value } from "./driver.js";
import { Heard } from "./heard.js";
import { isFlying, storedStates } from "./stored-states.js";
import { TaskCache } from "./task-cache.js";
import { groupsOf } from "./task-groups.js";
import { TaskList } from "./task-list.js";
import { TaskOrder } from "./task-order.js";
import {
  commonValues,
  dataId,
  type Extent,
  extentOf,
  FAR_DATA,
  FAR_INPUT,
  firstRevision,
  inputId,
  isFresh,
  isRare,
  NEAR_TEXT_MAX,
  nextRevision,
  rareValues,
  SEQ_VALUE,
  scopedKey,
  sentValues,
  settledValues,
  stepValues,
  toTask,
  wholeValues,
} from "./task-rows.js";
import { taskStatements } from "./task-statements.js";
import type { Writer } from "./writer.js";

const CLAIM_PAGE_MAX = 256;
const TRIM_STEP_ROWS = 500;

export class SqliteTaskStore implements TaskStore {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #statements;
  readonly #list: TaskList;
  readonly #cache = new TaskCache();
  readonly #claims = new Claims();
  readonly #heard: Heard;
  readonly #order: TaskOrder;
  readonly #far = (id: number): string => this.#statements.text.get(id)!["text"] as string;
  /** The largest seq ever given. A rollback leaves a gap. */
  #seq: number;
  /** Rows stored. */
  #size: number;
  /** Whether any task was given an idempotencyKey: if none was, none can equal a messageId. */
  #hasKeys: boolean;

  constructor(database: Database, writer: Writer) {
    this.#database = database;
    this.#writer = writer;
    this.#statements = taskStatements(database.connection);
    this.#list = new TaskList(database.connection, writer, this.#far);
    this.#order = new TaskOrder(this.#statements);
    this.#heard = new Heard(database.connection, writer, this.#cache);
    this.#hasKeys = this.#statements.anyKey.get() !== undefined;
    const { size, seq } = this.#statements.size.get() as { size: number; seq: number };
    this.#size = size;
    this.#seq = Math.max(seq, database.meta("task_seq"));
  }

  insert(task: NewTask): Promise<Inserted> {
    const row = this.#rowOf(task);
    return this.#writer.write(
      () => this.#insert(row),
      (result) => {
        if (!result.duplicate) this.#arrived(row.next);
      },
    );
  }

  insertAll(tasks: readonly NewTask[], isSame: (stored: TaskRecord, given: NewTask) => boolean): Promise<InsertedAll> {
    const rows = tasks.map((task) => this.#rowOf(task));
    const { beginAll, undoAll, endAll } = this.#statements;
    return this.#writer.write<InsertedAll>(
      () => {
        const inserted: Inserted[] = [];
        // Others share the transaction, and are not to suffer from what is undone here.
        beginAll.run();
        for (const [at, row] of rows.entries()) {
          const one = this.#insert(row);
          if (one.duplicate && !isSame(one.task, row.next)) {
            undoAll.run();
            endAll.run();
            return { ok: false, at, stored: one.task };
          }
          inserted.push(one);
        }
        endAll.run();
        return { ok: true, inserted };
      },
      (result) => {
        if (!result.ok) return;
        for (const [at, { next }] of rows.entries()) if (!result.inserted[at]!.duplicate) this.#arrived(next);
      },
    );
  }

  /** What an insert binds, made before the transaction begins. */
  #rowOf(task: NewTask): NewRow {
    const far =
      (task.input.length > NEAR_TEXT_MAX ? FAR_INPUT : 0) | ((task.data?.length ?? 0) > NEAR_TEXT_MAX ? FAR_DATA : 0);
    const next = firstRevision(task);
    const values = commonValues(task, far);
    const { insert, insertSent, insertRare } = this.#statements;
    const rare = isRare(task, far);
    const fresh = !rare && isFresh(task);
    if (rare) values.push(...rareValues(task, far));
    else if (!fresh) values.push(...sentValues(task));
    return { next, values, statement: rare ? insertRare : fresh ? insert : insertSent, far };
  }

  /** It is on disk. */
  #arrived(task: TaskRecord): void {
    this.#size += 1;
    this.#cache.put(task);
    this.#claims.arrived(task);
  }

  get(messageId: string): Promise<TaskRecord | undefined> {
    return this.#writer.read(() => this.#find(messageId));
  }

  update(task: TaskRecord, data?: string): Promise<TaskRecord | undefined> {
    // If what the cache knows is not what is stored by then, the revision differs, and the update does nothing.
    const extent = extentOf(task, this.#cache.get(task.seq), data);
    const next = nextRevision(task, data);
    if (extent === "heard") return this.#heard.note(task).then((noted) => (noted ? next : undefined));
    const values = valuesOf(task, extent, data);
    let freed: TaskRecord | undefined;
    return this.#writer.write(
      () => {
        if (next.orderKey !== undefined && isFlying(next.state) && this.#order.holds(next.seq)) return undefined;
        if (!this.#update(next.seq, values, extent, data)) return undefined;
        freed = next.orderKey === undefined ? undefined : this.#arrange(next, next.orderKey);
        return next;
      },
      (stored) => {
        if (!stored) return;
        this.#cache.put(next);
        this.#claims.stored(next);
        if (freed) this.#claims.arrived(freed);
      },
    );
  }

  claimDue({ lane, now, limit }: { lane: string; now: number; limit: number }): Promise<Claimed> {
    return this.#writer.read(() => {
      const tasks: TaskRecord[] = [];
      let nextAt: number | undefined;
      for (const line of this.#lines(lane, limit)) {
        for (const { seq, at } of line) {
          if (tasks.length >= limit) break;
          if (at > now) {
            nextAt = Math.min(at, nextAt ?? at);
            break;
          }
          const task = this.#load(seq);
          this.#claims.take(task);
          tasks.push(task);
        }
      }
      return { tasks, nextAt: tasks.length < limit ? nextAt : undefined };
    });
  }

  release(messageIds: readonly string[]): void {
    for (const messageId of messageIds) this.#claims.release(messageId);
  }

  lastEnded(orderKey: string): Promise<number | undefined> {
    return this.#writer.read(
      () => (this.#statements.lastEnded.get(orderKey)?.["last"] ?? undefined) as number | undefined,
    );
  }

  list(
    filter: TaskFilter,
    page: { after?: number; limit: number; order?: "newest" | "oldest" },
  ): Promise<TaskRecord[]> {
    return this.#list.read(filter, page);
  }

  counts(): Promise<TaskCounts> {
    return this.#writer.read(() => {
      const byState = noTasks();
      const lanes: TaskCounts["lanes"] = [];
      for (const row of this.#statements.lanes.all()) {
        const { lane, capability, queued, waiting, firstDueAt, oldestAt } = row as unknown as LaneRow;
        byState.queued += queued;
        if (waiting > 0) lanes.push({ lane, capability, waiting, firstDueAt, oldestAt });
      }
      for (const row of [...this.#statements.flying.all(), ...this.#statements.trouble.all()]) {
        byState[storedStates[row["state"] as number]!] = row["count"] as number;
      }
      // Most of all tasks are completed ones: they are what is left, so that nobody has to count them.
      byState.completed = this.#size - Object.values(byState).reduce((sum, count) => sum + count, 0);
      return {
        byState,
        lanes,
        overdueAt: (this.#statements.overdueAt.get()?.["at"] ?? undefined) as number | undefined,
      };
    });
  }

  countGroup(groupId: string): Promise<GroupCount[]> {
    return this.#writer.read(() => groupsOf(this.#statements.groupCount.all(groupId)));
  }

  countOpenGroups(): Promise<GroupCount[]> {
    return this.#writer.read(() => groupsOf(this.#statements.openGroups.all()));
  }

  async trim(before: number, limit: number): Promise<number> {
    this.#database.limitGrowth();
    let trimmed = 0;
    while (trimmed < limit) {
      const step = Math.min(TRIM_STEP_ROWS, limit - trimmed);
      const gone = await this.#writer.write(
        () => this.#trim(before, step),
        (seqs) => {
          this.#size -= seqs.length;
          for (const seq of seqs) this.#cache.drop(seq);
        },
      );
      trimmed += gone.length;
      if (gone.length < step) break;
    }
    return trimmed;
  }

  #insert({ next, values, statement, far }: NewRow): Inserted {
    const duplicate = this.#sameKey(next);
    if (duplicate) return { task: this.#find(next.messageId) ?? duplicate, duplicate: true };
    values[SEQ_VALUE] = this.#seq + 1;
    const { putText } = this.#statements;
    if (!statement.run(...values).changes) {
      // The indexes have found one with the same messageId, or else with the same key.
      return { task: this.#find(next.messageId) ?? this.#byKey(next)!, duplicate: true };
    }
    this.#seq += 1;
    next.seq = this.#seq;
    if (next.orderKey !== undefined) this.#order.arrange(next.orderKey);
    if (far & FAR_INPUT) putText.run(inputId(next.seq), next.input);
    if (far & FAR_DATA) putText.run(dataId(next.seq), next.data!);
    return { task: next, duplicate: false };
  }

  /** Same keys that no index finds, since a key that was not given is the messageId (TS1). */
  #sameKey(task: TaskRecord): TaskRecord | undefined {
    if (task.idempotencyKey === task.messageId) return this.#hasKeys ? this.#byKey(task) : undefined;
    this.#hasKeys = true;
    const other = this.#find(task.idempotencyKey);
    const same =
      other?.idempotencyKey === other?.messageId && other?.tenant === task.tenant && other.principal === task.principal;
    return same ? other : undefined;
  }

  #byKey(task: TaskRecord): TaskRecord | undefined {
    const row = this.#statements.byKey.get(scopedKey(task));
    return row && toTask(row, this.#far);
  }

  #update(seq: number, values: readonly Value[], extent: Extent, data: string | undefined): boolean {
    const { updateStep, updateSettled, updateWhole, updateWholeAndData, putText } = this.#statements;
    if (extent !== "whole") {
      return (extent === "step" ? updateStep : updateSettled).run(...values).changes === 1;
    }
    if (data === undefined) return updateWhole.run(...values).changes === 1;
    const isFar = data.length > NEAR_TEXT_MAX;
    const stored = updateWholeAndData.run(isFar ? null : data, isFar ? FAR_DATA : 0, ...values).changes === 1;
    if (stored && isFar) putText.run(dataId(seq), data);
    return stored;
  }

  /** A task of an order has changed. Answers who may go now in its place, or again. */
  #arrange({ seq, state }: TaskRecord, orderKey: string): TaskRecord | undefined {
    if (state === "queued") this.#statements.setBlocked.run(1, seq);
    const row = this.#order.arrange(orderKey);
    return row && toTask(row, this.#far);
  }

  /** What a lane hands out, in order; OVERDUE has two lines. Claimed ones are left out. */
  #lines(lane: string, limit: number): Iterable<Due>[] {
    const { queued, due, deadline } = this.#statements;
    if (lane !== OVERDUE)
      return [
        this.#claims.queued(
          lane,
          pages(limit, (at, seq, size) => queued.all(lane, at, seq, size)),
        ),
      ];
    return [
      this.#claims.due(pages(limit, (at, seq, size) => due.all(at, seq, size))),
      this.#claims.deadlines(pages(limit, (at, seq, size) => deadline.all(at, seq, size))),
    ];
  }

  #trim(before: number, limit: number): number[] {
    const rows = this.#statements.settled.all(before, limit);
    for (const row of rows) {
      const seq = row["seq"] as number;
      this.#statements.remove.run(seq);
      if (row["far"] !== 0) this.#statements.removeTexts.run(inputId(seq), dataId(seq));
    }
    // Else the largest seq could be given again after a restart.
    if (rows.length > 0) this.#database.setMeta("task_seq", this.#seq);
    return rows.map((row) => row["seq"] as number);
  }

  #find(messageId: string): TaskRecord | undefined {
    const known = this.#cache.find(messageId);
    if (known) return known;
    const row = this.#statements.byMessageId.get(messageId);
    return row && toTask(row, this.#far);
  }

  #load(seq: number): TaskRecord {
    const known = this.#cache.get(seq);
    if (known) return known;
    const task = toTask(this.#statements.bySeq.get(seq)!, this.#far);
    this.#cache.put(task);
    return task;
  }
}

function valuesOf(task: TaskRecord, extent: Exclude<Extent, "heard">, data: string | undefined): Value[] {
  switch (extent) {
    case "step":
      return stepValues(task);
    case "settled":
      return settledValues(task, data!);
    case "whole":
      return wholeValues(task);
  }
}

interface NewRow {
  readonly next: ReturnType<typeof firstRevision>;
  readonly values: Value[];
  readonly statement: Statement;
  readonly far: number;
}

type LaneRow = TaskCounts["lanes"][number] & { queued: number };

function pages(limit: number, read: (at: number, seq: number, size: number) => Row[]): ReadDue {
  // One more than wanted, which says when there will be another.
  const size = Math.min(limit, CLAIM_PAGE_MAX) + 1;
  return (at, seq) => {
    const rows = read(at, seq, size);
    return { rows, more: rows.length === size };
  };
}
