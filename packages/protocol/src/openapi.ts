/** The OpenAPI 3.1 description of the HTTP edge, made from the same schemas as everything else. */
import { definitions } from "./definitions.js";
import { type ErrorCode, errorTable } from "./errors.js";
import { type Route, routes } from "./routes.js";
import * as schemas from "./schemas.js";

type Json = Record<string, unknown>;

/** What any route of the API may answer, whatever else it does; probes stay outside. */
const everywhere: readonly ErrorCode[] = ["INVALID_REQUEST", "UNAUTHENTICATED", "NOT_READY", "INTERNAL"];

const pathParameters: Record<string, unknown> = {
  agentId: schemas.AgentId,
  groupId: schemas.GroupId,
  instanceId: schemas.InstanceId,
  messageId: schemas.MessageId,
  traceId: { type: "string" },
  n: { type: "integer", minimum: 1 },
};

export function openapi(): Json {
  const { all, refer } = definitions("#/components/schemas/");
  const shapes = Object.entries(all).filter(([name]) => !name.includes("."));
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const item = paths[route.path] ?? {};
    item[route.method] = operation(route, refer);
    paths[route.path] = item;
  }
  return {
    openapi: "3.1.0",
    "x-generated": "By `npm run emit` from packages/protocol; do not edit.",
    info: {
      title: "Agent-Reach",
      version: "1",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description:
        "The HTTP edge of an Agent-Reach node, for everything that cannot hold a socket. POST needs `application/json`. Fields that are not described here are ignored and, in cards and inputs, kept.",
    },
    security: [{}, { bearer: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(shapes),
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function operation(route: Route, refer: (schema: unknown) => Json): Json {
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: refer(pathParameters[name!]),
    })),
    ...Object.entries(route.query ?? {}).map(([name, schema]) => ({ name, in: "query", schema: refer(schema) })),
    ...Object.entries(route.headers ?? {}).map(([name, description]) => ({
      name,
      in: "header",
      description,
      schema: { type: "string" },
    })),
  ];
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: refer(route.body) } } },
    }),
    responses: { "200": success(route, refer), ...failures(route, refer) },
  };
}

function success(route: Route, refer: (schema: unknown) => Json): Json {
  const { answer } = route;
  if (typeof answer === "string") {
    const schema = answer === "application/json" ? { type: "object" } : { type: "string" };
    return { description: "Done.", content: { [answer]: { schema } } };
  }
  const schema = Array.isArray(answer) ? { anyOf: answer.map(refer) } : refer(answer);
  return { description: "Done.", content: { "application/json": { schema } } };
}

/** One response a status, which names the codes that come with it. AGENT_ERROR is a 200 and stands there. */
function failures(route: Route, refer: (schema: unknown) => Json): Record<string, Json> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...(route.path.startsWith("/v1/") ? everywhere : []), ...route.errors]) {
    const { http } = errorTable[code];
    const codes = byStatus.get(http) ?? [];
    if (!codes.includes(code)) byStatus.set(http, [...codes, code]);
  }
  const responses: Record<string, Json> = {};
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[String(status)] = {
      description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join(" "),
      content: { "application/json": { schema: refer(schemas.ErrorBody) } },
    };
  }
  return responses;
}

/** `POST /v1/tasks/{messageId}/cancel` as `post_tasks_messageId_cancel`: dull, unique, and the same for ever. */
function operationId(route: Route): string {
  const words = route.path
    .replace(/^\/v1/, "")
    .replace(/[{}]/g, "")
    .split(/[/.]/)
    .filter((word) => word !== "");
  return [route.method, ...words].join("_");
}
