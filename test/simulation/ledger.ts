import type { CallOutcome } from "../../packages/sdk/src/outcome.js";
import type { TaskRecord } from "../../packages/server/src/ports/task-store.js";
import { isTerminal } from "../../packages/server/src/tasks/lifecycle.js";
import { Audiences } from "./audiences.js";
import type { Process } from "./process.js";
import { Publishes } from "./publishes.js";
import type { Wishes } from "./wishes.js";

/** What a handler does with one execution. */
export interface Step {
  does: "succeeds" | "fails" | "throws" | "refuses" | "hangs" | "nests";
  /** After so long; 0: at once, without a promise. */
  ms: number;
}

/** One piece of work that somebody asks for, once or several times. */
export interface Job {
  readonly id: number;
  readonly kind: "call" | "task";
  readonly capability: string;
  /** The host that asks. */
  readonly caller: string;
  /** What becomes of each execution in turn; the last one stands for all that follow. */
  readonly steps: readonly Step[];
  readonly messageId: string;
  /** What it was sent for, if for another message. */
  readonly parentId?: string;
  readonly idempotencyKey: string | undefined;
  readonly orderKey: string | undefined;
  readonly atMostOnce: boolean;
  readonly sends: Send[];
  readonly executions: Execution[];
  canceled: boolean;
  /** What else it asks for. */
  wishes: Wishes;
}

/** One time that somebody asked, and what he heard. */
export interface Send {
  readonly job: Job;
  readonly what: "call" | "submit" | "follow";
  readonly at: number;
  readonly process: Process;
  readonly timeoutMs: number;
  readonly messageId: string;
  /** The same key was used for something else. */
  readonly other: boolean;
  /** The answer to a call or a submit. */
  answer: Answer | undefined;
  /** The end of a task. */
  result: Answer | undefined;
}

export interface Answer {
  readonly at: number;
  readonly ok: boolean;
  readonly code: string | undefined;
  readonly outcome: string;
  readonly data: unknown;
  /** Whether somebody stood in, as it says. */
  readonly degraded: boolean;
  /** Of a task: which one it is, and how it ended. */
  readonly messageId: string;
  readonly state: string | undefined;
}

/** One run of a handler. */
export interface Execution {
  readonly id: number;
  readonly job: Job;
  readonly messageId: string;
  readonly key: string;
  readonly attempt: number;
  readonly process: Process;
  /** As what it was executed, and by whom. */
  readonly capability: string;
  readonly agentId: string;
  readonly at: number;
  /** Undefined while it runs, and for ever when its process ended meanwhile. `code`: of its business error. */
  end: { at: number; how: "succeeded" | "failed" | "refused"; code: string | undefined } | undefined;
}

/** One `deliver` that left the node. */
export interface Sent {
  readonly at: number;
  readonly messageId: string;
  readonly kind: "call" | "task";
  readonly attempt: number;
  readonly to: string;
  readonly instanceId: string;
  readonly capability: string;
  /** How long the node waits for the result. */
  readonly timeoutMs: number;
  /** Which run of the node sent it. */
  readonly node: number;
}

/** What an agent said of one attempt, as it arrived at the node. */
export interface Arrival {
  readonly at: number;
  /** Who said so. */
  readonly from: string;
  readonly says: "completed" | "failed" | "handed back";
  readonly messageId: string;
  readonly attempt: number;
  readonly node: number;
}

/** An instance that lost its lease, though nobody had closed its connection. */
export interface Expiry {
  readonly at: number;
  readonly host: string;
  readonly node: number;
}

/** A circuit breaker that opened: for so many failures in its window, or for one of a probe. */
export interface Opening {
  readonly at: number;
  readonly instanceId: string;
  readonly capability: string;
  readonly failures: number;
  readonly node: number;
}

/** That the node took a call in, or that a message was over for it. */
export interface Moment {
  readonly at: number;
  /** Which of all moments it is: many have the same time. */
  readonly number: number;
  readonly node: number;
  readonly is: "taken in" | "over";
  /** Whether it was over with an answer of its agent. */
  readonly answered: boolean;
}

/** One state of a task that was committed. */
export interface Commit {
  readonly at: number;
  /** Which one of all commits it is: several come at one moment. */
  readonly number: number;
  readonly task: TaskRecord;
}

/** One thing that happened, for people. */
interface Line {
  at: number;
  who: string;
  what: string;
  job: number | undefined;
}

/** What the journal calls the end of a message. */
const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "canceled", "dead"]);

