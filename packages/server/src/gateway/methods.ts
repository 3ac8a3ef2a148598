import { type Method, type Params, ReachError, type Task } from "@agent-reach/protocol";
import type { Journal } from "../journal/journal.js";
import type { Call, CallState } from "../router/call.js";
import type { MessageRequest, Reply } from "../router/message.js";
import { nodeStops } from "../router/refusals.js";
import { SettledCall } from "../router/settled.js";
import { errorOfItem } from "../tasks/batches.js";
import { taskText } from "../tasks/text.js";
import { complete } from "./completions.js";
import { readMany } from "./many.js";
import { type Origin, readMessage, readPublish } from "./messages.js";
import type { Session } from "./session.js";
import { check } from "./validate.js";

type Handler = (session: Session, params: unknown, reply: Reply) => Promise<void> | undefined;

function checked<M extends Method>(
  method: M,
  run: (session: Session, params: Params<M>, reply: Reply) => Promise<void> | void,
): Handler {
  return (session, params, reply) => {
    check(method, params);
    return run(session, params as Params<M>, reply) ?? undefined;
  };
}

/** An instance that this very session registered. */
function own(session: Session, instanceId: string) {
  const instance = session.instances.get(instanceId);
  if (instance === undefined) {
    throw new ReachError(
      "FORBIDDEN",
      `instance ${instanceId} is not registered over this connection; register it here first.`,
      { path: "instanceId", details: { policy: "instance-owner" } },
    );
  }
  return instance;
}

/** Passed on as it came, unless its ids came in another case than the caller knows them by. */
function progressText(params: Params<"progress">, text: string, data: string | undefined): string {
  if (text.includes(params.messageId)) return text;
  const head = JSON.stringify({ ...params, data: undefined });
  return data === undefined ? head : `${head.slice(0, -1)},"data":${data}}`;
}

function assertMayWatch({ watches, rooms }: Session): void {
  const { watchesMax } = rooms.settings;
  if (watches.size < watchesMax) return;
  throw new ReachError(
    "FORBIDDEN",
    `this connection has ${watches.size} watches, and ${watchesMax} are the most; unwatch some that are not needed, or hear of everything by one watch without a filter.`,
    { details: { policy: "watches", limit: watchesMax } },
  );
}

/** The agent that this very session registered; the last one, if there are several. */
function registeredAgent(session: Session) {
  const instance = [...session.instances.values()].at(-1);
  if (instance !== undefined) return instance.record;
  throw new ReachError(
    "FORBIDDEN",
    "a subscription belongs to an agent, and none is registered over this connection; register first.",
    { details: { policy: "registered-agent" } },
  );
}

