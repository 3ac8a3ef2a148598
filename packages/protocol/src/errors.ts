/** What a caller may conclude about side effects: surely none, nobody can tell, or the work was done. */
export type Outcome = "not_executed" | "unknown" | "executed";

/** `idempotent`: retryable if nothing was executed, or the capability says that it is idempotent. */
type Retryable = "yes" | "no" | "agent" | "idempotent";

interface ErrorRow {
  /** JSON-RPC error code. */
  readonly rpc: number;
  /** HTTP status. */
  readonly http: number;
  readonly retryable: Retryable;
  readonly meaning: string;
}

/** Every error there is. The wire carries `code`; text is for people and may change. */
export const errorTable = {
  INVALID_REQUEST: { rpc: -32600, http: 400, retryable: "no", meaning: "Not this protocol; `path` names the field." },
  INVALID_CARD: { rpc: -32602, http: 422, retryable: "no", meaning: "The card breaks a rule; `path` names where." },
  INVALID_INPUT: { rpc: -32602, http: 422, retryable: "no", meaning: "The input breaks the capability's inputSchema." },
  INVALID_OUTPUT: {
    rpc: -32602,
    http: 422,
    retryable: "no",
    meaning: "The result breaks the capability's outputSchema.",
  },
  PAYLOAD_TOO_LARGE: {
    rpc: -32001,
    http: 413,
    retryable: "no",
    meaning: "Over the size limit; send a reference instead.",
  },
  UNAUTHENTICATED: { rpc: -32002, http: 401, retryable: "no", meaning: "Nobody knows who you are." },
  FORBIDDEN: { rpc: -32003, http: 403, retryable: "no", meaning: "You may not do this." },
  REVISION_GONE: { rpc: -32004, http: 410, retryable: "no", meaning: "That revision is no longer kept; list again." },
  NOT_READY: {
    rpc: -32009,
    http: 503,
    retryable: "yes",
    meaning: "The node is loading, or its store is unreachable or full.",
  },
  NO_ROUTE: { rpc: -32010, http: 404, retryable: "no", meaning: "Nobody offers this." },
  UNAVAILABLE: {
    rpc: -32011,
    http: 503,
    retryable: "yes",
    meaning: "Offered, but nobody was able until the deadline.",
  },
  BUSY: { rpc: -32012, http: 503, retryable: "yes", meaning: "Able, but full." },
  OVERLOADED: { rpc: -32013, http: 429, retryable: "yes", meaning: "The agent refused: it has too much to do." },
  RATE_LIMITED: { rpc: -32014, http: 429, retryable: "yes", meaning: "Too many requests." },
  DELIVERY_TIMEOUT: { rpc: -32015, http: 504, retryable: "idempotent", meaning: "Sent, but never acknowledged." },
  TIMEOUT: { rpc: -32016, http: 504, retryable: "idempotent", meaning: "Received, but no result by the deadline." },
  AGENT_ERROR: {
    rpc: -32020,
    http: 200,
    retryable: "agent",
    meaning: "The agent did its work and says no (a business error).",
  },
  LOOP_DETECTED: {
    rpc: -32021,
    http: 508,
    retryable: "no",
    meaning: "The hop limit, or a request within its own chain.",
  },
  CANCELED: { rpc: -32022, http: 499, retryable: "no", meaning: "Canceled by the caller or an operator." },
  CONFLICT: { rpc: -32023, http: 409, retryable: "no", meaning: "Same key with other content, or a stale revision." },
  NOT_FOUND: { rpc: -32024, http: 404, retryable: "no", meaning: "No such task, trace, instance or version." },
  DRAINING: { rpc: -32025, http: 503, retryable: "yes", meaning: "This node is going; connect elsewhere." },
  INTERNAL: { rpc: -32603, http: 500, retryable: "yes", meaning: "Our fault; the message carries an id to look up." },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** The error as every edge carries it: in JSON-RPC under `error.data`, over HTTP as the body. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
  outcome: Outcome;
  /** JSON path of the offending field, like `capabilities[0].name`. */
  path?: string;
  details?: Record<string, unknown>;
}

export interface ReachErrorOptions {
  outcome?: Outcome;
  retryable?: boolean;
  retryAfterMs?: number;
  path?: string;
  details?: Record<string, unknown>;
  /** JSON-RPC code where it differs from the table's: -32601 unknown method, -32700 not JSON. */
  rpc?: number;
  cause?: unknown;
}

/** The one error class. Compare `code`, never the text, and never by `instanceof` across packages. */
export class ReachError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly outcome: Outcome;
  readonly retryAfterMs: number | undefined;
  readonly path: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly rpc: number;

  /** `message` says what happened, to what, and what to do; the code is put in front of it. */
  constructor(code: ErrorCode, message: string, options: ReachErrorOptions = {}) {
    super(
      message.startsWith(`[${code}]`) ? message : `[${code}] ${message}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = "ReachError";
    this.code = code;
    this.outcome = options.outcome ?? defaultOutcome(code);
    this.retryable = options.retryable ?? isRetryable(code, this.outcome, false);
    this.retryAfterMs = options.retryAfterMs;
    this.path = options.path;
    this.details = options.details;
    this.rpc = options.rpc ?? errorTable[code].rpc;
  }

  toBody(): ErrorBody {
    const body: ErrorBody = {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      outcome: this.outcome,
    };
    if (this.retryAfterMs !== undefined) body.retryAfterMs = this.retryAfterMs;
    if (this.path !== undefined) body.path = this.path;
    if (this.details !== undefined) body.details = this.details;
    return body;
  }

  /** The `error` member of a JSON-RPC response. */
  toRpc(): { code: number; message: string; data: Omit<ErrorBody, "message"> } {
    const { message, ...data } = this.toBody();
    return { code: this.rpc, message, data };
  }

  static fromBody(body: ErrorBody): ReachError {
    return new ReachError(body.code, body.message, body);
  }
}

/** What follows about side effects when nothing else is known: only these three leave any doubt, or none. */
export function defaultOutcome(code: ErrorCode): Outcome {
  switch (code) {
    case "AGENT_ERROR":
    case "INVALID_OUTPUT":
      return "executed";
    case "DELIVERY_TIMEOUT":
    case "TIMEOUT":
    case "CANCELED":
    case "INTERNAL":
      return "unknown";
    default:
      return "not_executed";
  }
}

/** The table's `retryable` column, with the capability's word where the table asks for it. */
export function isRetryable(code: ErrorCode, outcome: Outcome, idempotent: boolean): boolean {
  const rule: Retryable = errorTable[code].retryable;
  if (rule === "idempotent") return outcome === "not_executed" || idempotent;
  return rule === "yes";
}
