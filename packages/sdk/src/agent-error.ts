/** Throw it in a handler to answer with a business error: the agent did look at it, and says no. */
export class AgentError extends Error {
  /** The agent's own code, like `ORDER_NOT_FOUND`; the caller finds it in `details.code`. */
  readonly code: string;
  readonly data: unknown;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean | undefined;

  constructor(code: string, message: string, options: { data?: unknown; retryable?: boolean } = {}) {
    super(message);
    this.name = "AgentError";
    this.code = code;
    this.data = options.data;
    this.retryable = options.retryable;
  }
}

/** Throw it in a handler, before any side effect, to refuse: not executed, and others may be asked. */
export class Overloaded extends Error {
  /** Milliseconds after which trying here again makes sense. */
  readonly retryAfterMs: number | undefined;

  constructor(options: { retryAfterMs?: number; message?: string } = {}) {
    super(options.message ?? "this agent has too much to do");
    this.name = "Overloaded";
    this.retryAfterMs = options.retryAfterMs;
  }
}
