import type { FailureOptions, FailureReason } from "./failure.js";

/** What an operator may do about a server that does not want what it is sent. */
export interface Advice {
  /** 413. */
  readonly tooLarge: string;
  /** Any other status in the 400s. */
  readonly refused: string;
}

/** An answer that is no success. */
export interface Refusal {
  readonly reason: FailureReason;
  readonly what: string;
  readonly options: FailureOptions;
}

export type Headers = Record<string, string | string[] | undefined>;

const QUOTE_CHARS_MAX = 200;

/** What an answer with another status than 200 means. `secrets`, the key among them, are repeated in no word of it. */
export function refusalOf(
  answer: { status: number; headers: Headers; text: string },
  { key, secrets, advice, now }: { key: string | undefined; secrets: readonly string[]; advice: Advice; now: number },
): Refusal {
  const { status, headers } = answer;
  const { code, said } = wordOf(answer.text, [...secrets, key ?? ""]);
  const answered = `answered ${status}${said}`;
  const refusal = (reason: FailureReason, what: string, options: FailureOptions = {}) => ({ reason, what, options });
  if (status === 401 || status === 403) {
    // What is said here likes to quote the key.
    const what = key === undefined ? "it wants a key, and none is set" : "its key is not accepted";
    return refusal("unauthorized", `answered ${status}: ${what}; check the key and what it may do`);
  }
  if (status === 429) {
    if (code === "insufficient_quota") {
      const what = `${answered}; the account has nothing left, which waiting does not help`;
      return refusal("rate_limited", what, { retryable: false });
    }
    return refusal("rate_limited", `${answered}: too many requests; allow fewer at once, or a larger quota`, {
      retryAfterMs: retryAfter(headers, now),
    });
  }
  if (status >= 500)
    return refusal("server_error", `${answered}; see to the server`, { retryAfterMs: retryAfter(headers, now) });
  if (status >= 300 && status < 400)
    return refusal("refused", `answered ${status}, and redirects are not followed; set the final base URL`);
  if (status === 404 || status === 405)
    return refusal("refused", `${answered}; check its base URL and the model's name`);
  return refusal("refused", `${answered}; ${status === 413 ? advice.tooLarge : advice.refused}`);
}

function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** What the server says in its own words, if that is short enough to read and repeats nothing it must not. */
function wordOf(text: string, secrets: readonly string[]): { code: unknown; said: string } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { code: undefined, said: "" };
  }
  const fields = (body ?? {}) as Record<string, unknown>;
  const error = (typeof fields["error"] === "object" ? fields["error"] : fields) as Record<string, unknown> | null;
  const word = [error?.["message"], fields["error"], fields["detail"]].find((value) => typeof value === "string") as
    | string
    | undefined;
  const code = error?.["code"];
  if (word === undefined || secrets.some((secret) => secret !== "" && word.includes(secret))) return { code, said: "" };
  return { code, said: ` (${word.slice(0, QUOTE_CHARS_MAX).replace(/\p{Cc}+/gu, " ")})` };
}
