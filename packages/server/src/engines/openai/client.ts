import type { ReachError } from "@agent-reach/protocol";
import { Agent, request } from "undici";
import type { System } from "../../ports/system.js";
import { type Asked, type FailureOptions, type FailureReason, failureOf, failureReason } from "./failure.js";
import { type Advice, type Headers, refusalOf } from "./refusal.js";

const ATTEMPTS_MAX = 3;
const HURRIED_ATTEMPTS_MAX = { broken: 2, other: 1 };
/** Before the second attempt, four times as long before the third; a server that says when is believed instead. */
const BACKOFF_MS = 100;
const CONNECT_MS_MAX = 10_000;

export interface ClientSettings {
  url: string;
  key: string | undefined;
  /** The longest that any exchange may take. */
  timeoutMs: number;
  /** Most requests at once; the others wait within their time. */
  requestsMax: number;
  answerBytesMax: number;
  advice: Advice & {
    /** What was answered that is over `answerBytesMax`: "more than 16 vectors can take". */
    readonly oversize: string;
  };
}

/** What was read of a body; `what` goes on from the model's name. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: FailureReason; readonly what: string };

export interface Exchange<T> {
  body: string;
  timeoutMs: number;
  /**
   * Somebody waits who can do without, and would rather hear what the matter is: only a connection that broke is tried once more.
   */
  hurried: boolean;
  /** What did not come in time, and what to do: "16 texts within 100 ms; …". */
  late: string;
  /** What the server may not be quoted with. */
  secrets: readonly string[];
  read(text: string): Reading<T>;
}

/**
 * Posts to one address of an OpenAI-compatible server, until it is answered, surely refused, or the time is up.
 *
 * What may pass by itself (no connection, 429, 5xx) is tried again within the time, three times at most. Redirects are not
 * followed: the key would go along, and the texts would go elsewhere than the operator said. The address comes from the
 * operator's own settings and may be private, other than those which cards name.
 */
export class OpenAiClient {
  private readonly agent: Agent;
  private readonly headers: Record<string, string>;

  constructor(
    private readonly settings: ClientSettings,
    private readonly asked: Asked,
    private readonly system: System,
  ) {
    this.headers = { "content-type": "application/json", accept: "application/json" };
    if (settings.key !== undefined) this.headers["authorization"] = `Bearer ${settings.key}`;
    this.agent = new Agent({
      connect: { timeout: Math.min(settings.timeoutMs, CONNECT_MS_MAX) },
      connections: settings.requestsMax,
      // All of an exchange is within its own time, which no option of undici bounds.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: settings.answerBytesMax,
    });
  }

  /** Rejects with the signal's reason, or a ReachError with `details.reason`. */
  async ask<T>(exchange: Exchange<T>, signal: AbortSignal): Promise<T> {
    const { timeoutMs, hurried, late } = exchange;
    const expired = new AbortController();
    const both = AbortSignal.any([signal, expired.signal]);
    const startedAt = this.system.monotonic();
    const stop = this.system.after(timeoutMs, () => expired.abort());
    try {
      for (let attempt = 1; ; attempt++) {
        const answer = await this.post(exchange, both);
        if ("value" in answer) return answer.value;
        const { failure } = answer;
        const waitMs = failure.retryAfterMs ?? BACKOFF_MS * 4 ** (attempt - 1);
        const restMs = timeoutMs - (this.system.monotonic() - startedAt);
        if (!failure.retryable || attempt >= attemptsMax(failure, hurried) || waitMs >= restMs) throw failure;
        await this.wait(waitMs, both);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!expired.signal.aborted) throw error;
      throw failureOf(this.asked, "timeout", `did not answer ${late}`);
    } finally {
      stop();
    }
  }

  close(): void {
    void this.agent.destroy();
  }

  private async post<T>(
    { body, secrets, read }: Exchange<T>,
    signal: AbortSignal,
  ): Promise<{ value: T } | { failure: ReachError }> {
    let status: number;
    let text: string;
    let headers: Headers;
    try {
      const { agent: dispatcher, headers: ours } = this;
      const answer = await request(this.settings.url, { method: "POST", dispatcher, signal, headers: ours, body });
      status = answer.statusCode;
      headers = answer.headers;
      text = await answer.body.text();
    } catch (error) {
      if (signal.aborted) throw error;
      return this.broken(error as Error & { code?: string });
    }
    if (status !== 200) {
      const { key, advice } = this.settings;
      const now = this.system.now();
      const { reason, what, options } = refusalOf({ status, headers, text }, { key, secrets, advice, now });
      return this.failure(reason, what, options);
    }
    const reading = read(text);
    return reading.ok ? { value: reading.value } : this.failure(reading.reason, reading.what);
  }

  private broken(error: Error & { code?: string }): { failure: ReachError } {
    if (error.code === "UND_ERR_RES_EXCEEDED_MAX_SIZE")
      return this.failure("bad_answer", `answered ${this.settings.advice.oversize}; see to the server`);
    const { code = error.name } = error;
    const what = `could not be reached, or broke off (${code}); check its base URL, and that the server runs`;
    return this.failure("unreachable", what);
  }

  private failure(reason: FailureReason, what: string, options?: FailureOptions): { failure: ReachError } {
    return { failure: failureOf(this.asked, reason, what, options) };
  }

  private wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const give = () => {
        stop();
        reject(signal.reason);
      };
      const stop = this.system.after(ms, () => {
        signal.removeEventListener("abort", give);
        resolve();
      });
      if (signal.aborted) give();
      else signal.addEventListener("abort", give, { once: true });
    });
  }
}

function attemptsMax(failure: ReachError, hurried: boolean): number {
  if (!hurried) return ATTEMPTS_MAX;
  return failureReason(failure) === "unreachable" ? HURRIED_ATTEMPTS_MAX.broken : HURRIED_ATTEMPTS_MAX.other;
}
