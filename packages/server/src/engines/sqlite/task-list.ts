import type { TaskState } from "@agent-reach/protocol";
import type { TaskFilter, TaskRecord } from "../../ports/task-store.js";
import type { Connection, Row, Statement, Value } from "./driver.js";
import { FLYING, QUEUED, stateNumber, TROUBLE } from "./stored-states.js";
import { PRINCIPAL } from "./task-given.js";
import { AGENT_ID, INSTANCE_ID } from "./task-progress.js";
import { type ReadText, SELECT_TASK, toTask } from "./task-rows.js";
import type { Writer } from "./writer.js";

export type Order = "newest" | "oldest";

/** Sorting that many rows of an index is quicker than a walk along a large table. */
const SORT_MAX = 20_000;
/** Rows of a walk that are looked at in one turn of the event loop. */
const WALK_ROWS = 10_000;
/** Filters come in many shapes, of which a node uses few. */
const STATEMENTS_MAX = 100;

/**
 * A list is the merger of parts. `walk`: along the table, window by window, so that a rare match does not hold the event
 * loop; `index`: all at once.
 */
interface Part {
  readonly kind: "index" | "walk";
  readonly index: string | undefined;
  readonly conditions: readonly string[];
  readonly values: readonly Value[];
}

/** The smallest and the largest `seq` there is. */
interface Extent {
  readonly low: number;
  readonly high: number;
}

interface Window {
  readonly above: number;
  readonly below: number;
}

export class TaskList {
  readonly #connection: Connection;
  readonly #writer: Writer;
  readonly #far: ReadText;
  readonly #statements = new Map<string, Statement>();
  readonly #extent: Statement;
  readonly #queuedOver: Statement;

  constructor(connection: Connection, writer: Writer, far: ReadText) {
    this.#connection = connection;
    this.#writer = writer;
    this.#far = far;
    this.#extent = connection.prepare("SELECT coalesce(min(seq), 1) AS low, coalesce(max(seq), 0) AS high FROM tasks");
    this.#queuedOver = connection.prepare(
      `SELECT 1 FROM tasks INDEXED BY tasks_deadline WHERE ${QUEUED} LIMIT 1 OFFSET ?`,
    );
  }

  async read(filter: TaskFilter, page: { after?: number; limit: number; order?: Order }): Promise<TaskRecord[]> {
    const { after, limit, order = "newest" } = page;
    const found = new Map<number, TaskRecord>();
    const { parts, extent } = await this.#writer.read(() => ({
      parts: this.#plan(filter),
      extent: this.#extent.get() as unknown as Extent,
    }));
    for (const part of parts) {
      const wanted = found.size + limit;
      for (const window of windows(extent, part.kind, order, after)) {
        // Between two windows a task may move from one part to another; what was read first stays.
        const tasks = await this.#writer.read(() =>
          this.#select(part, order, window, wanted - found.size).map((row) => toTask(row, this.#far)),
        );
        for (const task of tasks) found.set(task.seq, task);
        if (found.size >= wanted) break;
        if (part.kind === "walk") await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const sign = order === "newest" ? -1 : 1;
    return [...found.values()].sort((a, b) => sign * (a.seq - b.seq)).slice(0, limit);
  }

  /** Which indexes answer a filter. The planner has no statistics to choose by, but we know the shape of the data. */
  #plan(filter: TaskFilter): Part[] {
    const { conditions, values } = where(filter);
    const part = (kind: Part["kind"], index?: string, ...more: string[]): Part => ({
      kind,
      index,
      conditions: [...more, ...conditions],
      values,
    });
    if (filter.states?.length === 0) return [];
    // The tasks of a trace are looked up in the journal by those who want them quickly; an index here would cost every insert.
    if (filter.traceId !== undefined) return [part("walk")];
    if (filter.groupId !== undefined) return [part("index", "tasks_group")];
    if (filter.notify) return [part("index", "tasks_notify")];
    const states = filter.states ?? ["completed"];
    if (states.includes("completed")) return [part("walk")];
    if (states.includes("queued") && this.#queuedOver.get(SORT_MAX)) return [part("walk")];
    const any = (...some: TaskState[]) => states.some((state) => some.includes(state));
    const parts: Part[] = [];
    if (any("queued")) parts.push(part("index", "tasks_queue", QUEUED));
    if (any("delivered", "working", "stalled")) {
      parts.push(part("index", "tasks_due", FLYING));
    }
    if (any("failed", "canceled", "dead")) parts.push(part("index", "tasks_trouble", TROUBLE));
    return parts;
  }

  #select(part: Part, order: Order, { above, below }: Window, limit: number): Row[] {
    const conditions = [...part.conditions, "seq > ?", "seq < ?"].join(" AND ");
    const source = part.index ? `INDEXED BY ${part.index}` : "";
    const sql = `${SELECT_TASK} ${source} WHERE ${conditions} ORDER BY seq ${order === "newest" ? "DESC" : "ASC"} LIMIT ?`;
    let statement = this.#statements.get(sql);
    if (!statement) {
      if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement.all(...part.values, above, below, limit);
  }
}

function* windows(
  { low, high }: Extent,
  kind: Part["kind"],
  order: Order,
  after: number | undefined,
): Generator<Window> {
  const above = order === "oldest" ? Math.max(after ?? 0, low - 1) : low - 1;
  const below = order === "newest" ? Math.min(after ?? high + 1, high + 1) : high + 1;
  if (kind === "index") return yield { above, below };
  if (order === "oldest") {
    for (let from = above + 1; from < below; ) {
      const next = from + WALK_ROWS;
      yield { above: from - 1, below: Math.min(next, below) };
      from = next;
    }
  } else {
    for (let from = below - 1; from > above; ) {
      const next = from - WALK_ROWS;
      yield { above: Math.max(next, above), below: from + 1 };
      from = next;
    }
  }
}

function where(filter: TaskFilter): { conditions: string[]; values: Value[] } {
  const conditions: string[] = [];
  const values: Value[] = [];
  const equal = (expression: string, value: string | undefined) => {
    if (value === undefined) return;
    conditions.push(`${expression} = ?`);
    values.push(value);
  };
  equal("trace_id", filter.traceId);
  equal("group_id", filter.groupId);
  equal("capability", filter.capability);
  equal(PRINCIPAL, filter.principal);
  equal(AGENT_ID, filter.agentId);
  equal(INSTANCE_ID, filter.instanceId);
  if (filter.states) {
    conditions.push(`state IN (${filter.states.map(() => "?").join(", ")})`);
    values.push(...filter.states.map(stateNumber));
  }
  if (filter.since !== undefined) {
    conditions.push("created_at >= ?");
    values.push(filter.since);
  }
  if (filter.notify !== undefined) conditions.push(filter.notify ? "notify = 1" : "notify = 0");
  return { conditions, values };
}