/** What each method means. */
export const handlers: Partial<Record<Method, Handler>> = {
  hello: (session, params, reply) => {
    try {
      check("hello", params);
    } catch (error) {
      // In a microtask, since the answer is written before any runs.
      queueMicrotask(() => session.close(4000, "bad hello"));
      throw error;
    }
    reply.result(session.host.hello(session, params as Params<"hello">));
    return undefined;
  },

  register: checked("register", async (session, params, reply) => {
    if (session.rooms.isDraining()) throw nodeStops("not_executed");
    const { registry } = session.rooms;
    const { instance, result } = await registry.register({
      tenant: session.caller.tenant,
      principal: session.principal,
      card: params.card,
      transport: "ws",
      instanceId: params.instanceId,
      instanceKey: params.instanceKey,
      link: () => session.link,
      holds: (known) => session.instances.get(known.record.instanceId) === known && known.link === session.link,
    });
    session.hold(instance);
    if (session.closed) registry.lost(instance, session.link, "connection closed");
    reply.result(JSON.stringify(result));
  }),

  heartbeat: checked("heartbeat", (session, params, reply) => {
    const instance = session.instances.get(params.instanceId);
    reply.result(
      JSON.stringify({
        state: instance === undefined ? "unknown" : session.rooms.registry.heartbeat(instance, params),
      }),
    );
  }),

  drain: checked("drain", async (session, params, reply) => {
    const instance = own(session, params.instanceId);
    await session.rooms.registry.drain(instance, params.reason ?? "drains");
    for (const { messageId, attempt } of params.handback ?? []) {
      session.rooms.calls.handBack(messageId, instance.record.instanceId, attempt);
      session.rooms.tasks.handBack(messageId, instance.record.instanceId, attempt);
    }
    reply.result(JSON.stringify({ running: instance.running }));
  }),

  deregister: checked("deregister", async (session, params, reply) => {
    const instance = own(session, params.instanceId);
    session.instances.delete(instance.record.instanceId);
    await session.rooms.registry.deregister(instance, params.reason ?? "said goodbye");
    reply.result("{}");
  }),

  discover: checked("discover", (session, params, reply) => {
    const text = session.rooms.discoverer.discover(session.caller.tenant, params);
    return typeof text === "string" ? reply.result(text) : text.then((found) => reply.result(found));
  }),

  "agents.list": checked("agents.list", (session, params, reply) => {
    reply.result(session.rooms.directory.list(session.caller.tenant, params));
  }),

  "agents.get": checked("agents.get", (session, params, reply) => {
    const text = session.rooms.directory.get(session.caller.tenant, params.agentId, params.version);
    return typeof text === "string" ? reply.result(text) : text.then((found) => reply.result(found));
  }),

  watch: checked("watch", (session, params, reply) => {
    assertMayWatch(session);
    const watchId = session.rooms.system.newId();
    const { agentId, capability } = params;
    const { feed } = session.rooms;
    const early: string[] = [];
    let answered = false;
    const stop = feed.watch(params.revision, { agentId, capability }, (event) => {
      const json = JSON.stringify({ watchId, ...event });
      if (answered) session.notify("event", json);
      else early.push(json);
    });
    session.watches.set(watchId, { stop, agentId, capability });
    reply.result(JSON.stringify({ watchId, revision: feed.revision }));
    answered = true;
    for (const json of early) session.notify("event", json);
  }),

  unwatch: checked("unwatch", (session, params, reply) => {
    session.watches.get(params.watchId)?.stop();
    session.watches.delete(params.watchId);
    reply.result("{}");
  }),

  call: (session, params, reply) => {
    const { calls, isDraining } = session.rooms;
    calls.start(messageOf("call", session, params), reply, !isDraining());
    return undefined;
  },

  submit: (session, params, reply) => {
    const { tasks, isDraining } = session.rooms;
    return tasks.submit(messageOf("submit", session, params), reply, !isDraining());
  },

  "submit.many": async (session, params, reply) => {
    const { batches, isDraining } = session.rooms;
    const many = readMany(params, session, originOf(session));
    const tasks = await batches.submit(session.caller, many.requests, errorOfItem, !isDraining());
    reply.result(JSON.stringify({ groupId: many.groupId, tasks }));
  },

  "group.get": checked("group.get", async (session, { groupId }, reply) => {
    reply.result(JSON.stringify(await session.rooms.groups.get(session.caller, groupId)));
  }),

  "group.cancel": checked("group.cancel", async (session, { groupId, reason }, reply) => {
    const canceled = await session.rooms.groups.cancel(session.caller, groupId, reason ?? "by the caller");
    reply.result(JSON.stringify({ canceled }));
  }),

  "group.requeue": checked("group.requeue", async (session, { groupId }, reply) => {
    reply.result(JSON.stringify({ requeued: await session.rooms.groups.requeue(session.caller, groupId) }));
  }),

  publish: async (session, params, reply) => {
    const { publisher, isDraining } = session.rooms;
    const request = readPublish(params, session, originOf(session));
    reply.result(JSON.stringify(await publisher.publish(request, !isDraining())));
  },

  subscribe: checked("subscribe", async (session, { topic }, reply) => {
    const { tenant, agentId } = registeredAgent(session);
    await session.rooms.registry.subscriptions.subscribe(tenant, agentId, topic);
    reply.result("{}");
  }),

  unsubscribe: checked("unsubscribe", async (session, { topic }, reply) => {
    const { tenant, agentId } = registeredAgent(session);
    await session.rooms.registry.subscriptions.unsubscribe(tenant, agentId, topic);
    reply.result("{}");
  }),

  "task.get": checked("task.get", async (session, params, reply) => {
    const call = session.rooms.calls.lookUp(session.caller, params.messageId);
    reply.result(
      call === undefined
        ? taskText(await session.rooms.tasks.get(session.caller, params.messageId), { input: true })
        : callText(call),
    );
  }),

  "task.result": checked("task.result", async (session, params, reply) => {
    const task = await session.rooms.tasks.result(session.caller, params.messageId, params.waitMs ?? 0);
    reply.result(taskText(task, { input: true }));
  }),

  "task.cancel": checked("task.cancel", async (session, params, reply) => {
    const reason = params.reason ?? "by the caller";
    const call = session.rooms.calls.cancel(session.caller, params.messageId, reason);
    reply.result(
      call === undefined
        ? taskText(await session.rooms.tasks.cancel(session.caller, params.messageId, reason), { input: true })
        : callText(call),
    );
  }),

  "task.events": checked("task.events", async (session, params, reply) => {
    if (session.rooms.calls.lookUp(session.caller, params.messageId) === undefined)
      await session.rooms.tasks.get(session.caller, params.messageId);
    reply.result(JSON.stringify(await eventsAfter(session.rooms.journal, params.messageId, params.after ?? 0)));
  }),

  complete: checked("complete", async (session, params, reply) => {
    const data = session.raw("data");
    const receipt = session.raw("receipt");
    const instance = session.rooms.registry.view.instances.get(params.instanceId);
    if (instance === undefined) return reply.result('{"recorded":false,"reason":"UNKNOWN"}');
    // A result may come over another connection of the same agent than the one which the message went out on (DLV-11).
    if (!session.principals.has(instance.record.agentId)) own(session, params.instanceId);
    reply.result(JSON.stringify(await complete(session.rooms, instance, params, data, receipt)));
  }),

  progress: checked("progress", (session, params, reply) => {
    const { rooms } = session;
    const json = progressText(params, session.text(), session.raw("data"));
    rooms.calls.progress(params.messageId, params.instanceId, json);
    rooms.progress(params.messageId, params.instanceId, json);
    // A notification, as a rule; whoever sends it as a request is owed an answer like everybody (W2).
    reply.result("{}");
  }),

  ping: checked("ping", (_session, _params, reply) => {
    reply.result("{}");
  }),
};

