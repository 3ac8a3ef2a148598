import { type AgentErrorShape, isRetryable, type Outcome, ReachError } from "@agent-reach/protocol";
import type { MessageLog } from "../journal/journal.js";
import type { Expiry } from "../ports/delivery.js";
import type { Call, CallAttempt } from "./call.js";
import type { Decision } from "./decision.js";
import { expiryText } from "./expiry.js";
import type { RateExcess } from "./rate-limit.js";

/** What a caller is told when there is no result: what happened, to what, and what to do. */

const TRY_AGAIN_MS = 1000;

export function invalidInput(capability: string, violation: { path: string; rule: string }): ReachError {
  const { path, rule } = violation;
  const at = path === "" ? "the input" : `input field "${path}"`;
  return new ReachError("INVALID_INPUT", `${at} of "${capability}" ${rule}; see the capability's inputSchema.`, {
    path,
    details: { capability, rule },
  });
}

/** A business error: the agent did its work and says no. */
export function agentError(capability: string, agentId: string, error: AgentErrorShape): ReachError {
  const said = error.message ?? error.code ?? "no reason given";
  // Whether the agent noticed that its result is too large or the node did: the caller hears the same.
  if (error.code === "PAYLOAD_TOO_LARGE")
    return new ReachError("PAYLOAD_TOO_LARGE", `${agentId} did "${capability}": ${said}`, { outcome: "executed" });
  return new ReachError("AGENT_ERROR", `${agentId} answered "${capability}" with an error: ${said}`, {
    retryable: error.retryable === true,
    details: { ...error },
  });
}

/** An agent did not take the message. */
export function refusal(
  agentId: string,
  code: string,
  message: string,
  retryAfterMs: number | undefined,
  expiry?: Expiry,
): ReachError {
  if (expiry !== undefined)
    return new ReachError("UNAVAILABLE", `${agentId} ${expiryText(expiry)}; nothing was sent.`, {
      details: { agentId, code, phase: expiry.phase, limitMs: expiry.limitMs },
    });
  if (code === "OVERLOADED" || retryAfterMs !== undefined) {
    return new ReachError("OVERLOADED", `${agentId} has too much to do: ${message}`, {
      retryAfterMs: retryAfterMs ?? TRY_AGAIN_MS,
    });
  }
  return new ReachError("UNAVAILABLE", `${agentId} refused the message: ${message}`, { details: { agentId, code } });
}

export function usedBefore(messageId: string): ReachError {
  return new ReachError(
    "CONFLICT",
    `the key of message ${messageId} was used before for other content; a new request needs a new messageId, and a new idempotencyKey if it gives one.`,
    { details: { messageId } },
  );
}

export function allResting(capability: string, forMs: number): ReachError {
  return new ReachError(
    "OVERLOADED",
    `everybody who offers "${capability}" has too much to do; try again later, or submit a task.`,
    { retryAfterMs: Math.ceil(forMs) },
  );
}

export function allBroken(capability: string, probeInMs: number, log: MessageLog): ReachError {
  return new ReachError(
    "UNAVAILABLE",
    `whoever offers "${capability}" failed too often lately, so nothing is sent there until a probe succeeds; try again later, or submit a task.`,
    {
      // Infinite: a probe is under way.
      retryAfterMs: Number.isFinite(probeInMs) ? Math.ceil(probeInMs) : TRY_AGAIN_MS,
      details: { waitedFor: whyNot(log) },
    },
  );
}

export function lineFull({ capability, retryAfterMs }: Call, waitingMax: number): ReachError {
  return new ReachError(
    "BUSY",
    `${waitingMax} calls wait for "${capability}" already; try again later, or submit a task.`,
    { retryAfterMs, details: { capability, limit: waitingMax } },
  );
}

/** The bulkhead's word (RES-3). */
export function shareFull(capability: string, limit: number, inFlight: number, retryAfterMs: number): ReachError {
  return new ReachError(
    "BUSY",
    `you have ${inFlight} calls of "${capability}" in flight, and at the moment ${limit} are the most; wait for some of them to end, or submit tasks.`,
    { retryAfterMs, details: { capability, limit, inFlight } },
  );
}

export function rateLimited({ scope, perSec, waitMs }: RateExcess, capability: string): ReachError {
  const whose = { caller: "you send", capability: `"${capability}" gets`, tenant: "your tenant sends" }[scope];
  return new ReachError(
    "RATE_LIMITED",
    `${whose} more than ${perSec} messages a second, which is the most for one ${scope} here; try again in ${waitMs} ms.`,
    { retryAfterMs: waitMs, details: { scope, perSec } },
  );
}

