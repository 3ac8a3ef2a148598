/** The HTTP routes, as data: what `openapi()` describes and what a test compares with the routes that the node serves. */
import type { TSchema } from "typebox";
import type { ErrorCode } from "./errors.js";
import * as s from "./schemas.js";

export interface Route {
  method: "get" | "post" | "delete";
  /** With parameters in braces. */
  path: string;
  summary: string;
  description?: string;
  /** Query parameters with their schema; all are optional. */
  query?: Record<string, TSchema>;
  headers?: Record<string, string>;
  body?: TSchema;
  /** The body of a 200; a string is a media type whose content is not JSON. */
  answer: TSchema | readonly TSchema[] | string;
  /** Beside those that every route may answer. */
  errors: readonly ErrorCode[];
}

const page = { cursor: s.params["agents.list"].properties.cursor, limit: s.params["agents.list"].properties.limit };
const { state: agentState, capability, label } = s.params["agents.list"].properties;
const { filter } = s.DeadLetterChoice.properties;
const { group, since, agent } = filter.properties;
const traceparent = { traceparent: "W3C trace context; the message joins that trace." };

const instanceErrors = ["NOT_FOUND", "FORBIDDEN", "CONFLICT"] as const;
const routing = [
  "NO_ROUTE",
  "UNAVAILABLE",
  "BUSY",
  "OVERLOADED",
  "RATE_LIMITED",
  "INVALID_INPUT",
  "CONFLICT",
  "LOOP_DETECTED",
] as const;
const callErrors = [
  ...routing,
  "PAYLOAD_TOO_LARGE",
  "INVALID_OUTPUT",
  "DELIVERY_TIMEOUT",
  "TIMEOUT",
  "CANCELED",
  "DRAINING",
] as const;

const submitErrors = [
  "NO_ROUTE",
  "INVALID_INPUT",
  "PAYLOAD_TOO_LARGE",
  "CONFLICT",
  "FORBIDDEN",
  "RATE_LIMITED",
  "LOOP_DETECTED",
  "DRAINING",
] as const;

const callRoute: Omit<Route, "path" | "summary"> = {
  method: "post",
  description: "Waits for the result, at most `timeoutMs`. A business error of the agent is a 200 with `error`.",
  headers: traceparent,
  body: s.CallEnvelope,
  answer: [s.CallResult, s.BusinessError],
  errors: callErrors,
};

