import { ReachError } from "@agent-reach/protocol";

/** Who is asking. Without authentication a principal is the agentId that the session registered, else `anonymous`. */
export interface Caller {
  readonly tenant: string;
  /** The name under which new messages are accepted. */
  readonly principal: string;
  /** Every name this caller has answered to; it may see the messages of all of them. */
  readonly principals: ReadonlySet<string>;
  /** May look at and act on everybody's messages. */
  readonly operator: boolean;
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly instanceId: string | undefined;
  /** Its address as it stands in envelopes, and the JSON text of that. */
  readonly source: { readonly agentId?: string; readonly instanceId?: string };
  readonly sourceJson: string;
}

export const TENANT = "default";
export const ANONYMOUS = "anonymous";

/**
 * HTTP without authentication, which a node offers on loopback only: an anonymous caller whom the views are for, and so
 * an operator.
 */
export const localOperator: Caller = {
  tenant: TENANT,
  principal: ANONYMOUS,
  principals: new Set([ANONYMOUS]),
  operator: true,
  sessionId: undefined,
  agentId: undefined,
  instanceId: undefined,
  source: {},
  sourceJson: "{}",
};

/**
 * Whom the limits of one caller are for: the principal. Those without a name would all be one, so each of their sessions is
 * a caller of its own; over HTTP, where there is none, they share.
 */
export function callerKeyOf({ tenant, principal, sessionId }: Caller): string {
  return principal === ANONYMOUS && sessionId !== undefined ? `${tenant}//${sessionId}` : `${tenant}/${principal}`;
}

/** A message belongs to its principal; nobody else may read, cancel or repeat it, tenant operators excepted. */
export function mayTouch(caller: Caller, message: { tenant: string; principal: string }): boolean {
  return caller.tenant === message.tenant && (caller.operator || caller.principals.has(message.principal));
}

export function assertMayTouch(
  caller: Caller,
  message: { tenant: string; principal: string; messageId: string },
): void {
  if (!mayTouch(caller, message)) throw notYours(message.messageId);
}

export function notYours(messageId: string): ReachError {
  return new ReachError(
    "FORBIDDEN",
    `message ${messageId} belongs to another principal; only its sender or an operator may use it.`,
    {
      details: { policy: "message-owner" },
    },
  );
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/i;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host.trim());
}

/**
 * No page on the web may drive a local node (SEC-1): a browser's Origin must be loopback or listed, and the Host header
 * must name this node, or else a name that resolves to loopback would get past the first check.
 */
export function checkOrigin(origin: string | undefined, allowed: readonly string[]): string | undefined {
  if (origin === undefined || allowed.includes(origin) || allowed.includes("*")) return undefined;
  try {
    if (isLoopback(new URL(origin).hostname)) return undefined;
  } catch {
    // Not a URL, like the `null` of a sandboxed page: falls through to the refusal.
  }
  return `the origin "${origin}" is not allowed; add it to server.allowedOrigins.`;
}

export function checkHost(header: string | undefined, boundTo: string, allowed: readonly string[]): string | undefined {
  if (header === undefined) return "a Host header is needed.";
  const name = header.replace(/:\d+$/, "");
  if (
    isLoopback(name) ||
    name === boundTo ||
    allowed.includes(name) ||
    allowed.includes(header) ||
    allowed.includes("*")
  )
    return undefined;
  return `the host "${header}" is not this node; add it to server.allowedHosts.`;
}
