import type { JournalEvent } from "@agent-reach/protocol";
import { shortId } from "./id.js";
import type { Paint } from "./paint.js";
import { formatClock } from "./time.js";
import { eventDetails } from "./timeline.js";

/** One event as one line, to be read while they come. */
export function renderEvent(event: JournalEvent, paint: Paint): string {
  if (event.type === "gap") return paint.doubt("some events in between are no longer kept");
  const parts = [paint.dim(formatClock(event.at)), paintType(event.type, paint)];
  if (event.agentId !== undefined) parts.push(paint.name(event.agentId));
  if (event.instanceId !== undefined) parts.push(paint.dim(shortId(event.instanceId)));
  if (event.messageId !== undefined) parts.push(event.messageId);
  if (event.attempt !== undefined) parts.push(paint.dim(`#${event.attempt}`));
  const more = eventDetails(event);
  if (more !== "") parts.push(paint.dim(more));
  return parts.join(" ");
}

function paintType(type: string, paint: Paint): string {
  if (/(dead|failed|offline|lost|refused)$/.test(type)) return paint.bad(type);
  if (/(suspect|stalled|timeout|retry|draining)$/.test(type)) return paint.doubt(type);
  return /(completed|online)$/.test(type) ? paint.good(type) : paint.strong(type);
}