/** What a nested call is part of has ended, so nobody waits for it (RES-3). `code` undefined: it was answered. */
export function parentOver(parentId: string, code: string | undefined, outcome: Outcome): ReachError {
  const how = code === undefined ? "was answered" : `is over: ${code}`;
  return new ReachError(
    "CANCELED",
    `the message that this call is part of (${parentId}) ${how}. Nobody waits for the answer any longer; stop working on it.`,
    { outcome, details: { parentId, ...(code !== undefined && { parentCode: code }) } },
  );
}

export function resultTooLarge(capability: string, bytes: number, bytesMax: number): ReachError {
  return new ReachError(
    "PAYLOAD_TOO_LARGE",
    `the result of "${capability}" has ${bytes} bytes, over the limit of ${bytesMax}; let the agent answer with a reference.`,
    { outcome: "executed" },
  );
}

export function nodeStops(outcome: Outcome): ReachError {
  return new ReachError("DRAINING", "this node is stopping; connect elsewhere, or again in a moment.", {
    outcome,
    retryable: outcome === "not_executed",
    ...(outcome === "not_executed" && { retryAfterMs: 1000 }),
  });
}

/**
 * Whatever a call ends by whose first attempt may have been executed: that remains in doubt, and `not_executed` would be
 * untrue. There is such an attempt only where the capability is idempotent, so the caller may try again.
 */
export function inDoubt(error: Error): Error {
  if (!(error instanceof ReachError) || error.outcome !== "not_executed") return error;
  const { code, message, retryable, retryAfterMs, details } = error;
  const more = {
    outcome: "unknown" as const,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details && { details }),
  };
  if (code === "CANCELED" || code === "DRAINING") return new ReachError(code, message, { ...more, retryable });
  return new ReachError(
    "DELIVERY_TIMEOUT",
    `who got the message first gave no answer, and then there was nobody else: ${message} Whether it was executed is unknown.`,
    { ...more, retryable: true },
  );
}

/** Somebody has it, and nothing more was heard in time: whether it was executed is unknown. */
export function overdue(call: Call, attempt: CallAttempt, waitedMs: number): ReachError {
  const { agentId, instanceId } = attempt.offer.instance.record;
  const wasLost = call.state === "orphaned";
  const { expiry } = attempt;
  let code: "DELIVERY_TIMEOUT" | "TIMEOUT";
  let message: string;
  if (attempt.acknowledged) {
    code = "TIMEOUT";
    const what = wasLost ? "lost its connection while it worked" : `gave no result within ${waitedMs} ms`;
    message = `${agentId} ${what}; give the call more time, or submit a task.`;
  } else {
    code = "DELIVERY_TIMEOUT";
    const unheard = wasLost
      ? "lost its connection before it acknowledged"
      : `did not acknowledge within ${waitedMs} ms`;
    const what = expiry === undefined ? unheard : expiryText(expiry);
    message = `${agentId} ${what} (attempt ${call.attempt}); whether it did anything is unknown.`;
  }
  return new ReachError(code, message, {
    outcome: "unknown",
    retryable: isRetryable(code, "unknown", attempt.offer.idempotent),
    details: { agentId, instanceId, attempts: call.attempt, ...(expiry && !attempt.acknowledged && expiry) },
  });
}

/** Nobody has it when its time is up. */
export function nobodyInTime(call: Call): ReachError {
  const { capability } = call;
  if (call.older !== undefined) {
    return new ReachError(
      "DELIVERY_TIMEOUT",
      `the only instance that took "${capability}" was lost, and nobody else was free in time.`,
      { outcome: "unknown", retryable: true },
    );
  }
  if (call.full) {
    return new ReachError(
      "BUSY",
      `everybody who offers "${capability}" was busy until the deadline; try again later, or submit a task.`,
      { retryAfterMs: call.retryAfterMs },
    );
  }
  return new ReachError(
    "UNAVAILABLE",
    `"${capability}" is offered, but nobody was able to take it until the deadline.`,
    { details: { waitedFor: whyNot(call.log) } },
  );
}

/** Who was left out and why, from the last decision. */
function whyNot(log: MessageLog): unknown {
  const detail = log.detailOf(["waiting", "decision"]) as Decision | undefined;
  return detail
    ?.toShape()
    .candidates.map(({ agentId, instanceId, verdict }) => ({ agentId, instanceId, why: verdict }));
}
