import { type Decision, type JournalEvent, type Params, ReachError, type TaskState } from "@agent-reach/protocol";
import { traceIdOf } from "@agent-reach/protocol/read";
import { taskStates } from "@agent-reach/protocol/schemas";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { localOperator } from "../access/access.js";
import type { TaskFilter } from "../ports/task-store.js";
import { deadStates } from "../tasks/tasks.js";
import { taskText } from "../tasks/text.js";
import { messageIdOf } from "./ids.js";
import { bodyOf } from "./instance-routes.js";
import { callText } from "./methods.js";
import type { Rooms } from "./rooms.js";
import { check } from "./validate.js";

const BULK_MAX = 10_000;

/** What people ask: who is online, where is my message, what is queued, what is dead. */
export function viewRoutes(app: FastifyInstance, rooms: Rooms): void {
  const { directory, tasks, calls, journal } = rooms;
  const { tenant } = localOperator;

  app.get("/v1/agents", async (request, reply) => {
    const query = numbered(request, ["limit"]);
    check("agents.list", query);
    return reply.type("application/json").send(directory.list(tenant, query as Params<"agents.list">));
  });
  app.get("/v1/agents/:agentId", async (request, reply) => {
    const { agentId } = request.params as { agentId: string };
    return reply.type("application/json").send(await directory.get(tenant, agentId));
  });
  app.get("/v1/agents/:agentId/versions/:n", async (request, reply) => {
    const { agentId, n } = request.params as { agentId: string; n: string };
    check("agents.get", { agentId, version: Number(n) });
    return reply.type("application/json").send(await directory.get(tenant, agentId, Number(n)));
  });

  app.get("/v1/tasks", async (request, reply) =>
    reply.type("application/json").send(await taskPage(rooms, request, undefined)),
  );
  app.get("/v1/dead-letters", async (request, reply) =>
    reply.type("application/json").send(await taskPage(rooms, request, deadStates)),
  );

  app.get("/v1/messages/:messageId", async (request, reply) => {
    const messageId = messageIdOf(request);
    check("task.get", { messageId });
    const call = calls.lookUp(localOperator, messageId);
    const events = await journal.eventsOf(messageId);
    const subject =
      call !== undefined
        ? `"call":${callText(call)}`
        : `"task":${taskText(await tasks.get(localOperator, messageId), { input: true })}`;
    return reply
      .type("application/json")
      .send(`{${subject},"decisions":${JSON.stringify(decisionsIn(events))},"events":${JSON.stringify(events)}}`);
  });

  app.get("/v1/traces/:traceId", async (request) => trace(rooms, (request.params as { traceId: string }).traceId));

  app.get("/v1/queues", async () => queues(rooms));

  for (const act of ["requeue", "discard"] as const) {
    app.post(`/v1/dead-letters/${act}`, async (request) => {
      const body = bodyOf(request).value;
      check("DeadLetterChoice", body);
      const { messageIds, filter } = body as { messageIds?: string[]; filter?: Record<string, string> };
      if (messageIds === undefined && filter === undefined) {
        throw new ReachError("INVALID_REQUEST", "say which dead letters: give messageIds, or a filter.", {
          path: "messageIds",
        });
      }
      const ids =
        messageIds ?? (await tasks.list(filterOf(filter!, deadStates), { limit: BULK_MAX })).map((t) => t.messageId);
      const done = await tasks[act](ids);
      if (messageIds !== undefined && done.length === 0) {
        throw new ReachError("NOT_FOUND", `none of the ${messageIds.length} messages is a dead letter.`, {
          path: "messageIds",
        });
      }
      return { [`${act}${act.endsWith("e") ? "d" : "ed"}`]: done.length, messageIds: done };
    });
  }
}

/** Query strings are texts; these are numbers. */
function numbered(request: FastifyRequest, names: readonly string[]): Record<string, unknown> {
  const query = { ...(request.query as Record<string, unknown>) };
  for (const name of names) if (query[name] !== undefined) query[name] = Number(query[name]);
  return query;
}

