import type { JournalEvent } from "@agent-reach/protocol";
import type { Journal } from "../../ports/journal.js";

export class MemoryJournal implements Journal {
  /** In order of id. What is forgotten is skipped by `#first` and cut off when it is half of the array. */
  #events: JournalEvent[] = [];
  #first = 0;
  #forgottenId = 0;
  readonly #byMessage = new Map<string, JournalEvent[]>();
  readonly #byTrace = new Map<string, JournalEvent[]>();

  async append(events: readonly JournalEvent[]): Promise<void> {
    for (const event of events) {
      const copy = structuredClone(event);
      this.#events.push(copy);
      if (copy.messageId !== undefined) push(this.#byMessage, copy.messageId, copy);
      if (copy.traceId !== undefined) push(this.#byTrace, copy.traceId, copy);
    }
  }

  async byMessage(messageId: string): Promise<JournalEvent[]> {
    return structuredClone(this.#byMessage.get(messageId) ?? []);
  }

  async byTrace(traceId: string): Promise<JournalEvent[]> {
    return structuredClone(this.#byTrace.get(traceId) ?? []);
  }

  async since(id: number, limit: number): Promise<{ events: JournalEvent[]; gap: boolean }> {
    let low = this.#first;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.id <= id) low = middle + 1;
      else high = middle;
    }
    return { events: structuredClone(this.#events.slice(low, low + limit)), gap: id < this.#forgottenId };
  }

  async trim(before: number, keep: number): Promise<number> {
    let forgotten = 0;
    for (let event = this.#events[this.#first]; event; event = this.#events[this.#first]) {
      const tooMany = this.#events.length - this.#first > keep;
      if (!tooMany && Date.parse(event.at) >= before) break;
      this.#first += 1;
      this.#forgottenId = event.id;
      if (event.messageId !== undefined) shift(this.#byMessage, event.messageId);
      if (event.traceId !== undefined) shift(this.#byTrace, event.traceId);
      forgotten += 1;
    }
    if (this.#first > this.#events.length / 2) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    return forgotten;
  }

  async lastId(): Promise<number> {
    return this.#events.length > this.#first ? this.#events.at(-1)!.id : 0;
  }
}

function push(map: Map<string, JournalEvent[]>, key: string, event: JournalEvent): void {
  const events = map.get(key);
  if (events) events.push(event);
  else map.set(key, [event]);
}

/** Events are forgotten oldest first, so what goes is always the first of its list. */
function shift(map: Map<string, JournalEvent[]>, key: string): void {
  const events = map.get(key);
  if (events && events.length > 1) events.shift();
  else map.delete(key);
}