export const routes: readonly Route[] = [
  { method: "get", path: "/ping", summary: "Is the process alive?", answer: s.results.ping, errors: [] },
  {
    method: "get",
    path: "/readyz",
    summary: "Is the node ready?",
    description:
      "503 while it loads, while its store is unreachable or full, and while it drains. `silent` and `fleet`: so many of its instances fell silent at once that it suspects itself.",
    answer: s.results.ping,
    errors: ["NOT_READY", "DRAINING"],
  },
  { method: "get", path: "/metrics", summary: "Metrics for Prometheus", answer: "text/plain", errors: [] },
  { method: "get", path: "/openapi.json", summary: "This description", answer: "application/json", errors: [] },

  {
    method: "post",
    path: "/v1/agents",
    summary: "Register an instance of an agent",
    description:
      "The card may be spelled in every way that the guide lists. The answer holds the instanceKey, which every later request of the instance needs.",
    body: s.params.register,
    answer: s.Registered,
    errors: ["INVALID_CARD", "PAYLOAD_TOO_LARGE", "FORBIDDEN", "DRAINING"],
  },
  {
    method: "get",
    path: "/v1/agents",
    summary: "List agents",
    query: { state: agentState, capability, label, ...page },
    answer: s.AgentPage,
    errors: [],
  },
  {
    method: "get",
    path: "/v1/agents/{agentId}",
    summary: "One agent with its instances",
    answer: s.Agent,
    errors: ["NOT_FOUND"],
  },
  {
    method: "get",
    path: "/v1/agents/{agentId}/versions/{n}",
    summary: "An agent as an older card described it",
    description: "Old versions stay readable for 24 hours.",
    answer: s.Agent,
    errors: ["NOT_FOUND"],
  },
  {
    method: "post",
    path: "/v1/instances/{instanceId}/heartbeat",
    summary: "Renew the lease",
    description: "`unknown` as the state means: register again. A heartbeat brings nobody back.",
    body: s.HttpHeartbeat,
    answer: s.results.heartbeat,
    errors: instanceErrors,
  },
  {
    method: "post",
    path: "/v1/instances/{instanceId}/drain",
    summary: "Take no new work",
    body: s.HttpDrain,
    answer: s.results.drain,
    errors: instanceErrors,
  },
  {
    method: "delete",
    path: "/v1/instances/{instanceId}",
    summary: "Say goodbye",
    body: s.HttpDeregister,
    answer: s.results.deregister,
    errors: instanceErrors,
  },
  {
    method: "post",
    path: "/v1/instances/{instanceId}/subscribe",
    summary: "Subscribe the agent to a topic",
    description: "It stays subscribed, whichever of its instances runs, until it unsubscribes or is forgotten.",
    body: s.HttpTopic,
    answer: s.results.subscribe,
    errors: instanceErrors,
  },
  {
    method: "post",
    path: "/v1/instances/{instanceId}/unsubscribe",
    summary: "End the agent's subscription to a topic",
    body: s.HttpTopic,
    answer: s.results.unsubscribe,
    errors: instanceErrors,
  },
  {
    method: "post",
    path: "/v1/instances/{instanceId}/pull",
    summary: "Fetch deliveries",
    description:
      "Waits up to `waitMs` for the first one. What was pulled counts as sent; `ack` says that it was received.",
    body: s.HttpPull,
    answer: s.Pulled,
    errors: instanceErrors,
  },

  {
    method: "post",
    path: "/v1/discover",
    summary: "Who can do this, and how are they doing?",
    description: "Finding nobody is an answer with a verdict, not an error.",
    body: s.params.discover,
    answer: s.Discovery,
    errors: [],
  },
  { ...callRoute, path: "/v1/call", summary: "Call an agent and wait for the result" },
  { ...callRoute, path: "/v1/invoke", summary: "The same as /v1/call" },

  {
    method: "post",
    path: "/v1/tasks",
    summary: "Submit a durable task",
    description:
      "Answered only when the task is on disk. Repeating it with the same messageId or idempotencyKey does not make a second one.",
    headers: traceparent,
    body: s.SubmitEnvelope,
    answer: s.SubmitResult,
    errors: submitErrors,
  },
  {
    method: "post",
    path: "/v1/publish",
    summary: "Publish to a topic, or to all who offer a capability",
    description:
      "One durable task for each agent that subscribes, or that offers it, all on disk when this is answered. Who that is, is decided once. Repeated with the same groupId and content it makes no second ones.",
    headers: traceparent,
    body: s.PublishEnvelope,
    answer: s.Published,
    errors: submitErrors,
  },
  {
    method: "post",
    path: "/v1/groups",
    summary: "Submit many tasks at once",
    description: "All of them are on disk when this is answered, or none is; an error names the one that is wrong.",
    headers: traceparent,
    body: s.params["submit.many"],
    answer: s.SubmittedMany,
    errors: submitErrors,
  },
  {
    method: "get",
    path: "/v1/groups/{groupId}",
    summary: "How a group of tasks stands",
    answer: s.Group,
    errors: ["NOT_FOUND"],
  },
  {
    method: "post",
    path: "/v1/groups/{groupId}/cancel",
    summary: "Cancel what of a group has not ended",
    body: s.HttpCancel,
    answer: s.GroupCanceled,
    errors: ["NOT_FOUND"],
  },
  {
    method: "post",
    path: "/v1/groups/{groupId}/requeue",
    summary: "Try again what of a group has failed",
    body: s.params.ping,
    answer: s.Requeued,
    errors: ["NOT_FOUND"],
  },
  {
    method: "get",
    path: "/v1/tasks",
    summary: "List tasks, newest first",
    query: { state: s.Task.properties.state, agent, capability, group, since, ...page },
    answer: s.TaskPage,
    errors: [],
  },
  {
    method: "get",
    path: "/v1/tasks/{messageId}",
    summary: "One task",
    description: "With `waitMs` it answers when the task is settled, at the latest after that time.",
    query: { waitMs: s.params["task.result"].properties.waitMs },
    answer: s.Task,
    errors: ["NOT_FOUND", "FORBIDDEN"],
  },
  {
    method: "get",
    path: "/v1/tasks/{messageId}/events",
    summary: "What happened to a task",
    query: { after: s.params["task.events"].properties.after },
    answer: s.TaskEvents,
    errors: ["NOT_FOUND", "FORBIDDEN"],
  },
  {
    method: "post",
    path: "/v1/tasks/{messageId}/cancel",
    summary: "Cancel a task",
    body: s.HttpCancel,
    answer: s.Task,
    errors: ["NOT_FOUND", "FORBIDDEN"],
  },

  {
    method: "post",
    path: "/v1/deliveries/{messageId}/ack",
    summary: "Received",
    body: s.HttpAck,
    answer: s.results.ping,
    errors: instanceErrors,
  },
  {
    method: "post",
    path: "/v1/deliveries/{messageId}/nack",
    summary: "Refused, and not executed",
    description: "The message goes to another instance, or comes again after `retryAfterMs`.",
    body: s.HttpNack,
    answer: s.results.ping,
    errors: instanceErrors,
  },
  {
    method: "post",
    path: "/v1/deliveries/{messageId}/complete",
    summary: "Done, or failed",
    description: "Repeat it until it is answered, then stop, whatever the answer says.",
    body: s.HttpComplete,
    answer: s.Completed,
    errors: [...instanceErrors, "PAYLOAD_TOO_LARGE"],
  },

  {
    method: "get",
    path: "/v1/messages/{messageId}",
    summary: "Where is my message?",
    description: "The call or task, the decisions that were made for it, and every event.",
    answer: s.Message,
    errors: ["NOT_FOUND", "FORBIDDEN"],
  },
  {
    method: "get",
    path: "/v1/traces/{traceId}",
    summary: "Everything of one trace",
    description: "A trace id that is not of W3C form finds the trace that it was mapped to.",
    answer: s.Trace,
    errors: ["NOT_FOUND"],
  },
  { method: "get", path: "/v1/queues", summary: "What waits", answer: s.Queues, errors: [] },
  {
    method: "get",
    path: "/v1/events",
    summary: "Events as they happen (server-sent events)",
    description:
      "Each event's `id` can be sent as Last-Event-ID to go on from there. With `revision`, the registry's events after that revision.",
    query: { revision: s.params.watch.properties.revision },
    headers: { "Last-Event-ID": "The id of the last event that was seen." },
    answer: "text/event-stream",
    errors: ["REVISION_GONE"],
  },

  {
    method: "get",
    path: "/v1/dead-letters",
    summary: "Tasks that nobody will try again by himself",
    description: "Dead ones, and those which the agent refused with a business error.",
    query: { state: s.Task.properties.state, agent, capability, group, since, ...page },
    answer: s.TaskPage,
    errors: [],
  },
  {
    method: "post",
    path: "/v1/dead-letters/requeue",
    summary: "Try dead letters again",
    body: s.DeadLetterChoice,
    answer: s.Requeued,
    errors: ["NOT_FOUND", "CONFLICT"],
  },
  {
    method: "post",
    path: "/v1/dead-letters/discard",
    summary: "Forget dead letters",
    body: s.DeadLetterChoice,
    answer: s.Discarded,
    errors: ["NOT_FOUND", "CONFLICT"],
  },

  {
    method: "get",
    path: "/v1/chaos",
    summary: "The faults that are in force",
    description: "Only on a node that was started with `--chaos`.",
    answer: s.ChaosFaults,
    errors: ["FORBIDDEN"],
  },
  {
    method: "post",
    path: "/v1/chaos",
    summary: "Ask for a fault on the way to an agent",
    description: "For tests of a deployment: cut its connections, delay its deliveries, miss its acknowledgements.",
    body: s.ChaosFault,
    answer: s.ChaosConcerned,
    errors: ["FORBIDDEN", "NOT_FOUND"],
  },
  {
    method: "delete",
    path: "/v1/chaos",
    summary: "End the faults of one agent, or all",
    query: { agent },
    answer: s.ChaosCleared,
    errors: ["FORBIDDEN"],
  },
];
