import type { AgentErrorShape } from "@agent-reach/protocol";

/** An agent's own error, in whatever shape it gave it. */
export function errorOf(given: unknown): AgentErrorShape {
  if (typeof given === "string") return { message: given };
  if (given === null || typeof given !== "object") return { message: "no reason given" };
  const { code, message, data, retryable } = given as Record<string, unknown>;
  return {
    ...(code !== undefined && { code: String(code) }),
    ...(message !== undefined && { message: String(message) }),
    ...(data !== undefined && { data }),
    ...(typeof retryable === "boolean" && { retryable }),
  };
}
