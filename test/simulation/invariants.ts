import type { TaskRecord } from "../../packages/server/src/ports/task-store.js";
import { WINDOW_MS } from "../../packages/server/src/registry/breaker-record.js";
import { isTerminal } from "../../packages/server/src/tasks/lifecycle.js";
import type { Arrival, Commit, Execution, Job, Ledger, Sent } from "./ledger.js";
import { outliving } from "./nesting.js";
import { audienceOf, expansions, publishers } from "./publishes.js";
import { passedOn, strangers } from "./wishes.js";

/** How long the node's own answer to an expired call may be late, and what wheels and timers add, ms. */
const ANSWER_MARGIN_MS = 1_200;
/** A decision and its write may lie so far apart, in quiet times, ms. */
const WRITE_MS = 50;
/** A node waits at least so long for an agent, unless there is less time than that, ms. */
const PATIENCE_MS = 250;
/** What failed longer ago than the window of a breaker, and the longest wait before it, is not what it opened for, ms. */
const BREAKER_MS = WINDOW_MS + 30_000;

/** One promise, checked when a run has ended. It notes whatever broke it. */
export interface Invariant {
  readonly name: string;
  check(ledger: Ledger, wrong: (what: string, job?: Job) => void): void;
}

/** What must hold for every run, whatever went wrong in it. */
export const invariants: readonly Invariant[] = [
  {
    name: "no accepted task is lost",
    check({ jobs, commits }, wrong) {
      for (const job of jobs) {
        for (const { what, answer } of job.sends) {
          if (what !== "submit" || answer?.ok !== true) continue;
          const last = commits.get(answer.messageId)?.at(-1)?.task;
          if (last === undefined) wrong(`${answer.messageId} was accepted, and the store does not know it`, job);
        }
      }
    },
  },
  {
    name: "every task ends, or waits for a person",
    check(ledger, wrong) {
      for (const { task } of lastOf(ledger))
        if (!isTerminal(task.state) && task.state !== "stalled")
          wrong(`it is still ${task.state}`, ledger.jobOf(task.messageId));
    },
  },
  {
    name: "a task has one end",
    check(ledger, wrong) {
      for (const [messageId, history] of ledger.commits) {
        let ended: TaskRecord | undefined;
        for (const { task } of history) {
          if (
            ended !== undefined &&
            task.state !== ended.state &&
            !(task.state === "queued" && ended.state !== "completed")
          )
            wrong(`after it was ${ended.state} it became ${task.state}`, ledger.jobOf(messageId));
          if (ended?.state === "completed" && task.data !== ended.data)
            wrong("its result was changed after it had completed", ledger.jobOf(messageId));
          ended = isTerminal(task.state) ? task : undefined;
        }
      }
      for (const job of ledger.jobs) {
        for (const { result } of job.sends) {
          if (result?.state === undefined) continue;
          const ends = ledger.commits.get(result.messageId) ?? [];
          const told = ends.some(
            ({ at, task }) => at <= result.at && task.state === result.state && sameData(task, result.data),
          );
          if (!told) wrong(`its submitter heard ${result.state}, which it never was by then`, job);
        }
      }
    },
  },
  {
    name: "nothing is sent after its success was recorded",
    check(ledger, wrong) {
      const { sent, arrivals } = ledger;
      for (const delivery of sent) {
        const recorded =
          delivery.kind === "task"
            ? ledger.knownAt(delivery.messageId, delivery.node)
            : arrivals.find(
                (arrival) => arrival.says === "completed" && sent.some((one) => answers(arrival, one, delivery)),
              )?.at;
        if (recorded !== undefined && delivery.at > recorded)
          wrong(
            `attempt ${delivery.attempt} went out after the success was recorded`,
            ledger.jobOf(delivery.messageId),
          );
      }
    },
  },
  {
    name: "a process executes nothing again that succeeded in it",
    check({ executions }, wrong) {
      const succeeded = new Map<object, Map<string, number>>();
      for (const { process, job, key, capability, at, end } of executions) {
        let keys = succeeded.get(process);
        if (keys === undefined) {
          keys = new Map();
          succeeded.set(process, keys);
        }
        // Another capability of the same agent may stand in.
        const name = `${job.id} ${key} ${capability}`;
        const before = keys.get(name);
        if (before !== undefined && before < at)
          wrong(`${process.name} executed it again after it had succeeded there`, job);
        if (end?.how === "succeeded") keys.set(name, Math.min(end.at, before ?? end.at));
      }
    },
  },
  {
    name: "a success that came while its task was open is kept",
    check(ledger, wrong) {
      for (const { at, says, messageId, attempt, node } of ledger.arrivals) {
        if (says !== "completed") continue;
        const history = ledger.commits.get(messageId);
        const then = history?.findLast((commit) => commit.at <= at)?.task;
        if (history === undefined || then === undefined || isTerminal(then.state)) continue;
        if (!then.attempts.some((known) => known.attempt === attempt)) continue;
        const next = history.find((commit) => commit.at > at && isTerminal(commit.task.state));
        if (next?.task.state === "completed") continue;
        // Whoever asked for another end at the same moment may have been first.
        if (next !== undefined && next.at <= at + 2 * WRITE_MS) continue;
        // The node may have died before it was stored; the agent repeats it then, if it lives.
        const ended = ledger.nodeEnds.get(node);
        if (ended !== undefined && ended < at + 5_000) continue;
        if (troubled(ledger, at, "disk")) continue;
        wrong(
          `a success of attempt ${attempt} came while it was ${then.state}, and it ended as ${next?.task.state}`,
          ledger.jobOf(messageId),
        );
      }
    },
  },
  {
    name: "a failure counts from the newest attempt alone",
    check(ledger, wrong) {
      for (const [messageId, history] of ledger.commits) {
        for (const { at, task } of history) {
          if (task.state !== "failed" || task.error?.code !== "AGENT_ERROR") continue;
          const heard = ledger.arrivals.some(
            (arrival) =>
              arrival.says === "failed" &&
              arrival.messageId === messageId &&
              arrival.at <= at &&
              // What the last one passed on for was said of an earlier attempt, if nobody else could be asked.
              (arrival.attempt === task.attempt ||
                task.attempts.some(({ attempt, outcome }) => attempt === arrival.attempt && outcome === "passed_on")),
          );
          if (!heard) wrong(`it failed, and nobody had said so of attempt ${task.attempt}`, ledger.jobOf(messageId));
        }
      }
    },
  },
  {
    name: "what was handed back was never begun",
    check(ledger, wrong) {
      for (const { at, says, messageId, attempt, node } of ledger.arrivals) {
        if (says !== "handed back") continue;
        const history = ledger.commits.get(messageId);
        const then = history?.findLast((commit) => commit.at <= at)?.task;
        if (then === undefined || isTerminal(then.state) || then.attempt !== attempt) continue;
        // It counted as lost before that, and is on its way again.
        if (then.state === "queued") continue;
        const end = history!.at(-1)!.task.attempts.find((known) => known.attempt === attempt)?.outcome;
        if (end === "handed_back" || end === "completed" || end === "canceled") continue;
        const ended = ledger.nodeEnds.get(node);
        if ((ended !== undefined && ended < at + 5_000) || troubled(ledger, at, "disk")) continue;
        wrong(`attempt ${attempt} was handed back, and counts as ${end}`, ledger.jobOf(messageId));
      }
    },
  },
  {
    name: "nobody loses a lease that he keeps",
    check({ expiries, faults }, wrong) {
      for (const { at, host } of expiries) {
        const excuses = faults.filter(
          (fault) =>
            fault.at <= at &&
            (fault.who === "node" || fault.who === "disk" || fault.who.startsWith(host)) &&
            !fault.what.includes("wall clock") &&
            (at - fault.at < 25_000 || /half open|black hole/.test(fault.what)),
        );
        if (excuses.length === 0) wrong(`${host} was taken for silent, and was not`);
      }
    },
  },
  {
    name: "tasks of one order go one after another",
    check(ledger, wrong) {
      for (const line of linesOf(ledger)) {
        for (const commit of line.flat()) {
          const { messageId, state, seq } = commit.task;
          if (state !== "delivered") continue;
          for (const other of othersAt(line, commit))
            if (other.seq < seq && !isTerminal(other.state))
              wrong(
                `it went out while ${other.messageId}, which stands before it, was ${other.state}`,
                ledger.jobOf(messageId),
              );
        }
      }
    },
  },
  {
    name: "two of one order are never in hands at once",
    check(ledger, wrong) {
      for (const line of linesOf(ledger)) {
        for (const commit of line.flat()) {
          const { messageId, state } = commit.task;
          if (state !== "delivered") continue;
          for (const other of othersAt(line, commit))
            if (other.state === "delivered" || other.state === "working")
              wrong(`it went out while ${other.messageId} was ${other.state}`, ledger.jobOf(messageId));
        }
      }
    },
  },
  {
    name: "a breaker opens for technical failures alone",
    check(ledger, wrong) {
      for (const { at, instanceId, capability, failures, node } of ledger.openings) {
        const sent = ledger.sent.filter(
          (one) =>
            one.node === node &&
            one.instanceId === instanceId &&
            one.capability === capability &&
            one.at <= at &&
            one.at > at - BREAKER_MS,
        );
        const unanswered = sent.filter((one) => !answeredSoon(ledger, one)).length;
        if (unanswered < failures)
          wrong(
            `that of ${sent.at(-1)?.to ?? instanceId} for ${capability} opened at ${Math.round(at)} for ${failures} failures; ${unanswered} of ${sent.length} messages had no answer in time`,
          );
      }
    },
  },
  {
    name: "no caller waits past his deadline",
    check(ledger, wrong) {
      for (const job of ledger.jobs) {
        for (const { what, at, answer, timeoutMs, process } of job.sends) {
          if (what === "follow" || !process.alive) continue;
          if (answer === undefined) {
            wrong(`${process.name} was never answered`, job);
            continue;
          }
          const late = answer.at - Math.max(at + timeoutMs, process.resumedAt);
          if (late > ANSWER_MARGIN_MS)
            wrong(`${process.name} was answered ${Math.round(late)} ms after the deadline`, job);
        }
      }
    },
  },
  {
    name: "every submitter who waits hears the end",
    check(ledger, wrong) {
      for (const job of ledger.jobs) {
        for (const { what, result, answer, process, messageId } of job.sends) {
          if (what === "call" || !process.alive || result !== undefined) continue;
          const last = ledger.commits.get(answer?.messageId ?? messageId)?.at(-1)?.task;
          if (last !== undefined && isTerminal(last.state))
            wrong(`${process.name} was not told that it is ${last.state}`, job);
        }
      }
    },
  },
  {
    name: "what must not be done twice is not done twice",
    check(ledger, wrong) {
      for (const job of ledger.jobs) {
        if (job.kind === "task" && !job.atMostOnce) continue;
        const effects = job.executions.filter(mayHaveEffect);
        for (const later of effects.slice(1)) {
          const before = effects.filter(({ at }) => at < later.at).at(-1) ?? effects[0]!;
          const first = sentFirst(before, later);
          // What is idempotent may be done again, and by somebody else; so may what the sender's list of errors passes on.
          if ((job.kind === "call" && first.capability !== "write") || passedOn(job, first)) continue;
          if (mayBeUsedAgain(ledger, job, before, later)) continue;
          wrong(`${later.process.name} executed it after ${before.process.name} had`, job);
        }
      }
    },
  },
  {
    name: "an outcome is true",
    check({ jobs, executions }, wrong) {
      for (const job of jobs) {
        for (const { answer } of job.sends) {
          if (answer === undefined || job.sends.length > 1) continue;
          if (answer.outcome === "not_executed" && !answer.ok && job.executions.some(mayHaveEffect))
            wrong(`its caller was told that it was not executed (${answer.code})`, job);
        }
        for (const { answer, result } of job.sends) {
          for (const heard of [answer, result]) {
            const id = (heard?.data as { execution?: number } | undefined)?.execution;
            if (heard?.ok !== true || id === undefined) continue;
            const execution = executions[id];
            if (execution?.job !== job || execution.end?.how !== "succeeded")
              wrong(`it was answered with a result of something else`, job);
          }
        }
      }
    },
  },
  {
    name: "a completed task was done",
    check(ledger, wrong) {
      for (const { task } of lastOf(ledger)) {
        if (task.state !== "completed") continue;
        const { execution } = JSON.parse(task.data ?? "{}") as { execution?: number };
        const done = ledger.executions[execution ?? -1];
        if (done?.end?.how !== "succeeded" || done.job !== ledger.jobOf(task.messageId))
          wrong("it is completed, and nobody did it", ledger.jobOf(task.messageId));
      }
    },
  },
  { name: "no nested call outlives its parent", check: outliving },
  { name: "only whom the sender named stands in", check: strangers },
  { name: "a publish is expanded once", check: expansions },
  { name: "a publish goes to its audience", check: audienceOf },
  {
    name: "who publishes hears the end",
    check: (ledger, wrong) => publishers(ledger, wrong, ANSWER_MARGIN_MS),
  },
  {
    name: "a key stands for one content",
    check({ jobs, commits }, wrong) {
      for (const job of jobs) {
        const stored = new Set<string>();
        for (const { messageId } of job.sends) if (commits.has(messageId)) stored.add(messageId);
        if (job.kind === "task" && stored.size > 1) wrong(`${stored.size} tasks were stored under one key`, job);
        const contents = job.sends.filter(({ answer }) => answer?.ok === true).map(({ other }) => other);
        if (new Set(contents).size > 1) wrong("two contents were accepted under one key", job);
      }
    },
  },
];

