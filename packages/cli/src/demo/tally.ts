import type {
  AgentReachClient,
  CallEnvelope,
  CallOutcome,
  ErrorCode,
  SubmitEnvelope,
  TaskHandle,
} from "@agent-reach/sdk";
import type { Operator } from "@agent-reach/sdk/operator";

export interface Counts {
  /** Messages that the demo sent: calls and tasks. */
  sent: number;
  done: number;
  /** Calls that were to be refused, and were. */
  refused: number;
  /** Deliveries of tasks beyond the first. */
  redelivered: number;
  /** Messages which nobody did and nobody refused. */
  lost: number;
  /** Effects that the database shows more than once. */
  effectsTwice: number;
}

/** Sends, and keeps the books: what was sent is counted here, what became of tasks is asked of the node at the end. */
export class Tally {
  readonly #client: AgentReachClient;
  readonly #tasks = new Set<string>();
  #calls = 0;
  #answered = 0;
  #refused = 0;

  constructor(client: AgentReachClient) {
    this.#client = client;
  }

  async call<T>(envelope: CallEnvelope): Promise<CallOutcome<T>> {
    this.#calls++;
    const outcome = await this.#client.callSync<T>({ timeoutMs: 20_000, ...envelope });
    if (outcome.ok) this.#answered++;
    return outcome;
  }

  /** A call that has to fail with this code. */
  async refusal(code: ErrorCode, envelope: CallEnvelope): Promise<CallOutcome> {
    this.#calls++;
    const outcome = await this.#client.callSync({ timeoutMs: 20_000, ...envelope });
    if (outcome.errorCode === code) this.#refused++;
    return outcome;
  }

  submit<T>(envelope: SubmitEnvelope): TaskHandle<T> {
    const handle = this.#client.submit<T>(envelope);
    this.#tasks.add(handle.messageId);
    return handle;
  }

  async count(operator: Operator, effectsTwice: number): Promise<Counts> {
    let completed = 0;
    let redelivered = 0;
    let cursor: string | undefined;
    do {
      const page = await operator.tasks({ limit: 500, ...(cursor === undefined ? {} : { cursor }) });
      for (const { messageId, state, attempt } of page.tasks) {
        if (!this.#tasks.has(messageId)) continue;
        if (state === "completed") completed++;
        redelivered += Math.max(0, attempt - 1);
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    const sent = this.#calls + this.#tasks.size;
    const done = this.#answered + completed;
    return { sent, done, refused: this.#refused, redelivered, lost: sent - done - this.#refused, effectsTwice };
  }
}
