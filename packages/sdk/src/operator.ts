/**
 * A thin client of a node's HTTP API: what operators, scripts and the command line need to look around, and to call or
 * submit once. Programs that are agents, or that call all the time, use AgentReachClient: it keeps one connection.
 *
 * Every failure is a ReachError. A node that cannot be reached is UNAVAILABLE with `details.reason` "unreachable".
 */
import type {
  Agent,
  CallEnvelope,
  CallResult,
  Decision,
  Discovery,
  Group,
  InstanceState,
  JournalEvent,
  Params,
  PublishEnvelope,
  Published,
  SubmitEnvelope,
  SubmitResult,
  SubmittedMany,
  Task,
  TaskState,
  Trace,
} from "@agent-reach/protocol";
import { eventStream, type StreamedEvent } from "./operator/events.js";
import { Http, type HttpOptions, readError } from "./operator/http.js";

export type { StreamedEvent } from "./operator/events.js";
export { type HttpOptions, readError } from "./operator/http.js";

export interface Page {
  /** At most 500. */
  limit?: number;
  /** From the page before. */
  cursor?: string;
}

export interface TaskQuery extends Page {
  state?: TaskState;
  agent?: string;
  capability?: string;
  group?: string;
  /** ISO 8601 with offset: created then or later. */
  since?: string;
}

export interface TaskPage {
  tasks: Task[];
  cursor?: string;
}

/** A task or call with all decisions about it and all that happened to it. */
export interface MessageView {
  task?: Task;
  call?: Record<string, unknown>;
  decisions: Decision[];
  events: JournalEvent[];
}

/** Which dead letters: by id, or all that fit. */
export type DeadLetterSelection = { messageIds: string[] } | { filter: Omit<TaskQuery, keyof Page> };

/** What is wrong with the way to an agent. */
export interface ChaosFaults {
  /** Deliveries leave that much later. */
  delayMs?: number;
  /** Share of acknowledgements that the node does not hear, 0..1. */
  dropAcks?: number;
}

export interface EventQuery {
  /** Id of the last event seen; the stream goes on after it. */
  after?: number | undefined;
  /** Registry events after this revision instead of what happens to messages. */
  revision?: number | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** How long to wait before connecting again after a lost connection; default 1000 ms. */
  reconnectMs?: number | undefined;
}

export class Operator {
  readonly #http: Http;

  constructor(options: HttpOptions) {
    this.#http = new Http(options);
  }

  /** Where the node is, as `http://host:port`. */
  get url(): string {
    return this.#http.url;
  }

  /** The requests below, as text: for those who must keep every digit. */
  get http(): Http {
    return this.#http;
  }

  ping(): Promise<Record<string, unknown>> {
    return this.#http.json("GET", "/ping");
  }

  /** Resolves when the node is ready; otherwise rejects with NOT_READY or DRAINING. */
  ready(): Promise<Record<string, unknown>> {
    return this.#http.json("GET", "/readyz");
  }

  agents(
    query: Page & { state?: InstanceState; capability?: string; label?: string } = {},
  ): Promise<{ agents: Agent[]; cursor?: string }> {
    return this.#http.json("GET", "/v1/agents", { query: { ...query } });
  }

  agent(agentId: string): Promise<Agent> {
    return this.#http.json("GET", `/v1/agents/${encodeURIComponent(agentId)}`);
  }

  /** An older card of the agent. */
  agentVersion(agentId: string, version: number): Promise<Agent> {
    return this.#http.json("GET", `/v1/agents/${encodeURIComponent(agentId)}/versions/${version}`);
  }

  /** Finding nobody is an answer (`verdict`), not an error. */
  discover(query: Params<"discover">): Promise<Discovery> {
    return this.#http.json("POST", "/v1/discover", { body: query });
  }

