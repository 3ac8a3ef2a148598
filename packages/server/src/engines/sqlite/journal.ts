import type { JournalEvent } from "@agent-reach/protocol";
import type { Journal } from "../../ports/journal.js";
import type { Database } from "./database.js";
import type { Row } from "./driver.js";
import { packEvents, unpackEvents } from "./journal-content.js";
import { JournalIndex } from "./journal-index.js";
import { journalKey, journalKeys } from "./journal-keys.js";
import type { Writer } from "./writer.js";

/** Events of one row, and of one turn of the event loop: writing that many takes a few milliseconds. */
const CHUNK_EVENTS = 256;
/** Rows looked at by one step of a trim. */
const TRIM_STEP_ROWS = 256;

/**
 * Events are kept by the chunk, as they came, many messages in one row: a row of its own for each message would cost more than
 * all else that is written of it. Which chunks speak of a message or a trace is found by the index, where each chunk has a hash
 * of each name that occurs in it.
 */
export class SqliteJournal implements Journal {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #index: JournalIndex;
  readonly #statements;
  #size: number;
  #forgottenId: number;
  #appending: Promise<void> = Promise.resolve();

  constructor(database: Database, writer: Writer) {
    this.#database = database;
    this.#writer = writer;
    this.#forgottenId = database.meta("journal_forgotten");
    const { connection } = database;
    this.#size = connection.prepare("SELECT coalesce(sum(events), 0) AS size FROM journal").get()!["size"] as number;
    this.#index = new JournalIndex(connection, (content) => journalKeys(unpackEvents(content)));
    this.#statements = {
      insert: connection.prepare(
        "INSERT INTO journal (last_id, events, last_at, segment, content) VALUES (?, ?, ?, ?, ?)",
      ),
      after: connection.prepare("SELECT content FROM journal WHERE last_id > ? ORDER BY last_id LIMIT ?"),
      oldest: connection.prepare("SELECT last_id, events, last_at FROM journal ORDER BY last_id LIMIT ?"),
      content: connection.prepare("SELECT content FROM journal WHERE last_id = ?"),
      shorten: connection.prepare("UPDATE journal SET events = ?, content = ? WHERE last_id = ?"),
      remove: connection.prepare("DELETE FROM journal WHERE last_id <= ?"),
      lastId: connection.prepare("SELECT coalesce(max(last_id), 0) AS id FROM journal"),
    };
  }

  append(events: readonly JournalEvent[]): Promise<void> {
    // One after another: the index wants to know of each chunk before the next one comes.
    const appended = this.#appending.then(() => this.#append(events));
    this.#appending = appended.catch(() => {});
    return appended;
  }

  async #append(events: readonly JournalEvent[]): Promise<void> {
    for (let at = 0; at < events.length; at += CHUNK_EVENTS) {
      const chunk = events.slice(at, at + CHUNK_EVENTS);
      const content = packEvents(chunk);
      const keys = journalKeys(chunk);
      const lastId = chunk.at(-1)!.id;
      // One after another, each in a turn of its own, so that much to write does not hold up everything else.
      await this.#writer.write(
        () => {
          this.#statements.insert.run(lastId, chunk.length, lastAtOf(chunk), this.#index.segment, content);
          return this.#index.write({ id: lastId, keys });
        },
        (isComplete) => {
          this.#size += chunk.length;
          this.#index.written({ id: lastId, keys }, isComplete);
        },
      );
    }
  }

  async byMessage(messageId: string): Promise<JournalEvent[]> {
    return (await this.#find(messageId)).filter((event) => event.messageId === messageId);
  }

  async byTrace(traceId: string): Promise<JournalEvent[]> {
    return (await this.#find(traceId)).filter((event) => event.traceId === traceId);
  }

  since(id: number, limit: number): Promise<{ events: JournalEvent[]; gap: boolean }> {
    return this.#writer.read(() => {
      const events: JournalEvent[] = [];
      const rows = Math.ceil(limit / CHUNK_EVENTS) + 1;
      for (let after = id; events.length < limit; ) {
        const page = this.#statements.after.all(after, rows).flatMap(parse);
        if (page.length === 0) break;
        after = page.at(-1)!.id;
        for (const event of page) if (event.id > id) events.push(event);
      }
      return { events: inOrder(events).slice(0, limit), gap: id < this.#forgottenId };
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

  lastId(): Promise<number> {
    return this.#writer.read(() => this.#statements.lastId.get()!["id"] as number);
  }

  async #find(name: string): Promise<JournalEvent[]> {
    const chunks = await this.#writer.read(() =>
      this.#index.find(journalKey(name)).map((id) => this.#statements.content.get(id)),
    );
    return inOrder(chunks.flatMap((row) => (row === undefined ? [] : parse(row))));
  }

  /** Forgets whole chunks from the oldest on, and of the last one as many events as must go. */
  #trimStep(before: number, keep: number): { events: number; lastId: number; done: boolean } {
    const rows = this.#statements.oldest.all(TRIM_STEP_ROWS);
    let events = 0;
    let lastId = 0;
    for (const row of rows) {
      const [id, count] = [row["last_id"] as number, row["events"] as number];
      const goes = (row["last_at"] as number) < before || this.#size - events - count >= keep;
      if (!goes) {
        const part = this.#shorten(id, before, this.#size - events - keep);
        this.#forget(lastId, part.lastId || lastId);
        return { events: events + part.events, lastId: part.lastId || lastId, done: true };
      }
      events += count;
      lastId = id;
    }
    this.#forget(lastId, lastId);
    return { events, lastId, done: rows.length < TRIM_STEP_ROWS };
  }

  /** Removes chunks up to one, and notes up to which event nothing is complete any more. */
  #forget(chunkId: number, lastId: number): void {
    if (chunkId > 0) {
      this.#statements.remove.run(chunkId);
      this.#index.trim();
    }
    if (lastId > 0) this.#database.setMeta("journal_forgotten", lastId);
  }

  /** Takes from the front of a chunk what must go. */
  #shorten(id: number, before: number, excess: number): { events: number; lastId: number } {
    const all = parse(this.#statements.content.get(id)!);
    let events = 0;
    while (events < all.length && (events < excess || Date.parse(all[events]!.at) < before)) events += 1;
    if (events === 0) return { events: 0, lastId: 0 };
    this.#statements.shorten.run(all.length - events, packEvents(all.slice(events)), id);
    return { events, lastId: all[events - 1]!.id };
  }
}

/** Wall ms of the latest event. Many have the same moment, which is read once. */
function lastAtOf(events: readonly JournalEvent[]): number {
  let lastAt = 0;
  let text = "";
  for (const { at } of events) {
    if (at === text) continue;
    text = at;
    lastAt = Math.max(lastAt, Date.parse(at));
  }
  return lastAt;
}

function parse(row: Row): JournalEvent[] {
  return unpackEvents(row["content"] as string);
}

function inOrder(events: JournalEvent[]): JournalEvent[] {
  return events.sort((a, b) => a.id - b.id);
}
