import { HashTable } from "../../collections/hash-table.js";
import type { TaskRecord } from "../../ports/task-store.js";
import type { Row } from "./driver.js";

/** More lanes than that, and their cursors are forgotten; they only save time. */
const CURSORS_MAX = 10_000;

/** Where reading goes on: everything before it is claimed, or not to be handed out. */
interface Cursor {
  at: number;
  seq: number;
}

type Claimed = Pick<TaskRecord, "messageId" | "seq" | "lane" | "dueAt" | "deadlineAt" | "state">;

const start = (): Cursor => ({ at: Number.NEGATIVE_INFINITY, seq: 0 });

/**
 * Who has been handed out (TS4). It lives in memory alone: one process owns the file, and a task whose claim is lost with the
 * process is simply due again.
 *
 * The cursors keep many claims from being read over and over. Each change that puts a task before a cursor moves it back.
 */
export class Claims {
  readonly #claimed = new Set<number>();
  readonly #byMessageId = new HashTable<string, Claimed>();
  readonly #lanes = new Map<string, Cursor>();
  readonly #due = start();
  readonly #deadlines = start();

  take({ messageId, seq, lane, dueAt, deadlineAt, state }: TaskRecord): void {
    this.#claimed.add(seq);
    this.#byMessageId.set(messageId, { messageId, seq, lane, dueAt, deadlineAt, state });
  }

  /** A task has been stored anew, which ends its claim. */
  stored(task: Claimed): void {
    if (this.#claimed.delete(task.seq)) this.#byMessageId.delete(task.messageId);
    this.arrived(task);
  }

  /** Its claim is given back; it lies where it lay. */
  release(messageId: string): void {
    const task = this.#byMessageId.get(messageId);
    if (task) this.stored(task);
  }

  /** It may be handed out from now on. */
  arrived({ seq, state, lane, dueAt, deadlineAt }: Claimed): void {
    if (state !== "queued") {
      if (dueAt !== undefined) rewind(this.#due, dueAt, seq);
      return;
    }
    rewind(this.#deadlines, deadlineAt, seq);
    const cursor = this.#lanes.get(lane);
    if (cursor && dueAt !== undefined) rewind(cursor, dueAt, seq);
  }

  queued(lane: string, read: ReadDue): Generator<Due> {
    let cursor = this.#lanes.get(lane);
    if (!cursor) {
      if (this.#lanes.size >= CURSORS_MAX) this.#lanes.clear();
      cursor = start();
      this.#lanes.set(lane, cursor);
    }
    return this.#unclaimed(cursor, read);
  }

  due(read: ReadDue): Generator<Due> {
    return this.#unclaimed(this.#due, read);
  }

  deadlines(read: ReadDue): Generator<Due> {
    return this.#unclaimed(this.#deadlines, read);
  }

  /** A row counts as passed once the next one is asked for. */
  *#unclaimed(cursor: Cursor, read: ReadDue): Generator<Due> {
    for (;;) {
      const { rows, more } = read(cursor.at, cursor.seq);
      for (const row of rows) {
        if (!this.#claimed.has(row["seq"] as number)) yield row as unknown as Due;
        cursor.at = row["at"] as number;
        cursor.seq = row["seq"] as number;
      }
      if (!more) return;
    }
  }
}

/** A task and the moment from which it may be handed out. */
export interface Due {
  readonly seq: number;
  readonly at: number;
}

/** Reads a page of rows in order of (`at`, `seq`), beginning after the given place. */
export type ReadDue = (at: number, seq: number) => { rows: Row[]; more: boolean };

function rewind(cursor: Cursor, at: number, seq: number): void {
  if (at > cursor.at || (at === cursor.at && seq > cursor.seq)) return;
  cursor.at = at;
  cursor.seq = seq - 1;
}
