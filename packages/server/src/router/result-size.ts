import type { AgentErrorShape } from "@agent-reach/protocol";

/**
 * What becomes of a result that is over the limit, whichever door it came through: the work was done and its answer cannot be
 * passed on. Undefined if it fits, which most texts show by their length alone: a character has three bytes at most.
 */
export function oversize(data: string, bytesMax: number): AgentErrorShape | undefined {
  if (data.length * 3 <= bytesMax) return undefined;
  const bytes = Buffer.byteLength(data);
  return bytes <= bytesMax ? undefined : tooLarge(`${bytes} bytes`, bytesMax);
}

export function tooLarge(size: string, bytesMax: number): AgentErrorShape {
  const message = `the result has ${size}, over the limit of ${bytesMax}; let the agent answer with a reference.`;
  return { code: "PAYLOAD_TOO_LARGE", message, retryable: false };
}
