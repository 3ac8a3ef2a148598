import type { ReachError } from "@agent-reach/protocol";
import { type FailureOptions, type FailureReason, failureOf } from "../openai/failure.js";

export { type FailureReason, failureReason } from "../openai/failure.js";

/** `what` goes on from the embedder's name. Neither keys nor texts may be in it. */
export function embedderFailure(
  name: string,
  reason: FailureReason,
  what: string,
  options?: FailureOptions,
): ReachError {
  return failureOf({ kind: "embedder", name }, reason, what, options);
}
