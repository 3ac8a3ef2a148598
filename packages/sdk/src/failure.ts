import {
  defaultOutcome,
  type ErrorBody,
  type ErrorCode,
  errorTable,
  isRetryable,
  type Outcome,
  ReachError,
} from "@agent-reach/protocol";

/** The `error` member of a JSON-RPC response, as it may come: nothing in it is trusted to be there. */
export interface RpcError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly data?: unknown;
}

/** Codes by their JSON-RPC number, for peers that send only that. */
const byRpc = new Map<unknown, ErrorCode>();
for (const code of Object.keys(errorTable) as ErrorCode[]) {
  if (!byRpc.has(errorTable[code].rpc)) byRpc.set(errorTable[code].rpc, code);
}
byRpc.set(-32601, "INVALID_REQUEST").set(-32700, "INVALID_REQUEST").set(-32602, "INVALID_INPUT");

/** A failure made here, as the body which the node would have sent. No Error is built until somebody wants one. */
export function failure(
  code: ErrorCode,
  message: string,
  more: Partial<Omit<ErrorBody, "code" | "message">> = {},
): ErrorBody {
  const outcome: Outcome = more.outcome ?? defaultOutcome(code);
  return { retryable: isRetryable(code, outcome, false), ...more, outcome, code, message: `[${code}] ${message}` };
}

/** A failure that came over the wire. A code this version does not know is kept, and judged by what came with it. */
export function failureOf(error: RpcError): ErrorBody {
  const data = (typeof error.data === "object" && error.data !== null ? error.data : {}) as Partial<ErrorBody>;
  const code = typeof data.code === "string" ? data.code : (byRpc.get(error.code) ?? "INTERNAL");
  const known = Object.hasOwn(errorTable, code);
  const outcome = data.outcome ?? (known ? defaultOutcome(code) : "unknown");
  const body: ErrorBody = {
    code,
    message: typeof error.message === "string" ? error.message : `[${code}] the node gave no text`,
    retryable: data.retryable ?? (known && isRetryable(code, outcome, false)),
    outcome,
  };
  if (data.retryAfterMs !== undefined) body.retryAfterMs = data.retryAfterMs;
  if (data.path !== undefined) body.path = data.path;
  if (data.details !== undefined) body.details = data.details;
  return body;
}

/** The exception for a failure. */
export function toError(body: ErrorBody): ReachError {
  return new ReachError(body.code, body.message, { ...body, rpc: rpcOf(body.code) });
}

/** The `error` member of our own response. */
export function toRpc(body: ErrorBody, rpc = rpcOf(body.code)): object {
  const { message, ...data } = body;
  return { code: rpc, message, data };
}

function rpcOf(code: ErrorCode): number {
  return Object.hasOwn(errorTable, code) ? errorTable[code].rpc : -32603;
}
