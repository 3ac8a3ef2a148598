import type { JournalEvent } from "@agent-reach/protocol";
import type { Journal } from "../../ports/journal.js";
import type { Database } from "./database.js";
import type { Row } from "./driver.js";
import { reading } from "./failures.js";
import type { Writer } from "./writer.js";

/** Events of one transaction. Also bounds how far rows of one batch may overlap in their ids. */
const BATCH_MAX = 1_000;
/** Rows looked at by one step of a trim. */
const TRIM_STEP_ROWS = 2_000;

/**
 * One row holds the events that one batch has of one message, as a JSON array: a call's ten events cost one insert.
 * So the rows of a batch overlap in their ids, while batches never do.
 */
export class SqliteJournal implements Journal {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #statements;
  #size: number;
  #forgottenId: number;

  constructor(database: Database, writer: Writer) {
    this.#database = database;
    this.#writer = writer;
    this.#forgottenId = database.meta("journal_forgotten");
    const { connection } = database;
    this.#size = connection.prepare("SELECT coalesce(sum(events), 0) AS size FROM journal").get()!["size"] as number;
    this.#statements = {
      insert: connection.prepare(
        "INSERT INTO journal (id, last_id, batch, events, last_at, message_id, trace_id, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ),
      byMessage: connection.prepare("SELECT content FROM journal WHERE message_id = ? ORDER BY id"),
      byTrace: connection.prepare("SELECT content FROM journal WHERE trace_id = ? ORDER BY id"),
      batchOf: connection.prepare("SELECT batch FROM journal WHERE id <= ? ORDER BY id DESC LIMIT 1"),
      from: connection.prepare("SELECT id, batch, content FROM journal WHERE id >= ? ORDER BY id LIMIT ?"),
      oldest: connection.prepare("SELECT id, batch, events, last_id, last_at FROM journal ORDER BY id LIMIT ?"),
      batch: connection.prepare("SELECT id, content FROM journal WHERE batch = ? AND id >= ? ORDER BY id LIMIT ?"),
      remove: connection.prepare("DELETE FROM journal WHERE id <= ?"),
      lastId: connection.prepare(
        "SELECT coalesce(max(last_id), 0) AS id FROM (SELECT last_id FROM journal ORDER BY id DESC LIMIT ?)",
      ),
    };
  }

