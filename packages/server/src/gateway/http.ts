import { errorTable, ReachError } from "@agent-reach/protocol";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { checkHost, checkOrigin } from "../access/access.js";
import { Spans, scan } from "../json/raw.js";
import { answerBroken, timesOf } from "./broken-requests.js";
import type { RawParams } from "./messages.js";
import type { Rooms } from "./rooms.js";

const NESTING_MAX = 64;

/** A JSON body with its text, so that inputs can be passed on to the digit. */
export class Body implements RawParams {
  private readonly spans = new Spans();

  constructor(
    readonly value: Record<string, unknown>,
    private readonly json: string,
  ) {
    scan(json, this.spans, new Spans());
  }

  raw(key: string): string | undefined {
    return this.spans.raw(key);
  }

  text(): string {
    return this.json;
  }
}

/** The HTTP server: what every route has in common. Bodies are JSON, errors are those of the table, nobody on the web gets in. */
export function createHttp(rooms: Rooms): FastifyInstance {
  const { settings } = rooms;
  const times = { headTimeoutMs: settings.helloTimeoutMs, requestTimeoutMs: settings.requestTimeoutMs };
  const app = fastify({
    http: timesOf(times),
    requestTimeout: settings.requestTimeoutMs,
    clientErrorHandler: (error, socket) => answerBroken(error, socket, times),
    bodyLimit: settings.messageBytes,
    forceCloseConnections: "idle",
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: true },
    exposeHeadRoutes: true,
  });

  app.addHook("onRequest", async (request) => {
    const refusal =
      checkHost(request.headers.host, settings.host, settings.allowedHosts) ??
      checkOrigin(request.headers.origin, settings.allowedOrigins);
    if (refusal !== undefined) throw new ReachError("FORBIDDEN", refusal, { details: { policy: "origin" } });
    const type = request.headers["content-type"];
    if (
      request.method !== "GET" &&
      request.method !== "HEAD" &&
      hasBody(request) &&
      (type === undefined || !/^application\/json\s*(;|$)/i.test(type))
    ) {
      throw new ReachError("INVALID_REQUEST", `the body must be application/json, not ${type ?? "untyped"}.`, {
        path: "content-type",
      });
    }
    if (request.method === "POST" && type === undefined) {
      throw new ReachError("INVALID_REQUEST", "POST needs content-type: application/json.", { path: "content-type" });
    }
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, readBody(text as string));
    } catch (error) {
      done(error as Error);
    }
  });

  app.setErrorHandler((error: Error & { code?: string; statusCode?: number }, _request, reply) => {
    sendError(rooms, reply, error);
  });
  app.setNotFoundHandler((request, reply) => {
    sendError(
      rooms,
      reply,
      new ReachError("NOT_FOUND", `there is no ${request.method} ${request.url.split("?")[0]}; see /openapi.json.`),
    );
  });
  return app;
}

function hasBody(request: FastifyRequest): boolean {
  return Number(request.headers["content-length"] ?? 0) > 0 || request.headers["transfer-encoding"] !== undefined;
}

function readBody(text: string): Body {
  if (text.trim() === "") return new Body({}, "{}");
  const top = new Spans();
  scan(text, top, new Spans());
  if (top.depth > NESTING_MAX)
    throw new ReachError("INVALID_REQUEST", `the body nests ${top.depth} levels deep; ${NESTING_MAX} is the most.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ReachError("INVALID_REQUEST", `the body is not JSON: ${(cause as Error).message}.`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new ReachError("INVALID_REQUEST", "the body must be a JSON object.");
  return new Body(value as Record<string, unknown>, text);
}

export function sendError(
  rooms: Rooms,
  reply: FastifyReply,
  error: Error & { code?: string; statusCode?: number },
): void {
  const reach = asReachError(rooms, error);
  if (reach.retryAfterMs !== undefined)
    void reply.header("retry-after", Math.max(1, Math.ceil(reach.retryAfterMs / 1000)));
  void reply.code(statusOf(reach)).type("application/json").send(JSON.stringify(reach.toBody()));
}

function asReachError(rooms: Rooms, error: Error & { code?: string; statusCode?: number }): ReachError {
  if (error instanceof ReachError) return error;
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new ReachError(
      "PAYLOAD_TOO_LARGE",
      `the body is over the limit of ${rooms.settings.messageBytes} bytes; store the payload somewhere and send a reference.`,
    );
  }
  if (error.statusCode !== undefined && error.statusCode < 500) return new ReachError("INVALID_REQUEST", error.message);
  const id = rooms.system.newId();
  rooms.onError(Object.assign(error, { lookup: id }));
  return new ReachError("INTERNAL", `something went wrong on our side; look for ${id} in the node's log.`, {
    details: { id },
  });
}

function statusOf(error: ReachError): number {
  return errorTable[error.code].http;
}