/** All that happened in one run, as nobody inside could know it. */
export class Ledger {
  readonly jobs: Job[] = [];
  readonly executions: Execution[] = [];
  readonly sent: Sent[] = [];
  readonly arrivals: Arrival[] = [];
  readonly expiries: Expiry[] = [];
  readonly openings: Opening[] = [];
  /** By message, oldest first. */
  readonly commits = new Map<string, Commit[]>();
  /** By message, oldest first. */
  readonly moments = new Map<string, Moment[]>();
  /** When a run of the node ended, by its number. */
  readonly nodeEnds = new Map<number, number>();
  /** What was wrong the moment it happened. */
  readonly wrongs: Wrong[] = [];
  readonly audiences = new Audiences();
  readonly publishes = new Publishes();
  /** Faults, and whether lines are kept at all. */
  readonly faults: Line[] = [];
  readonly lines: Line[] = [];
  #commits = 0;
  #moments = 0;
  readonly #jobOf = new Map<string, Job>();
  readonly #confirmedAt = new Map<string, number>();

  constructor(
    private readonly clock: { readonly now: number },
    readonly recording: boolean,
  ) {}

  get now(): number {
    return this.clock.now;
  }

  add(job: Job): void {
    this.jobs.push(job);
    this.#jobOf.set(job.messageId, job);
  }

  /** A repeat may bear an id of its own. */
  alias(messageId: string, job: Job): void {
    this.#jobOf.set(messageId, job);
  }

  jobOf(messageId: string): Job | undefined {
    return this.#jobOf.get(messageId);
  }

  stored(task: TaskRecord): void {
    const commits = this.commits.get(task.messageId);
    const commit = { at: this.now, number: this.#commits++, task };
    if (commits === undefined) {
      this.commits.set(task.messageId, [commit]);
      const job = this.publishes.stored(task, this.now, this.jobs.length);
      if (job !== undefined) this.add(job);
    } else commits.push(commit);
    if (this.recording)
      this.tell(
        "disk",
        `${task.state}, attempt ${task.attempt}, revision ${task.revision}`,
        this.jobOf(task.messageId),
      );
  }

  /** The node's journal says so, the moment it happens. */
  noted(node: number, messageId: string, type: string, code: unknown): void {
    const is = type === "received" ? "taken in" : ENDS.has(type) ? "over" : undefined;
    if (is === undefined) return;
    const number = this.#moments++;
    const moment: Moment = { at: this.now, number, node, is, answered: type === "completed" || code === "AGENT_ERROR" };
    const moments = this.moments.get(messageId);
    if (moments === undefined) this.moments.set(messageId, [moment]);
    else moments.push(moment);
  }

  /** The node was told that a task is stored as completed. */
  confirmed(messageId: string): void {
    if (!this.#confirmedAt.has(messageId)) this.#confirmedAt.set(messageId, this.now);
  }

  /** Since when this run of the node knows that the task has succeeded: it was told, or it began after that. */
  knownAt(messageId: string, node: number): number | undefined {
    const stored = this.commits.get(messageId)?.find(({ task }) => task.state === "completed")?.at;
    if (stored === undefined) return undefined;
    const before = this.nodeEnds.get(node - 1);
    return before !== undefined && before >= stored ? stored : this.#confirmedAt.get(messageId);
  }

  hasEnded(messageId: string): boolean {
    const last = this.commits.get(messageId)?.at(-1)?.task;
    return last !== undefined && isTerminal(last.state);
  }

  wrong(invariant: string, what: string, job?: Job): void {
    this.wrongs.push({ invariant, what, job: job?.id });
    this.tell("!", `${invariant}: ${what}`, job);
  }

  fault(who: string, what: string): void {
    const line = { at: this.now, who, what: `FAULT ${what}`, job: undefined };
    this.faults.push(line);
    this.lines.push(line);
  }

  tell(who: string, what: string, job?: Job): void {
    if (this.recording) this.lines.push({ at: this.now, who, what, job: job?.id });
  }
}

/** Notes that somebody asks now. */
export function sent(
  ledger: Ledger,
  job: Job,
  what: Send["what"],
  process: Process,
  timeoutMs: number,
  { messageId = job.messageId, other = false } = {},
): Send {
  const send: Send = {
    job,
    what,
    at: ledger.now,
    process,
    timeoutMs,
    messageId,
    other,
    answer: undefined,
    result: undefined,
  };
  job.sends.push(send);
  return send;
}

/** What came of it, now. */
export function answerOf(ledger: Ledger, outcome: CallOutcome & { state?: string | undefined }): Answer {
  return {
    at: ledger.now,
    ok: outcome.ok,
    code: outcome.errorCode,
    outcome: outcome.outcome,
    data: outcome.data,
    degraded: outcome.degraded,
    messageId: outcome.messageId,
    state: outcome.state,
  };
}

/** An invariant that does not hold. */
export interface Wrong {
  readonly invariant: string;
  readonly what: string;
  readonly job: number | undefined;
}
