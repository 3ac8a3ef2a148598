import type { Expiry } from "../ports/delivery.js";

/** What took too long, and what its owner can do about it (RES-10). */
export function expiryText({ phase, limitMs }: Expiry): string {
  switch (phase) {
    case "connect":
      return `could not be connected to within ${limitMs} ms (phase: connect)`;
    case "first byte":
      return `sent no byte of an answer within ${limitMs} ms (phase: first byte); let its endpoint answer 202 and complete later, or name a longer timeoutHintMs on its card if it works before it answers`;
    case "total":
      return `did not finish its answer within ${limitMs} ms (phase: total); give it more time, or let its endpoint answer 202 and complete later`;
  }
}
