import { ReachError } from "@agent-reach/protocol";
import type { Http } from "./http.js";
import { EventStreamParser } from "./sse.js";

/** `data` is the event; `text` the same as it came, to the digit. */
export interface StreamedEvent {
  id?: string;
  type: string;
  data: Record<string, unknown>;
  text: string;
}

interface StreamOptions {
  after?: number | undefined;
  revision?: number | undefined;
  signal?: AbortSignal | undefined;
  reconnectMs?: number | undefined;
}

/**
 * Follows `GET /v1/events`. The first connection must succeed, so that a wrong address is told at once; later ones are
 * tried until they do. The stream ends when `signal` says so, and rejects when the node refuses (REVISION_GONE: list again).
 */
export async function* eventStream(http: Http, options: StreamOptions): AsyncGenerator<StreamedEvent, void, void> {
  const { signal, reconnectMs = 1000 } = options;
  let lastId = options.after === undefined ? undefined : String(options.after);
  let connected = false;
  while (!signal?.aborted) {
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (lastId !== undefined) headers["last-event-id"] = lastId;
      const response = await http.open("GET", "/v1/events", { headers, query: { revision: options.revision }, signal });
      connected = true;
      for await (const event of readEvents(response)) {
        if (event.id !== undefined) lastId = event.id;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      const wait = connected && (!(error instanceof ReachError) || error.retryable);
      if (!wait) throw error;
    }
    await pause(reconnectMs, signal);
  }
}

async function* readEvents(response: Response): AsyncGenerator<StreamedEvent, void, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  const parser = new EventStreamParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const { id, event, data } of parser.push(decoder.decode(value, { stream: true }))) {
        const parsed = parseObject(data);
        if (parsed === undefined) continue;
        const type = event ?? (typeof parsed["type"] === "string" ? parsed["type"] : "message");
        yield id === undefined ? { type, data: parsed, text: data } : { id, type, data: parsed, text: data };
      }
    }
  } finally {
    // Whoever stops listening in the middle also closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}
