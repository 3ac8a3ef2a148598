import { ReachError } from "@agent-reach/protocol";

/** Why a model did not answer; in `details.reason`, for whoever decides what to do without it. */
export type FailureReason =
  | "unreachable"
  | "timeout"
  | "rate_limited"
  | "unauthorized"
  | "refused"
  | "server_error"
  /** It answered, and what it answered cannot be used. */
  | "bad_answer"
  /** As bad_answer: it knows nothing of a text. */
  | "zero_vector"
  /** It was not asked: too many wait for it already. */
  | "busy"
  /** It was not asked: it failed just now, and is left alone for a while. */
  | "resting"
  | "closed";

/** Who was asked; `name` says which model at which address. */
export interface Asked {
  readonly kind: "embedder" | "chooser";
  readonly name: string;
}

/** What people call them. */
export const words = { embedder: "embedder", chooser: "language model" } as const satisfies Record<
  Asked["kind"],
  string
>;

/** What was asked may be asked again when the reason passes by itself. */
const passing: ReadonlySet<FailureReason> = new Set([
  "unreachable",
  "timeout",
  "rate_limited",
  "server_error",
  "busy",
  "resting",
]);

export interface FailureOptions {
  retryAfterMs?: number | undefined;
  retryable?: boolean;
}

/** `what` goes on from the name: "answered 401; check its key". Neither keys nor texts may be in it. */
export function failureOf(
  { kind, name }: Asked,
  reason: FailureReason,
  what: string,
  { retryAfterMs, retryable = passing.has(reason) }: FailureOptions = {},
): ReachError {
  return new ReachError("UNAVAILABLE", `the ${words[kind]} ${name} ${what}`, {
    retryable,
    details: { reason, [kind]: name },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

export function failureReason(error: unknown): FailureReason | undefined {
  const reason = (error as { details?: { reason?: unknown } } | undefined)?.details?.reason;
  return typeof reason === "string" ? (reason as FailureReason) : undefined;
}
