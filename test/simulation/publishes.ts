import type { TaskRecord } from "../../packages/server/src/ports/task-store.js";
import { isTerminal } from "../../packages/server/src/tasks/lifecycle.js";
import { ofCapability, ofTopic } from "./audiences.js";
import { jobOf } from "./job.js";
import type { Job, Ledger, Step } from "./ledger.js";
import type { Process } from "./process.js";

/** Something that is published, once or several times under one groupId. */
export interface Publish {
  readonly groupId: string;
  readonly topic: string | undefined;
  readonly capability: string;
  readonly caller: string;
  /** What becomes of each execution in turn, by each agent that gets it. */
  readonly steps: readonly Step[];
  readonly sends: PublishSend[];
  /** What was made of it, in the order in which it was stored. */
  readonly tasks: { readonly at: number; readonly agentId: string; readonly messageId: string }[];
}

/** One time that somebody published it, and what he heard. */
export interface PublishSend {
  readonly at: number;
  readonly process: Process;
  /** The same groupId was used for something else. */
  readonly other: boolean;
  answer:
    | { readonly at: number; readonly deliveries: number | undefined; readonly code?: string; readonly outcome: string }
    | undefined;
  /** He heard that all have ended, so many in all. */
  end: { readonly at: number; readonly total: number } | undefined;
}

/** All that was published in one run. */
export class Publishes {
  readonly byGroup = new Map<string, Publish>();

  add(publish: Publish): void {
    this.byGroup.set(publish.groupId, publish);
  }

  /** A new task is on disk: if it was published, it is a job like others from now on. */
  stored({ groupId, messageId, request, idempotencyKey }: TaskRecord, at: number, id: number): Job | undefined {
    const publish = groupId === undefined ? undefined : this.byGroup.get(groupId);
    if (publish === undefined) return undefined;
    publish.tasks.push({ at, agentId: request.target?.agentId ?? "nobody", messageId });
    const { capability, caller, steps } = publish;
    return jobOf({ id, kind: "task", capability, caller, steps, messageId, idempotencyKey });
  }
}

type Tell = (what: string, job?: Job) => void;

/** A publish is expanded once, whoever repeats it, and says to how many it goes. */
export function expansions(ledger: Ledger, wrong: Tell): void {
  for (const { groupId, tasks, sends } of ledger.publishes.byGroup.values()) {
    const say = (what: string) => wrong(`${groupId}: ${what}`, tasks[0] && ledger.jobOf(tasks[0].messageId));
    if (new Set(tasks.map(({ agentId }) => agentId)).size < tasks.length) say("somebody got it twice");
    if (tasks.some(({ at }) => at !== tasks[0]!.at)) say("it was expanded a second time");
    const contents = new Set<boolean>();
    for (const { at: sentAt, answer, other } of sends) {
      if (answer === undefined) continue;
      const { deliveries, outcome, at } = answer;
      const stored = tasks.filter((task) => task.at <= at).length;
      // To nobody is remembered nowhere: while that answer is on its way, a repeat may find somebody.
      const isTrue = deliveries === stored || (deliveries === 0 && tasks.every((task) => task.at > sentAt));
      if (deliveries !== undefined && !isTrue) say(`it goes to ${deliveries}, and there are ${stored}`);
      if (deliveries !== undefined && deliveries > 0) contents.add(other);
      if (deliveries === undefined && outcome === "not_executed" && sends.length === 1 && stored > 0)
        say(`its caller was told that it was not taken (${answer.code})`);
    }
    if (contents.size > 1) say("two contents were accepted under one groupId");
  }
}

/** Everybody who belongs to the audience gets it, and nobody else. */
export function audienceOf({ publishes, audiences }: Ledger, wrong: Tell): void {
  for (const { groupId, topic, capability, tasks, sends } of publishes.byGroup.values()) {
    const name = topic === undefined ? ofCapability(capability) : ofTopic(topic);
    const [first] = tasks;
    if (first !== undefined) {
      const { always, ever } = audiences.between(name, sends[0]!.at, first.at);
      const got = new Set(tasks.map(({ agentId }) => agentId));
      for (const agentId of always) if (!got.has(agentId)) wrong(`${groupId}: ${agentId} did not get it`);
      for (const agentId of got) if (!ever.has(agentId)) wrong(`${groupId}: ${agentId} got it, and never asked for it`);
    }
    for (const { at, answer } of sends) {
      if (topic !== undefined && answer?.code === "NO_ROUTE")
        wrong(`${groupId}: it was refused, though a topic may have nobody who subscribes to it`);
      if (answer?.deliveries !== 0) continue;
      const [agentId] = audiences.between(name, at, answer.at).always;
      if (agentId !== undefined) wrong(`${groupId}: it went to nobody, though ${agentId} is there`);
    }
  }
  for (const what of audiences.vanished) wrong(`a subscription ended, and nobody had asked for that: ${what}`);
}

/** Whoever publishes is answered in time, and hears when all have ended, and not before. */
export function publishers(ledger: Ledger, wrong: Tell, marginMs: number): void {
  for (const { groupId, tasks, sends } of ledger.publishes.byGroup.values()) {
    for (const { at, process, answer, end } of sends) {
      if (answer === undefined) {
        if (process.alive) wrong(`${groupId}: ${process.name} was never answered`);
        continue;
      }
      if (answer.at - Math.max(at + PUBLISH_MS, process.resumedAt) > marginMs)
        wrong(`${groupId}: ${process.name} was answered too late`);
      if (answer.deliveries === undefined) continue;
      if (end === undefined) {
        if (process.alive) wrong(`${groupId}: ${process.name} was not told that all have ended`);
        continue;
      }
      const ended = tasks.filter(({ messageId }) =>
        ledger.commits.get(messageId)?.some(({ at, task }) => at <= end.at && isTerminal(task.state)),
      ).length;
      if (end.total !== ended && answer.deliveries > 0)
        wrong(`${groupId}: ${process.name} heard that all ${end.total} had ended, and ${ended} had`);
    }
  }
}

/** So long somebody waits to be told that his publish is taken, ms. */
const PUBLISH_MS = 30_000;
