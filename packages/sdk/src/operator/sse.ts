/** One event of a text/event-stream. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data: string;
}

/**
 * Takes a text/event-stream apart as its chunks come, wherever they are cut (also within a CR LF).
 * Comments, which servers send to keep connections open, and events without data are left out.
 */
export class EventStreamParser {
  #rest = "";
  #id: string | undefined;
  #event: string | undefined;
  #data: string[] = [];

  push(chunk: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    this.#rest += chunk;
    // A CR at the end may be the first half of a CR LF, so it stays until more comes.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line, events);
    return events;
  }

  #line(line: string, events: StreamEvent[]): void {
    if (line === "") {
      if (this.#data.length > 0) {
        const event: StreamEvent = { data: this.#data.join("\n") };
        if (this.#id !== undefined) event.id = this.#id;
        if (this.#event !== undefined) event.event = this.#event;
        events.push(event);
      }
      this.#data = [];
      this.#event = undefined;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
  }
}