/** Whether the agent said how it ended, well or badly, before the node could give it up. */
function answeredSoon({ arrivals }: Ledger, { at, messageId, attempt, to, node, timeoutMs }: Sent): boolean {
  return arrivals.some(
    (arrival) =>
      arrival.says !== "handed back" &&
      arrival.messageId === messageId &&
      arrival.attempt === attempt &&
      arrival.from === to &&
      arrival.node === node &&
      arrival.at < at + Math.min(PATIENCE_MS, timeoutMs - WRITE_MS),
  );
}

/** Whether this is what became of another delivery of the same call, by the same run of the node. */
function answers(arrival: Arrival, one: Sent, other: Sent): boolean {
  return (
    arrival.messageId === other.messageId &&
    one.messageId === other.messageId &&
    arrival.node === other.node &&
    one.node === other.node &&
    arrival.attempt === one.attempt &&
    arrival.from === one.to &&
    one.at < arrival.at
  );
}

/** Did something, as far as anybody can know: it was not refused. */
function mayHaveEffect({ end }: Execution): boolean {
  return end?.how !== "refused";
}

/** An attempt may be slower on its way than the one after it. */
function sentFirst(before: Execution, later: Execution): Execution {
  return before.messageId === later.messageId && later.attempt < before.attempt ? later : before;
}

