/** What both entries offer. */
export type {
  Agent,
  Attempt,
  CallEnvelope,
  Candidate,
  Capability,
  Card,
  DeliveredEnvelope,
  Discovery,
  ErrorBody,
  ErrorCode,
  Group,
  Instance,
  JournalEvent,
  Outcome,
  PublishEnvelope,
  Published,
  Receipt,
  Registered,
  RegistryEvent,
  SubmitEnvelope,
  SubmittedMany,
  Task,
  TaskState,
} from "@agent-reach/protocol";
export { errorTable, ReachError } from "@agent-reach/protocol";
export type { SelfReport } from "./agent.js";
export { AgentError, Overloaded } from "./agent-error.js";
export type { CallHandle, Progress } from "./calls.js";
export type { ClientEvents, ClientOptions, ClientState } from "./client-options.js";
export type { Handler, HandlerContext } from "./delivery.js";
export type { AgentFilter, DiscoverQuery } from "./directory.js";
export type { GroupHandle } from "./groups.js";
export type { LogFields, Logger } from "./logger.js";
export type { CallOutcome, SubmitOutcome, TaskOutcome } from "./outcome.js";
export type { Context } from "./platform.js";
export type { CardInput } from "./registration.js";
export type { TaskHandle } from "./tasks.js";
export type { Dial, Transport, TransportEvents } from "./transport.js";
export type { Watch, WatchEvent, WatchFilter, WatchListener } from "./watch.js";
