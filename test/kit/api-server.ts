import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Mailbox } from "./mailbox.js";

/** Looks like a key, and must be read in no message. */
export const secretKey = "sk-secret-0123456789";

export interface ApiRequest<B> {
  path: string;
  headers: IncomingMessage["headers"];
  body: B;
}

/** `body` as text goes out as it stands. */
export interface ApiAnswer {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
}

/** Undefined: no answer, unless it wrote one itself. */
export type ApiRespond<B> = (
  request: ApiRequest<B>,
  raw: ServerResponse,
) => ApiAnswer | undefined | Promise<ApiAnswer | undefined>;

export const answering = (status: number, body: unknown = {}, headers: Record<string, string> = {}) => {
  return (): ApiAnswer => ({ status, body, headers });
};

/** A server that takes JSON by POST over a real socket. What it answers may be replaced, to see what its client makes of it. */
export abstract class ApiServer<B> {
  readonly requests = new Mailbox<ApiRequest<B>>();
  abstract respond: ApiRespond<B>;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((incoming, raw) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", async () => {
        const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as B;
        const request = { path: incoming.url ?? "", headers: incoming.headers, body };
        this.heard(body);
        this.requests.put(request);
        const answer = await this.respond(request, raw);
        if (answer === undefined) return;
        raw.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
        raw.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
      });
    });
  }

  async listening(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  protected abstract heard(body: B): void;
}