  async append(events: readonly JournalEvent[]): Promise<void> {
    const batches: Promise<void>[] = [];
    for (let at = 0; at < events.length; at += BATCH_MAX) {
      const rows = toRows(events.slice(at, at + BATCH_MAX));
      batches.push(
        this.#writer.write(
          () => this.#insert(rows),
          () => {
            this.#size += Math.min(BATCH_MAX, events.length - at);
          },
        ),
      );
    }
    await Promise.all(batches);
  }

  async byMessage(messageId: string): Promise<JournalEvent[]> {
    return inOrder(this.#read(() => this.#statements.byMessage.all(messageId)).flatMap(parse));
  }

  async byTrace(traceId: string): Promise<JournalEvent[]> {
    return inOrder(this.#read(() => this.#statements.byTrace.all(traceId)).flatMap(parse));
  }

  async since(id: number, limit: number): Promise<{ events: JournalEvent[]; gap: boolean }> {
    return this.#read(() => {
      const gap = id < this.#forgottenId;
      const events: JournalEvent[] = [];
      const pageRows = limit + 1;
      let from = (this.#statements.batchOf.get(id)?.["batch"] ?? id) as number;
      for (;;) {
        const rows = this.#statements.from.all(from, pageRows);
        events.push(...rows.flatMap(parse).filter((event) => event.id > id));
        // A row not read yet begins after the last one read began: up to there nothing can come in between any more.
        const last = rows.length < pageRows ? Number.POSITIVE_INFINITY : (rows.at(-1)!["id"] as number);
        const sure = inOrder(events).filter((event) => event.id <= last);
        if (sure.length >= limit || rows.length < pageRows) return { events: sure.slice(0, limit), gap };
        from = last + 1;
      }
    });
  }

  async trim(before: number, keep: number): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const step = await this.#writer.write(
        () => this.#trimStep(before, keep),
        ({ events, lastId }) => {
          this.#size -= events;
          if (events > 0) this.#forgottenId = lastId;
        },
      );
      forgotten += step.events;
      if (step.done) return forgotten;
    }
  }

  async lastId(): Promise<number> {
    return this.#read(() => this.#statements.lastId.get(BATCH_MAX)!["id"] as number);
  }

  #insert(rows: readonly JournalRow[]): void {
    for (const { batch, events, messageId, traceId, lastAt, content } of rows) {
      this.#statements.insert.run(
        events[0]!.id,
        events.at(-1)!.id,
        batch,
        events.length,
        lastAt,
        messageId ?? null,
        traceId ?? null,
        content,
      );
    }
  }

  /** Forgets whole batches from the oldest on, and of the last one as many events as must go. */
  #trimStep(before: number, keep: number): { events: number; lastId: number; done: boolean } {
    const rows = this.#statements.oldest.all(TRIM_STEP_ROWS);
    const complete = rows.length < TRIM_STEP_ROWS;
    let events = 0;
    let lastId = 0;
    for (const batch of byBatch(rows, complete)) {
      const old = batch.lastAt < before || this.#size - events - batch.events >= keep;
      if (!old) {
        const part = this.#trimWithin(batch.batch, before, this.#size - events - keep);
        this.#forget(part.lastId || lastId);
        return { events: events + part.events, lastId: part.lastId || lastId, done: true };
      }
      events += batch.events;
      lastId = batch.lastId;
    }
    this.#forget(lastId);
    return { events, lastId, done: complete };
  }

  #forget(lastId: number): void {
    if (lastId === 0) return;
    this.#statements.remove.run(lastId);
    this.#database.setMeta("journal_forgotten", lastId);
  }

  /** What is to stay of a batch is written anew, its rows beginning with the first event that stays. */
  #trimWithin(batch: number, before: number, excess: number): { events: number; lastId: number } {
    const all = inOrder(this.#statements.batch.all(batch, batch, BATCH_MAX).flatMap(parse));
    let events = 0;
    while (events < all.length && (events < excess || Date.parse(all[events]!.at) < before)) events += 1;
    if (events === 0) return { events: 0, lastId: 0 };
    const lastId = all[events - 1]!.id;
    this.#statements.remove.run(all.at(-1)!.id);
    this.#insert(toRows(all.slice(events)));
    return { events, lastId };
  }

  #read<T>(read: () => T): T {
    return reading(this.#database.directory, read);
  }
}

interface JournalRow {
  batch: number;
  messageId: string | undefined;
  traceId: string | undefined;
  events: JournalEvent[];
  lastAt: number;
  content: string;
}

function toRows(events: readonly JournalEvent[]): JournalRow[] {
  const rows = new Map<string, JournalRow>();
  for (const event of events) {
    const { messageId, traceId } = event;
    const key = `${messageId ?? ""} ${traceId ?? ""}`;
    const row = rows.get(key) ?? { batch: events[0]!.id, messageId, traceId, events: [], lastAt: 0, content: "" };
    rows.set(key, row);
    row.events.push(event);
    row.lastAt = Math.max(row.lastAt, Date.parse(event.at));
  }
  for (const row of rows.values()) row.content = JSON.stringify(row.events);
  return [...rows.values()];
}

interface Batch {
  batch: number;
  events: number;
  lastId: number;
  lastAt: number;
}

/** The last batch of a page that was cut off is left for the next step. */
function byBatch(rows: readonly Row[], complete: boolean): Batch[] {
  const batches: Batch[] = [];
  for (const row of rows) {
    let last = batches.at(-1);
    if (last?.batch !== row["batch"]) {
      last = { batch: row["batch"] as number, events: 0, lastId: 0, lastAt: 0 };
      batches.push(last);
    }
    last!.events += row["events"] as number;
    last!.lastId = Math.max(last!.lastId, row["last_id"] as number);
    last!.lastAt = Math.max(last!.lastAt, row["last_at"] as number);
  }
  if (!complete) batches.pop();
  return batches;
}

function parse(row: Row): JournalEvent[] {
  return JSON.parse(row["content"] as string) as JournalEvent[];
}

function inOrder(events: JournalEvent[]): JournalEvent[] {
  return events.sort((a, b) => a.id - b.id);
}
