import type { Params } from "@agent-reach/protocol";
import { ReachError } from "@agent-reach/protocol";
import { parseTraceparent } from "@agent-reach/protocol/read";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { localOperator } from "../access/access.js";
import type { Reply } from "../router/message.js";
import { errorOfItem } from "../tasks/batches.js";
import { taskText } from "../tasks/text.js";
import { sendError } from "./http.js";
import { messageIdOf } from "./ids.js";
import { bodyOf } from "./instance-routes.js";
import { readMany } from "./many.js";
import { type Origin, readMessage, readPublish } from "./messages.js";
import { callText, eventsAfter, traceOfParent } from "./methods.js";
import type { Rooms } from "./rooms.js";
import { check } from "./validate.js";

/** Discover, call, submit and follow, for everything that cannot hold a socket. */
export function messageRoutes(app: FastifyInstance, rooms: Rooms): void {
  const { system, settings } = rooms;

  const originOf = (request: FastifyRequest): Origin => {
    const header = request.headers["traceparent"];
    const traced = parseTraceparent(Array.isArray(header) ? header[0] : header)?.traceId;
    // The trace that a message joins: the request's, else its parent's.
    const inheritedTrace = (parentId: string | undefined) => traced ?? traceOfParent(rooms, parentId);
    return { caller: localOperator, system, inputBytesMax: settings.inputBytes, inheritedTrace };
  };

  const read = (method: "call" | "submit", request: FastifyRequest) => {
    const body = bodyOf(request);
    return readMessage(method, body.value, body, originOf(request));
  };

  const call = async (request: FastifyRequest, reply: FastifyReply) => {
    const message = read("call", request);
    await new Promise<void>((done) => {
      const answer: Reply = {
        result: (json) => {
          void reply.type("application/json").send(json);
          done();
        },
        error: (error) => {
          if (error instanceof ReachError && error.code === "AGENT_ERROR") {
            void reply.send({ messageId: message.messageId, traceId: message.traceId, error: error.toBody() });
          } else sendError(rooms, reply, error);
          done();
        },
      };
      try {
        rooms.calls.start(message, answer, !rooms.isDraining());
      } catch (error) {
        answer.error(error as Error);
      }
    });
    return reply;
  };
  app.post("/v1/call", call);
  app.post("/v1/invoke", call);

  app.post("/v1/discover", async (request, reply) => {
    const query = bodyOf(request).value;
    check("discover", query);
    const found = await rooms.discoverer.discover(localOperator.tenant, query as Params<"discover">);
    return reply.type("application/json").send(found);
  });

  app.post("/v1/tasks", async (request, reply) => {
    let text = "";
    const keep: Reply = {
      result: (json) => {
        text = json;
      },
      error: (error) => {
        throw error;
      },
    };
    await rooms.tasks.submit(read("submit", request), keep, !rooms.isDraining());
    return reply.type("application/json").send(text);
  });

  app.post("/v1/publish", async (request) => {
    const body = bodyOf(request);
    const publish = readPublish(body.value, body, originOf(request));
    return rooms.publisher.publish(publish, !rooms.isDraining());
  });

  app.post("/v1/groups", async (request) => {
    const body = bodyOf(request);
    const many = readMany(body.value, body, originOf(request));
    const tasks = await rooms.batches.submit(localOperator, many.requests, errorOfItem, !rooms.isDraining());
    return { groupId: many.groupId, tasks };
  });

  app.get("/v1/groups/:groupId", async (request) => rooms.groups.get(localOperator, groupOf(request)));

  app.post("/v1/groups/:groupId/cancel", async (request) => {
    const body = cancelIn(request);
    const groupId = groupOf(request);
    check("group.cancel", { groupId, ...body });
    return { canceled: await rooms.groups.cancel(localOperator, groupId, body.reason ?? "by an operator") };
  });

  app.post("/v1/groups/:groupId/requeue", async (request) => ({
    requeued: await rooms.groups.requeue(localOperator, groupOf(request)),
  }));

  app.get("/v1/tasks/:messageId", async (request, reply) => {
    const messageId = messageIdOf(request);
    const query = request.query as { waitMs?: string };
    const waitMs = query.waitMs === undefined ? 0 : Number(query.waitMs);
    check("task.result", { messageId, waitMs });
    const seen = rooms.calls.lookUp(localOperator, messageId);
    const text =
      seen === undefined
        ? taskText(await rooms.tasks.result(localOperator, messageId, waitMs), { input: true })
        : callText(seen);
    return reply.type("application/json").send(text);
  });

  app.get("/v1/tasks/:messageId/events", async (request) => {
    const messageId = messageIdOf(request);
    const after = Number((request.query as { after?: string }).after ?? 0);
    check("task.events", { messageId, after });
    if (rooms.calls.lookUp(localOperator, messageId) === undefined) await rooms.tasks.get(localOperator, messageId);
    return eventsAfter(rooms.journal, messageId, after);
  });

  app.post("/v1/tasks/:messageId/cancel", async (request, reply) => {
    const messageId = messageIdOf(request);
    const body = cancelIn(request);
    check("task.cancel", { messageId, ...body });
    const reason = body.reason ?? "by an operator";
    const call = rooms.calls.cancel(localOperator, messageId, reason);
    const text =
      call === undefined
        ? taskText(await rooms.tasks.cancel(localOperator, messageId, reason), { input: true })
        : callText(call);
    return reply.type("application/json").send(text);
  });
}

/** There may be no body at all. */
function cancelIn(request: FastifyRequest): { reason?: string } {
  return request.body === undefined || request.body === null ? {} : (bodyOf(request).value as { reason?: string });
}

function groupOf(request: FastifyRequest): string {
  const { groupId } = request.params as { groupId: string };
  check("group.get", { groupId });
  return groupId;
}