  /** Rejects with AGENT_ERROR when the agent says no. */
  async call(envelope: CallEnvelope, signal?: AbortSignal): Promise<CallResult> {
    const answer = await this.#http.json<CallResult & { error?: unknown }>("POST", "/v1/call", {
      body: envelope,
      signal,
    });
    const error = readError(answer.error);
    if (error !== undefined) throw error;
    return answer;
  }

  /** Resolves when the task is on disk. */
  submit(envelope: SubmitEnvelope): Promise<SubmitResult> {
    return this.#http.json("POST", "/v1/tasks", { body: envelope });
  }

  /** Resolves when all of them are on disk; an error names the one that is wrong, and then none is. */
  submitMany(tasks: readonly SubmitEnvelope[], groupId?: string): Promise<SubmittedMany> {
    return this.#http.json("POST", "/v1/groups", { body: { tasks, ...(groupId !== undefined && { groupId }) } });
  }

  /** Resolves when there is a task on disk for each agent that it is for. */
  publish(envelope: PublishEnvelope): Promise<Published> {
    return this.#http.json("POST", "/v1/publish", { body: envelope });
  }

  /** How many tasks of a group are in which state. */
  group(groupId: string): Promise<Group> {
    return this.#http.json("GET", `/v1/groups/${encodeURIComponent(groupId)}`);
  }

  cancelGroup(groupId: string, reason?: string): Promise<{ canceled: number }> {
    const body = reason === undefined ? {} : { reason };
    return this.#http.json("POST", `/v1/groups/${encodeURIComponent(groupId)}/cancel`, { body });
  }

  requeueGroup(groupId: string): Promise<{ requeued: number }> {
    return this.#http.json("POST", `/v1/groups/${encodeURIComponent(groupId)}/requeue`, { body: {} });
  }

  tasks(query: TaskQuery = {}): Promise<TaskPage> {
    return this.#http.json("GET", "/v1/tasks", { query: { ...query } });
  }

  /** With `waitMs` (at most 600,000) it answers when the task is settled, or as it stands after that time. */
  task(messageId: string, options: { waitMs?: number; signal?: AbortSignal } = {}): Promise<Task> {
    return this.#http.json("GET", `/v1/tasks/${encodeURIComponent(messageId)}`, {
      query: { waitMs: options.waitMs },
      signal: options.signal,
    });
  }

  taskEvents(messageId: string, after?: number): Promise<{ events: JournalEvent[]; gap?: boolean }> {
    return this.#http.json("GET", `/v1/tasks/${encodeURIComponent(messageId)}/events`, { query: { after } });
  }

  cancel(messageId: string, reason?: string): Promise<Task> {
    const body = reason === undefined ? {} : { reason };
    return this.#http.json("POST", `/v1/tasks/${encodeURIComponent(messageId)}/cancel`, { body });
  }

  message(messageId: string): Promise<MessageView> {
    return this.#http.json("GET", `/v1/messages/${encodeURIComponent(messageId)}`);
  }

  trace(traceId: string): Promise<Trace> {
    return this.#http.json("GET", `/v1/traces/${encodeURIComponent(traceId)}`);
  }

  /** What waits, retries, is unacknowledged or dead, by queue. */
  queues(): Promise<Record<string, unknown>> {
    return this.#http.json("GET", "/v1/queues");
  }

  /** Dead letters and business failures. */
  deadLetters(query: TaskQuery = {}): Promise<TaskPage> {
    return this.#http.json("GET", "/v1/dead-letters", { query: { ...query } });
  }

  requeue(selection: DeadLetterSelection): Promise<Record<string, unknown>> {
    return this.#http.json("POST", "/v1/dead-letters/requeue", { body: selection });
  }

  discard(selection: DeadLetterSelection): Promise<Record<string, unknown>> {
    return this.#http.json("POST", "/v1/dead-letters/discard", { body: selection });
  }

  /** The faults in force. As all of chaos, only on a node that was started with `--chaos`. */
  faults(): Promise<{ faults: ({ agentId: string; until: string } & ChaosFaults)[] }> {
    return this.#http.json("GET", "/v1/chaos");
  }

  /** Spoils the way to an agent for a while (60 s), in place of what was asked for before. */
  spoil(agentId: string, faults: ChaosFaults & { forMs?: number }): Promise<{ connections: number }> {
    return this.#http.json("POST", "/v1/chaos", { body: { agentId, ...faults } });
  }

  /** Ends the connections of an agent without a word. */
  cut(agentId: string): Promise<{ connections: number }> {
    return this.#http.json("POST", "/v1/chaos", { body: { agentId, cut: true } });
  }

  /** Ends the faults of one agent, or all. */
  clearFaults(agentId?: string): Promise<{ cleared: number }> {
    return this.#http.json("DELETE", "/v1/chaos", { query: agentId === undefined ? {} : { agent: agentId } });
  }

  /** Everything that happens, as it happens; a lost connection is taken up again after the last event seen. */
  events(query: EventQuery = {}): AsyncGenerator<StreamedEvent, void, void> {
    return eventStream(this.#http, query);
  }
}
