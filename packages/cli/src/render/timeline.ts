import type { Decision, JournalEvent, Trace } from "@agent-reach/protocol";
import { shortId } from "./id.js";
import type { Paint } from "./paint.js";
import { renderTable } from "./table.js";
import { formatDuration } from "./time.js";

/** OBS-7: a hop that takes longer is marked. */
export const slowHopMs = 3000;

const standardKeys = new Set(["id", "at", "type", "messageId", "traceId", "agentId", "instanceId", "attempt", "node"]);

/** A trace as text: one line per event, times from its start, nested messages indented under the one that sent them. */
export function renderTrace(trace: Trace, paint: Paint): string {
  const slow = slowHops(trace.events);
  const head =
    `${paint.dim("trace")}  ${trace.traceId}\n` +
    `${paint.dim("start")}  ${trace.startedAt}\n` +
    `${paint.dim("took")}   ${formatDuration(trace.durationMs)}, ${count(trace.messages.length, "message")}, ${count(trace.events.length, "event")}` +
    `${slow.size === 0 ? "" : `, ${paint.bad(`${count(slow.size, "hop")} over ${slowHopMs / 1000} s`)}`}\n`;
  return trace.events.length === 0
    ? `${head}\nNo events of this trace are kept.\n`
    : `${head}\n${renderEvents(trace.events, paint, depthsOf(trace))}`;
}

export function renderEvents(
  events: readonly JournalEvent[],
  paint: Paint,
  depths: ReadonlyMap<string, number> = new Map(),
): string {
  const slow = slowHops(events);
  const start = Date.parse(events[0]?.at ?? "");
  const rows = events.map((event) => {
    const waited = slow.get(event.id);
    const indent = "  ".repeat(depths.get(event.messageId ?? "") ?? 0);
    return [
      `+${formatOffset(Date.parse(event.at) - start)}`,
      `${indent}${event.type}${event.attempt === undefined ? "" : paint.dim(` #${event.attempt}`)}`,
      event.messageId === undefined ? "" : shortId(event.messageId),
      [event.agentId, event.instanceId && shortId(event.instanceId)].filter(Boolean).join(" "),
      `${waited === undefined ? "" : `${paint.bad(`slow: ${formatDuration(waited)}`)}  `}${eventDetails(event)}`,
    ];
  });
  return renderTable(["TIME", "EVENT", "MESSAGE", "WHERE", ""], rows, paint);
}

/** Events that came more than `slowHopMs` after the one before of the same message: by id, with the wait. */
export function slowHops(events: readonly JournalEvent[]): Map<number, number> {
  const last = new Map<string, number>();
  const slow = new Map<number, number>();
  for (const event of events) {
    const key = event.messageId ?? "";
    const at = Date.parse(event.at);
    const before = last.get(key);
    if (before !== undefined && at - before > slowHopMs) slow.set(event.id, at - before);
    last.set(key, at);
  }
  return slow;
}

/** How deep each message stands under the one that caused it. A parent that is not in the trace counts as none. */
function depthsOf(trace: Trace): Map<string, number> {
  const parents = new Map<string, string | undefined>();
  for (const message of trace.messages as { messageId?: string; parentId?: string }[]) {
    if (message.messageId !== undefined) parents.set(message.messageId, message.parentId);
  }
  for (const event of trace.events as (JournalEvent & { parentId?: unknown })[]) {
    if (event.messageId !== undefined && typeof event.parentId === "string")
      parents.set(event.messageId, event.parentId);
  }
  const depths = new Map<string, number>();
  for (const id of parents.keys()) {
    let depth = 0;
    for (let at = parents.get(id); at !== undefined && parents.has(at) && depth < 16; at = parents.get(at)) depth++;
    depths.set(id, depth);
  }
  return depths;
}

const formatOffset = (ms: number): string => (ms < 10_000 ? `${ms.toFixed(0)} ms` : formatDuration(ms)).padStart(8);

/** What an event says beyond the usual, short values only. */
export function eventDetails(event: JournalEvent): string {
  const said: string[] = [];
  for (const [key, value] of Object.entries(event)) {
    if (standardKeys.has(key) || value === undefined || value === null) continue;
    if (key === "decision") {
      said.push(decisionDetails(value as Partial<Decision>));
      continue;
    }
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    said.push(`${key}=${text.length > 60 ? `${text.slice(0, 59)}…` : text}`);
  }
  return said.join(" ");
}

/** `why` tells a decision in full. */
function decisionDetails({ candidates = [] }: Partial<Decision>): string {
  const able = candidates.filter((each) => each.verdict === "chosen" || each.verdict === "lower_score").length;
  return `${able} able, ${candidates.length - able} left out`;
}

const count = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? "" : "s"}`;
