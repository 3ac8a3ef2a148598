import { ReachError } from "@agent-reach/protocol";

/** Wall ms at which a UUID of version 7 was made (RFC 9562: its first 48 bits); undefined for any other. */
function madeAt(messageId: string): number | undefined {
  return messageId[14] === "7" ? Number.parseInt(messageId.slice(0, 8) + messageId.slice(9, 13), 16) : undefined;
}

/** A task that is not here: one that may have been, long ago, is told from one that never was. `now` is wall ms. */
export function unknownTask(messageId: string, keepSec: number, now: number): ReachError {
  const made = madeAt(messageId);
  const expired = made !== undefined && made < now - keepSec * 1000;
  const text = expired
    ? `task ${messageId} is from ${new Date(made).toISOString()}; if it was here, it is forgotten by now: results are kept for ${keepSec} s.`
    : `no task ${messageId} is known here; if it was submitted, then to another node or under another id.`;
  return new ReachError("NOT_FOUND", text, {
    path: "messageId",
    details: { reason: expired ? "expired" : "unknown", keepSec },
  });
}