/**
 * A key whose work failed, or was given up, may be used again by whoever asks again: for a call by a message with another
 * id, for a task by the same one too. And a node that was restarted cannot know that a call was made before.
 */
function mayBeUsedAgain(
  { commits, nodeEnds, arrivals }: Ledger,
  job: Job,
  before: Execution,
  later: Execution,
): boolean {
  const asked = job.sends.filter(({ at }) => at <= later.at);
  if (job.kind === "call") {
    const knownAsFailed = arrivals.some(
      ({ says, messageId, at }) => says === "failed" && messageId === before.messageId && at <= later.at,
    );
    if (knownAsFailed && later.messageId !== before.messageId) return true;
    const first = job.sends[0]!.at;
    return asked.length > 1 && [...nodeEnds.values()].some((at) => at > first && at <= later.at);
  }
  const askedSince = asked.some(({ at }) => at > before.at);
  if (before.end?.how === "failed" && askedSince) return true;
  const history = commits.get(before.messageId) ?? [];
  return askedSince && history.some(({ at, task }) => at > before.at && at <= later.at && isTerminal(task.state));
}

function lastOf({ commits }: Ledger): Commit[] {
  return [...commits.values()].map((history) => history.at(-1)!);
}

/** The histories of tasks that share an order. */
function linesOf({ commits }: Ledger): Commit[][][] {
  const lines = new Map<string, Commit[][]>();
  for (const history of commits.values()) {
    const { orderKey } = history[0]!.task;
    if (orderKey === undefined) continue;
    const line = lines.get(orderKey);
    if (line === undefined) lines.set(orderKey, [history]);
    else line.push(history);
  }
  return [...lines.values()];
}

/** The other tasks of an order as they were when one of them was committed. */
function othersAt(line: readonly Commit[][], { number, task }: Commit): TaskRecord[] {
  return line.flatMap((history) => {
    const then = history.findLast((commit) => commit.number < number)?.task;
    return then === undefined || then.seq === task.seq ? [] : [then];
  });
}

function sameData({ data }: TaskRecord, heard: unknown): boolean {
  return data === undefined || JSON.stringify(JSON.parse(data)) === JSON.stringify(heard);
}

/** Whether a fault of this part began shortly before, or is about to. */
function troubled({ faults }: Ledger, at: number, who: string): boolean {
  return faults.some((fault) => fault.who === who && Math.abs(fault.at - at) < 14_000);
}
