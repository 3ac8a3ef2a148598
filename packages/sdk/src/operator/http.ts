import { type ErrorBody, type ErrorCode, errorTable, ReachError } from "@agent-reach/protocol";

export interface HttpOptions {
  /** `http://host:port`; `ws://…/registry` and a bare `host:port` mean the same node. */
  url: string;
  /** Sent as `Authorization: Bearer …`. */
  token?: string;
  /** For tests; the platform's own by default. */
  fetch?: typeof globalThis.fetch;
}

export interface HttpRequest {
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. `bodyText` is sent as it is: for JSON whose numbers must not be touched. */
  body?: unknown;
  bodyText?: string;
  headers?: Record<string, string>;
  /** Ends the request from outside; the promise then rejects with CANCELED. */
  signal?: AbortSignal | undefined;
}

/** Requests to one node, with its errors as ReachError. Shared by all views of the Operator. */
export class Http {
  readonly url: string;
  readonly #token: string | undefined;
  readonly #fetch: typeof globalThis.fetch;

  constructor({ url, token, fetch }: HttpOptions) {
    this.url = normalizeUrl(url);
    this.#token = token;
    this.#fetch = fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** The parsed body. */
  async json<T>(method: string, path: string, request: HttpRequest = {}): Promise<T> {
    return JSON.parse(await this.text(method, path, request)) as T;
  }

  /** The body's text, as the node sent it, to the digit. */
  async text(method: string, path: string, request: HttpRequest = {}): Promise<string> {
    const response = await this.open(method, path, request);
    try {
      return await response.text();
    } catch (cause) {
      throw lost(this.url, request.signal, cause, method);
    }
  }

  /** The response once its head is there and it is no error. */
  async open(method: string, path: string, request: HttpRequest = {}): Promise<Response> {
    const headers: Record<string, string> = { accept: "application/json", ...request.headers };
    if (this.#token !== undefined) headers["authorization"] = `Bearer ${this.#token}`;
    const body = request.bodyText ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    if (body !== undefined) headers["content-type"] = "application/json";
    let response: Response;
    try {
      const init: RequestInit = { method, headers };
      if (body !== undefined) init.body = body;
      if (request.signal !== undefined) init.signal = request.signal;
      response = await this.#fetch(this.url + path + queryText(request.query), init);
    } catch (cause) {
      throw lost(this.url, request.signal, cause, method);
    }
    if (!response.ok) throw await errorOf(response, this.url);
    return response;
  }
}

/** `ws://h:1/registry`, `h:1` and `http://h:1/` all mean `http://h:1`. A path in front of the API (a proxy's) is kept. */
export function normalizeUrl(given: string): string {
  const spelled = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  let url: URL;
  try {
    url = new URL(spelled.replace(/^ws(s?):/i, "http$1:"));
  } catch {
    throw new ReachError(
      "INVALID_REQUEST",
      `${JSON.stringify(given)} is not the address of a node; write one like http://127.0.0.1:8800`,
      { path: "url" },
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ReachError("INVALID_REQUEST", `${given} does not start with http://, https://, ws:// or wss://`, {
      path: "url",
    });
  }
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/(registry\/?)?$/, "")}`;
}

function queryText(query: HttpRequest["query"]): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(key, String(value));
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/**
 * The request did not come through. What the node did with it is unknown, unless nothing was asked but to read, or nobody
 * listened there. `details.reason` is "unreachable" for programs.
 */
function lost(url: string, signal: AbortSignal | undefined, cause: unknown, method: string): ReachError {
  if (signal?.aborted) return new ReachError("CANCELED", `the request to ${url} was given up`, { cause });
  const code = causeCode(cause);
  const safe = method === "GET" || code === "ECONNREFUSED" || code === "ENOTFOUND";
  return new ReachError(
    "UNAVAILABLE",
    `cannot reach the node at ${url}${code === undefined ? "" : ` (${code})`}: is \`agent-reach serve\` running there? Start it, or name another node`,
    { cause, outcome: safe ? "not_executed" : "unknown", details: { reason: "unreachable", url } },
  );
}

function causeCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string") return code;
  }
  return undefined;
}

/** Something that is no node may stand at the address: then the status is all there is to say. */
async function errorOf(response: Response, url: string): Promise<ReachError> {
  const text = await response.text().catch(() => "");
  const known = readError(parseJson(text));
  if (known !== undefined) return known;
  const retryable = response.status === 429 || response.status >= 500;
  return new ReachError(
    retryable ? "NOT_READY" : "INVALID_REQUEST",
    `${url} answered ${response.status} without saying why in Agent-Reach's words; is it the address of a node?`,
    {
      retryable,
      outcome: retryable ? "unknown" : "not_executed",
      details: { status: response.status, body: text.slice(0, 500) },
    },
  );
}

/**
 * The error that a body says; undefined if it says none. A code that this version does not know counts as INTERNAL or
 * INVALID_REQUEST, by what the node says of retrying.
 */
export function readError(value: unknown): ReachError | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const body = value as Partial<ErrorBody>;
  if (typeof body.code !== "string" || typeof body.message !== "string") return undefined;
  if (Object.hasOwn(errorTable, body.code)) return ReachError.fromBody(body as ErrorBody);
  const code: ErrorCode = body.retryable === true ? "INTERNAL" : "INVALID_REQUEST";
  return ReachError.fromBody({ ...(body as ErrorBody), code, message: `[${body.code}] ${body.message}` });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
