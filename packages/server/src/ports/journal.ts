import type { JournalEvent } from "@agent-reach/protocol";

/**
 * What happened: for people and programs that ask why. It is diagnosis, not the record: a crash may lose what was
 * appended since the last flush, and nothing is ever decided from it.
 *
 * J1  Events of one message come back in order of id, whole.
 * J2  `since` answers events in order of id, and says whether some in between are no longer kept.
 * J3  Its size is bounded by `trim`.
 */
export interface Journal {
  /** Events of one batch may belong to many messages; ids rise. Resolves when they can be read. */
  append(events: readonly JournalEvent[]): Promise<void>;
  byMessage(messageId: string): Promise<JournalEvent[]>;
  byTrace(traceId: string): Promise<JournalEvent[]>;
  since(id: number, limit: number): Promise<{ events: JournalEvent[]; gap: boolean }>;
  /** Forgets events older than `before` (wall ms) and all but the newest `keep`; answers how many went. */
  trim(before: number, keep: number): Promise<number>;
  /** Largest id kept; 0 when empty. */
  lastId(): Promise<number>;
}
