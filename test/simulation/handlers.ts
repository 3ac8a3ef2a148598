import { AgentError, Overloaded } from "../../packages/sdk/src/agent-error.js";
import type { HandlerContext } from "../../packages/sdk/src/delivery.js";
import { jobOf } from "./job.js";
import { answerOf, type Execution, type Job, type Ledger, type Step, sent } from "./ledger.js";
import type { Process } from "./process.js";

/** The input of every message: which job it is for, and whether it is the same work or other work under the same key. */
export interface Input {
  readonly job?: number;
  /** It was published under this groupId: each of its tasks is a job, which only the message tells. */
  readonly publish?: string;
  readonly other?: boolean;
}

/** Whoever asks somebody else on the way and has less to do than this does not wait for the answer, ms. */
const WAITS_FROM_MS = 15;
/** Whoever has more to do than this asks somebody who asks yet another. */
const DEEP_FROM_MS = 35;

/** The business error of those who fail in order. */
export const NOT_TODAY = "NOT_TODAY";

/** What agents do, as each job has it for each of its executions. */
export class Handlers {
  constructor(private readonly ledger: Ledger) {}

  handle(process: Process, input: Input, context: HandlerContext): unknown {
    const { ledger } = this;
    const job = (input.job === undefined ? ledger.jobOf(context.messageId) : ledger.jobs[input.job])!;
    const execution: Execution = {
      id: ledger.executions.length,
      job,
      messageId: context.messageId,
      key: context.idempotencyKey,
      attempt: context.attempt,
      process,
      capability: context.capability,
      agentId: context.agentId,
      at: ledger.now,
      end: undefined,
    };
    const step = job.steps[Math.min(job.executions.length, job.steps.length - 1)]!;
    job.executions.push(execution);
    ledger.executions.push(execution);
    ledger.tell(
      process.name,
      `executes (${execution.id}), attempt ${context.attempt}: ${step.does} after ${step.ms} ms`,
      job,
    );
    if (step.ms === 0 && step.does !== "nests") return this.#end(execution, step);
    return this.#later(process, execution, step, context);
  }

  async #later(process: Process, execution: Execution, step: Step, context: HandlerContext): Promise<unknown> {
    if (step.does === "nests") {
      const asked = this.#nest(process, execution.job, step, context);
      if (step.ms >= WAITS_FROM_MS) await asked;
    }
    await new Promise<void>((done) => {
      if (step.does !== "hangs") process.after(step.ms, done);
      // Whoever hangs does so until he is told that nobody waits any more.
      else if (context.signal.aborted) done();
      else context.signal.addEventListener("abort", () => done());
    });
    return this.#end(execution, step);
  }

  /** Asks somebody else on the way; that is a job like others, and what comes of it changes nothing here. */
  async #nest(process: Process, parent: Job, { ms }: Step, context: HandlerContext): Promise<void> {
    const { ledger } = this;
    const job = jobOf({
      id: ledger.jobs.length,
      kind: "call",
      capability: "leaf",
      caller: process.name,
      steps: [
        ms > DEEP_FROM_MS ? { does: "nests", ms: (WAITS_FROM_MS + DEEP_FROM_MS) / 2 } : { does: "succeeds", ms: 5 },
      ],
      messageId: process.newId(),
      parentId: context.messageId,
    });
    ledger.add(job);
    const timeoutMs = Math.max(1, Math.min(2_000, context.remainingMs));
    const send = sent(ledger, job, "call", process, timeoutMs);
    ledger.tell(process.name, `calls for #${parent.id}`, job);
    const { messageId } = job;
    const outcome = await context.call({ capability: "leaf", input: { job: job.id }, messageId, timeoutMs });
    send.answer = answerOf(ledger, outcome);
  }

  #end(execution: Execution, step: Step): unknown {
    const { ledger } = this;
    const { job, process } = execution;
    const how =
      step.does === "refuses"
        ? "refused"
        : step.does === "fails" || step.does === "throws" || step.does === "hangs"
          ? "failed"
          : "succeeded";
    execution.end = { at: ledger.now, how, code: step.does === "fails" ? NOT_TODAY : undefined };
    ledger.tell(process.name, `ends (${execution.id}): ${how}`, job);
    if (step.does === "fails") throw new AgentError(NOT_TODAY, "the agent looked at it and says no");
    if (step.does === "throws") throw new Error("the handler broke");
    if (step.does === "hangs") throw new Error("nobody waits any more");
    if (step.does === "refuses") throw new Overloaded({ retryAfterMs: 200 });
    return { execution: execution.id };
  }
}
