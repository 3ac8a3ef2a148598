import { Agent, type IncomingMessage, request } from "node:http";
import { Mailbox } from "./mailbox.js";
import { within } from "./within.js";

export interface HttpAnswer {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came and asserts on it.
  body: any;
}

export interface HttpOptions {
  headers?: Record<string, string>;
  ms?: number;
}

const keepAlive = new Agent({ keepAlive: true });

/** A small HTTP client that leaves every header to the test, `Host` and `Origin` too. */
export class Http {
  readonly baseUrl: string;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  get(path: string, options: HttpOptions = {}): Promise<HttpAnswer> {
    return this.send("GET", path, undefined, options);
  }

  post(path: string, body: unknown = {}, options: HttpOptions = {}): Promise<HttpAnswer> {
    return this.send("POST", path, JSON.stringify(body), options);
  }

  delete(path: string, body?: unknown, options: HttpOptions = {}): Promise<HttpAnswer> {
    return this.send("DELETE", path, body === undefined ? undefined : JSON.stringify(body), options);
  }

  /** `text` goes out as it stands, so that broken JSON and long digits can be sent. */
  send(method: string, path: string, text: string | undefined, options: HttpOptions = {}): Promise<HttpAnswer> {
    const headers: Record<string, string> = {};
    if (text !== undefined) {
      headers["content-type"] = "application/json";
      // Node frames a body of DELETE by nothing at all unless it is told its length.
      headers["content-length"] = String(Buffer.byteLength(text));
    }
    Object.assign(headers, options.headers);
    for (const [name, value] of Object.entries(headers)) if (value === "") delete headers[name];
    const answered = new Promise<HttpAnswer>((resolve, reject) => {
      const asked = request(new URL(path, this.baseUrl), { method, headers, agent: keepAlive }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.once("error", reject);
        answer.once("end", () => {
          const whole = Buffer.concat(chunks).toString("utf8");
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: whole, body: parsed(whole) });
        });
      });
      asked.once("error", reject);
      asked.end(text);
    });
    return within(answered, `the answer of ${method} ${path}`, options.ms ?? 20_000);
  }

  /** Follows a stream of server-sent events. */
  async events(path: string, headers: Record<string, string> = {}): Promise<EventStream> {
    const stream = new EventStream();
    const opened = new Promise<void>((resolve, reject) => {
      const asked = request(
        new URL(path, this.baseUrl),
        { headers: { accept: "text/event-stream", ...headers } },
        (answer) => {
          stream.status = answer.statusCode ?? 0;
          stream.contentType = answer.headers["content-type"] ?? "";
          answer.setEncoding("utf8");
          answer.on("data", (chunk: string) => stream.read(chunk));
          answer.once("error", () => {});
          resolve();
        },
      );
      asked.once("error", reject);
      asked.end();
      stream.close = () => asked.destroy();
    });
    await within(opened, `the stream of ${path} to open`);
    return stream;
  }
}

export interface StreamedEvent {
  id?: string;
  event?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came and asserts on it.
  data: any;
}

/** Reads the text of an event stream: fields by line, an empty line ends an event, a leading colon is a comment. */
export class EventStream {
  readonly events = new Mailbox<StreamedEvent>();
  status = 0;
  contentType = "";
  close: () => void = () => {};
  #rest = "";

  read(chunk: string): void {
    const blocks = (this.#rest + chunk).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map<string, string>();
      for (const line of block.split(/\r?\n/)) {
        const colon = line.indexOf(":");
        if (colon <= 0) continue;
        const name = line.slice(0, colon);
        const value = line.slice(colon + 1).replace(/^ /, "");
        fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
      }
      const data = fields.get("data");
      if (data === undefined) continue;
      const [id, event] = [fields.get("id"), fields.get("event")];
      this.events.put({
        ...(id === undefined ? {} : { id }),
        ...(event === undefined ? {} : { event }),
        data: parsed(data),
      });
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