function messageOf(method: "call" | "submit", session: Session, params: unknown): MessageRequest {
  return readMessage(method, params, session, originOf(session));
}

function originOf({ rooms, caller }: Session): Origin {
  const { system, settings } = rooms;
  return {
    caller,
    system,
    inputBytesMax: settings.inputBytes,
    inheritedTrace: (parentId) => traceOfParent(rooms, parentId),
  };
}

/** The trace of the parent, for a nested message that names none. */
export function traceOfParent(rooms: Session["rooms"], parentId: string | undefined): string | undefined {
  return parentId === undefined ? undefined : rooms.parentOf(parentId)?.traceId;
}

/**
 * Events of one message, which is known, after an id. `gap`: some before the first are no longer kept, or, as of a message
 * whose events have all been trimmed, some may have come of which nobody can tell.
 */
export async function eventsAfter(journal: Pick<Journal, "eventsOf">, messageId: string, after: number) {
  const all = await journal.eventsOf(messageId);
  const first = all[0];
  const gap = first === undefined || (first.type !== "submitted" && first.type !== "received" && after < first.id);
  return { events: all.filter((e) => e.id > after), ...(gap && { gap: true }) };
}

const CALL_STATES: Record<CallState, Task["state"]> = {
  waiting: "queued",
  sent: "delivered",
  accepted: "working",
  orphaned: "delivered",
  settled: "completed",
};

/** A call in the shape of a task, for those who ask for a message without knowing which of the two it is. */
export function callText(call: Call | SettledCall): string {
  const { log } = call;
  const over = call instanceof SettledCall ? call : undefined;
  const error = over?.error;
  const state = error === undefined ? CALL_STATES[call.state] : error.code === "CANCELED" ? "canceled" : "failed";
  const target = (call instanceof SettledCall ? call.offer : call.current?.offer)?.instance.record;
  const head = JSON.stringify({
    messageId: log.messageId,
    traceId: log.traceId,
    kind: "call",
    state,
    capability: log.capability,
    ...(target && { agentId: target.agentId, instanceId: target.instanceId }),
    attempt: call.attempt,
    attempts: [],
    createdAt: new Date(log.startedAt).toISOString(),
    deadlineAt: new Date(log.startedAt + call.timeoutMs).toISOString(),
    ...(error && { error }),
  });
  return over?.data === undefined ? head : `${head.slice(0, -1)},"data":${over.data}}`;
}
