import { Agent, buildConnector, request } from "undici";
import type { Expiry } from "../ports/delivery.js";
import type { System } from "../ports/system.js";

export interface EndpointSettings {
  /** Until a connection, TLS included, has come about. */
  connectTimeoutMs: number;
  /** From then on until the head of the answer; 0: nothing of its own, only the total. */
  firstByteTimeoutMs: number;
  /** Largest answer that is read. */
  answerBytesMax: number;
}

/** How long the exchange of one message may take. */
export interface Patience {
  readonly timeoutMs: number;
  /** How long the work usually takes, by the card. */
  readonly hintMs: number | undefined;
}

/** What became of one request. */
export type Exchange =
  | {
      readonly end: "answered";
      readonly status: number;
      readonly retryAfter: string | undefined;
      readonly text: string;
    }
  /** No connection came about, so surely nothing was sent. */
  | { readonly end: "unconnected"; readonly reason: string; readonly expiry: Expiry | undefined }
  | { readonly end: "expired"; readonly expiry: Expiry }
  | { readonly end: "oversize" }
  /** It was sent, and no answer that can be read came back. */
  | { readonly end: "broken" };

const CONNECTIONS_MAX = 128;

/**
 * Posts to one address over kept-alive connections, each request within the three times of RES-10: to connect, to the first
 * byte of the answer, and in all. The first two are undici's to keep, which looks at its clock twice a second: they may take
 * up to half a second longer.
 */
export class Endpoint {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    private readonly system: System,
    private readonly settings: EndpointSettings,
  ) {
    const dial = buildConnector({ timeout: settings.connectTimeoutMs });
    this.agent = new Agent({
      connect: (options, done) =>
        dial(options, (error, socket) => {
          if (error === null) done(null, socket);
          else done(new NotConnected(error), null);
        }),
      // The body is part of the total, which no option of undici bounds.
      bodyTimeout: 0,
      maxResponseSize: settings.answerBytesMax,
      connections: CONNECTIONS_MAX,
    });
  }

  async post(body: string, headers: Record<string, string>, { timeoutMs, hintMs }: Patience): Promise<Exchange> {
    const firstByteMs = firstByteWithinMs(this.settings.firstByteTimeoutMs, hintMs);
    const total = new AbortController();
    const stop = this.system.after(timeoutMs, () => total.abort());
    let rest: Promise<void> | undefined;
    try {
      const answer = await request(this.url, {
        method: "POST",
        dispatcher: this.agent,
        signal: total.signal,
        headersTimeout: firstByteMs,
        headers,
        body,
      });
      const { statusCode: status } = answer;
      const after = answer.headers["retry-after"];
      const retryAfter = Array.isArray(after) ? after[0] : after;
      if (status === 200) return { end: "answered", status, retryAfter, text: await answer.body.text() };
      // The status says it all; what follows is read for the sake of the connection, and no further than it is worth.
      rest = answer.body.dump().catch(() => {});
      return { end: "answered", status, retryAfter, text: "" };
    } catch (error) {
      if (total.signal.aborted) return { end: "expired", expiry: { phase: "total", limitMs: timeoutMs } };
      return this.failure(error as Error & { code?: string }, firstByteMs);
    } finally {
      if (rest === undefined) stop();
      else void rest.then(stop);
    }
  }

  private failure(error: Error & { code?: string }, firstByteMs: number): Exchange {
    if (error instanceof NotConnected) {
      const limitMs = this.settings.connectTimeoutMs;
      const expiry = error.expired ? ({ phase: "connect", limitMs } as const) : undefined;
      return { end: "unconnected", reason: error.message, expiry };
    }
    if (error.code === "UND_ERR_HEADERS_TIMEOUT")
      return { end: "expired", expiry: { phase: "first byte", limitMs: firstByteMs } };
    if (error.code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return { end: "oversize" };
    return { end: "broken" };
  }

  close(): void {
    void this.agent.close();
  }
}

class NotConnected extends Error {
  readonly expired: boolean;

  constructor(cause: Error & { code?: string }) {
    super(cause.message, { cause });
    this.expired = cause.code === "UND_ERR_CONNECT_TIMEOUT";
  }
}

/**
 * No limit for work that by its card takes longer than the first byte may: an agent that offers such work computes before it
 * answers. Quicker work has the limit whether its card says so or not.
 */
export function firstByteWithinMs(limitMs: number, hintMs: number | undefined): number {
  return hintMs !== undefined && hintMs > limitMs ? 0 : limitMs;
}
