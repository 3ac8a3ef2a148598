import type { AgentErrorShape } from "@agent-reach/protocol";

/** An agent's own error, in whatever shape it gave it. */
export function errorOf(given: unknown): AgentErrorShape {
  if (typeof given === "string") return { message: given };
  if (given === null || typeof given !== "object") return { message: "no reason given" };
  const { code, message, data, retryable } = given as Record<string, unknown>;
  return {
    ...(code !== undefined && { code: textOf(code) }),
    ...(message !== undefined && { message: textOf(message) }),
    ...(data !== undefined && { data }),
    ...(typeof retryable === "boolean" && { retryable }),
  };
}

/** What stands where a text should. Not by String(), which an object with a member called `toString` makes throw. */
export function textOf(given: unknown): string {
  return typeof given === "string" ? given : (JSON.stringify(given) ?? "undefined");
}
