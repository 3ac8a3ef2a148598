import type { JournalEvent } from "@agent-reach/protocol";

/** The names, messages and traces alike, that occur in some events, as hashes. */
export function journalKeys(events: readonly JournalEvent[]): Set<number> {
  const names = new Set<string>();
  for (const { messageId, traceId } of events) {
    if (messageId !== undefined) names.add(messageId);
    if (traceId !== undefined) names.add(traceId);
  }
  const keys = new Set<number>();
  for (const name of names) keys.add(journalKey(name));
  return keys;
}

const DASH = 45;

/**
 * 32 bits of a name: FNV-1a (Fowler, Noll, Vo). Dashes do not count, so that a message and the trace which is named after it
 * have one key. Two names with one hash cost a look into a chunk that says nothing of the one asked for.
 */
export function journalKey(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code !== DASH) hash = Math.imul(hash ^ code, 0x01000193);
  }
  return hash >>> 0;
}