function filterOf(query: Record<string, unknown>, states: readonly TaskState[] | undefined): TaskFilter {
  const { state, agent, capability, group, since } = query as Record<string, string | undefined>;
  if (state !== undefined && !taskStates.includes(state as TaskState)) {
    throw new ReachError("INVALID_REQUEST", `there is no state "${state}"; it is one of ${taskStates.join(", ")}.`, {
      path: "state",
    });
  }
  const from = since === undefined ? undefined : Date.parse(since);
  if (from !== undefined && Number.isNaN(from))
    throw new ReachError("INVALID_REQUEST", `"since" is not an ISO 8601 time: ${since}.`, { path: "since" });
  const wanted = state === undefined ? states : [state as TaskState];
  return {
    ...(wanted !== undefined && { states: wanted }),
    ...(agent !== undefined && { agentId: agent }),
    ...(capability !== undefined && { capability }),
    ...(group !== undefined && { groupId: group }),
    ...(from !== undefined && { since: from }),
  };
}

async function taskPage(
  rooms: Rooms,
  request: FastifyRequest,
  states: readonly TaskState[] | undefined,
): Promise<string> {
  const query = request.query as Record<string, string | undefined>;
  const asked = query["limit"] === undefined ? 100 : Number(query["limit"]);
  check("agents.list", { limit: asked });
  const limit = Math.min(asked, rooms.settings.pageMax);
  const after = query["cursor"] === undefined ? undefined : Number(query["cursor"]);
  if (after !== undefined && !Number.isInteger(after))
    throw new ReachError("INVALID_REQUEST", "that cursor is not one of ours; start over without it.", {
      path: "cursor",
    });
  const found = await rooms.tasks.list(filterOf(query, states), {
    limit: limit + 1,
    ...(after !== undefined && { after }),
  });
  const page = found.slice(0, limit);
  const cursor = found.length > limit ? `,"cursor":"${page[page.length - 1]!.seq}"` : "";
  return `{"tasks":[${page.map((t) => taskText(t, { input: true })).join(",")}]${cursor}}`;
}

function decisionsIn(events: readonly JournalEvent[]): Decision[] {
  return events.flatMap((e) => (e["decision"] === undefined ? [] : [e["decision"] as Decision]));
}

async function trace(rooms: Rooms, given: string): Promise<object> {
  const { traceId, externalTraceId } = traceIdOf(given);
  const events = await rooms.journal.eventsOfTrace(traceId);
  const first = events[0];
  if (first === undefined)
    throw new ReachError(
      "NOT_FOUND",
      `nothing is known of trace ${given}; calls are kept for the last messages, tasks longer.`,
      { path: "traceId" },
    );
  const messages = new Map<string, Record<string, unknown>>();
  for (const log of rooms.journal.messagesOfTrace(traceId)) {
    messages.set(log.messageId, {
      messageId: log.messageId,
      kind: log.kind,
      capability: log.capability,
      ...(log.parentId !== undefined && { parentId: log.parentId }),
    });
  }
  for (const event of events) {
    const { messageId } = event;
    if (messageId === undefined) continue;
    const message = messages.get(messageId) ?? { messageId };
    messages.set(messageId, message);
    message["startedAt"] ??= event.at;
    message["lastEvent"] = event.type;
    if (event.agentId !== undefined) message["agentId"] = event.agentId;
  }
  const last = events[events.length - 1]!;
  return {
    traceId,
    ...(externalTraceId !== undefined && { externalTraceId }),
    startedAt: first.at,
    durationMs: Date.parse(last.at) - Date.parse(first.at),
    messages: [...messages.values()],
    events,
  };
}

/** What waits, line by line, and how many tasks are in each state (OBS-2). */
async function queues(rooms: Rooms): Promise<object> {
  const { byState, lanes } = await rooms.tasks.counts();
  const now = rooms.system.now();
  const lines = lanes.map(({ lane, capability, waiting, firstDueAt, oldestAt }) => ({
    capability,
    lane,
    kind: "task",
    length: waiting,
    oldestAgeMs: Math.max(0, now - oldestAt),
    ...(firstDueAt > now && { nextTryAt: new Date(firstDueAt).toISOString() }),
  }));
  const callers = [...rooms.waitingCalls()].map(([capability, length]) => ({
    capability,
    lane: capability,
    kind: "call",
    length,
  }));
  return { queues: [...lines, ...callers], tasks: byState, callsInFlight: rooms.calls.counts.inFlight };
}
