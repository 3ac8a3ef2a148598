import type { CardInput } from "../../packages/sdk/src/registration.js";
import type { Chance } from "./chance.js";
import type { ClientHost } from "./clients.js";
import type { Input } from "./handlers.js";
import { jobOf } from "./job.js";
import { answerOf, type Job, type Send, type Step, sent } from "./ledger.js";
import { submitAsMany } from "./many.js";
import type { Universe } from "./universe.js";

/** Until when new work is sent, ms. */
export const WORK_MS = 8_000;

/** What agents offer. A `leaf` is what others call on the way. */
const CAPABILITIES = [
  { name: "read", idempotent: true },
  { name: "write", idempotent: false },
  { name: "leaf", idempotent: true },
] as const;

/** Sets up who is there: some agents, two of one name among them as a rule, and some who ask. */
export function populate(universe: Universe, chance: Chance): void {
  const agents = chance.int(2, 5);
  for (let i = 0; i < agents; i++) {
    // The first offers everything, so that nothing is asked for which nobody ever offered.
    const capabilities = CAPABILITIES.filter(() => i === 0 || chance.in(0.6));
    if (capabilities.length === 0) capabilities.push(CAPABILITIES[0]);
    const agentId = i > 0 && chance.in(0.5) ? "agent-0" : `agent-${i}`;
    addAgent(universe, chance, `agent-${i}`, agentId, capabilities);
  }
  const callers = chance.int(1, 4);
  for (let i = 0; i < callers; i++) {
    const card: CardInput | undefined = chance.in(0.5)
      ? { agentId: `caller-${i}`, heartbeatIntervalSec: 2 }
      : undefined;
    universe.addClient({ host: `caller-${i}`, card, keepsIdentity: chance.in(0.5) });
  }
}

/**
 * For a while one agent says no to nearly everything: orders that do not exist, amounts that are too high. It is as well as
 * ever, and its breaker has nothing to do with it.
 */
function planNoes(universe: Universe, chance: Chance, callers: readonly ClientHost[]): void {
  const { card } = chance.pick(universe.clients.filter(({ host }) => host.startsWith("agent"))).settings;
  const [capability] = card!.capabilities as readonly { name: string }[];
  let at = chance.between(500, WORK_MS - 3_000);
  for (let i = chance.int(16, 28); i > 0; i--) {
    at += chance.between(20, 120);
    const says = chance.in(0.9) ? "fails" : "succeeds";
    const more: Partial<Job> = {
      capability: capability!.name,
      steps: [{ does: says, ms: chance.in(0.5) ? 0 : chance.between(1, 20) }],
    };
    const caller = chance.pick(callers);
    const asked = { agentId: card!.agentId };
    if (chance.in(0.7)) planCall(universe, chance, caller, at, more, asked);
    else planTask(universe, chance, caller, at, more, asked);
  }
}

/** Tasks of one order, many of which fail and come again while others are under way. */
function planReturns(universe: Universe, chance: Chance, caller: ClientHost): void {
  const orderKey = `${caller.host}-returns`;
  let at = chance.between(500, WORK_MS - 4_000);
  for (let i = chance.int(5, 12); i > 0; i--) {
    at += chance.between(0, 100);
    const fails: Step[] = Array.from({ length: chance.int(0, 4) }, () => ({
      does: "fails",
      ms: chance.between(0, 30),
    }));
    const steps: Step[] = [...fails, { does: "succeeds", ms: chance.between(0, 60) }];
    planTask(universe, chance, caller, at, { orderKey, atMostOnce: false, steps }, { repeats: chance.int(1, 5) });
  }
}

export function addAgent(
  universe: Universe,
  chance: Chance,
  host: string,
  agentId: string,
  capabilities: readonly { name: string; idempotent: boolean }[],
): ClientHost {
  const card: CardInput = {
    agentId,
    heartbeatIntervalSec: 2,
    maxConcurrentTasks: chance.pick([1, 1, 2, 3, 5]),
    capabilities: capabilities.map((capability) => ({ ...capability })),
  };
  return universe.addClient({ host, card, keepsIdentity: chance.in(0.5) });
}

/** Plans all that will be asked for, and when. */
export function plan(universe: Universe, chance: Chance): void {
  const callers = universe.clients.filter(({ host }) => host.startsWith("caller"));
  for (const host of callers) host.onRestart = () => comeBack(universe, chance, host);
  const jobs = chance.int(15, 40);
  for (let i = 0; i < jobs; i++) {
    const caller = chance.pick(callers);
    const at = chance.in(0.3) ? chance.pick([1_000, 3_000, 5_000]) : chance.between(300, WORK_MS);
    const kind = chance.in(0.45) ? "call" : "task";
    if (kind === "call") planCall(universe, chance, caller, at);
    else planTask(universe, chance, caller, at);
  }
  if (chance.in(0.15)) planNoes(universe, chance, callers);
  if (chance.in(0.15)) planReturns(universe, chance, chance.pick(callers));
}

/** How a piece of work is asked for, where chance does not have it. */
interface Asked {
  /** Of this agent alone. */
  readonly agentId?: string;
  /** So often again, sooner or later. */
  readonly repeats?: number;
}

export function stepsOf(chance: Chance, kind: Job["kind"]): Step[] {
  const step = (): Step =>
    chance.weighted<() => Step>([
      [6, () => ({ does: "succeeds", ms: 0 })],
      [6, () => ({ does: "succeeds", ms: chance.between(1, 40) })],
      [5, () => ({ does: "succeeds", ms: chance.between(60, kind === "call" ? 1_500 : 3_500) })],
      [1, () => ({ does: "fails", ms: chance.between(0, 200) })],
      [0.5, () => ({ does: "throws", ms: 0 })],
      [1.5, () => ({ does: "refuses", ms: 0 })],
      [1, () => ({ does: "hangs", ms: 1 })],
      [1, () => ({ does: "nests", ms: chance.between(0, 50) })],
    ])();
  return [...Array.from({ length: chance.int(1, 3) }, step), { does: "succeeds", ms: chance.between(0, 60) }];
}

function newJob(universe: Universe, chance: Chance, caller: ClientHost, kind: Job["kind"], more: Partial<Job>): Job {
  const capability = chance.weighted([
    [5, "read"],
    [4, "write"],
  ] as const);
  const { ledger } = universe;
  const job = jobOf({
    id: ledger.jobs.length,
    kind,
    capability,
    caller: caller.host,
    steps: stepsOf(chance, kind),
    messageId: idOf(chance),
    ...more,
  });
  ledger.add(job);
  return job;
}

function idOf(chance: Chance): string {
  const hex = (digits: number) => Array.from({ length: digits }, () => chance.int(0, 16).toString(16)).join("");
  return `0199a5c2-${hex(4)}-7${hex(3)}-9${hex(3)}-${hex(12)}`;
}

// ── calls ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function planCall(
  universe: Universe,
  chance: Chance,
  caller: ClientHost,
  at: number,
  more: Partial<Job> = {},
  { agentId }: Asked = {},
): void {
  const job = newJob(universe, chance, caller, "call", {
    ...(chance.in(0.2) && { idempotencyKey: `call-${universe.ledger.jobs.length}` }),
    ...more,
  });
  const timeoutMs = chance.pick([300, 1_000, 3_000, 8_000]);
  const call = (messageId: string) => {
    const { process, client } = caller;
    if (process === undefined || !process.alive || client === undefined) return;
    const send = sent(universe.ledger, job, "call", process, timeoutMs, { messageId });
    universe.ledger.tell(process.name, `calls ${job.capability}, ${timeoutMs} ms, as ${messageId}`, job);
    const handle = client.callAsync({
      messageId,
      ...(agentId !== undefined && { target: { agentId } }),
      capability: job.capability,
      input: { job: job.id } satisfies Input,
      timeoutMs,
      ...job.wishes,
      ...(job.idempotencyKey !== undefined && { idempotencyKey: job.idempotencyKey }),
    });
    void handle.result.then((outcome) => {
      send.answer = answerOf(universe.ledger, outcome);
      tellAnswer(universe, send, send.answer);
    });
    if (chance.in(0.05)) {
      process.after(chance.between(0, timeoutMs), () => {
        if (send.answer !== undefined) return;
        job.canceled = true;
        universe.ledger.tell(process.name, "cancels", job);
        handle.cancel("the caller thought better of it");
      });
    }
  };
  within(universe, caller, at, () => call(job.messageId));
  // A caller who repeats himself: the same message, or another one for the same piece of work.
  if (chance.in(0.15)) {
    const messageId = job.idempotencyKey !== undefined && chance.in(0.5) ? idOf(chance) : job.messageId;
    universe.ledger.alias(messageId, job);
    within(universe, caller, at + chance.between(0, 500), () => call(messageId));
  }
}

// ── tasks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function planTask(
  universe: Universe,
  chance: Chance,
  caller: ClientHost,
  at: number,
  more: Partial<Job> = {},
  { agentId, repeats = chance.in(0.2) ? 1 : 0 }: Asked = {},
): void {
  const number = universe.ledger.jobs.length;
  const job = newJob(universe, chance, caller, "task", {
    ...(chance.in(0.4) && { idempotencyKey: `task-${number}` }),
    ...(chance.in(0.35) && { orderKey: `${caller.host}-${chance.int(0, 2)}` }),
    atMostOnce: chance.in(0.1),
    ...more,
  });
  const asked = {
    completionTimeoutMs: chance.pick([1_500, 4_000, 8_000]),
    deadlineMs: chance.pick([5_000, 20_000, 40_000]),
    onStalled: chance.pick(["review", "redeliver", "redeliver", "fail"] as const),
  };
  // What lies for a person keeps its group open, so nobody who audits the end could tell that from a group miscounted.
  const inGroup = job.id % 2 === 0 && !job.atMostOnce && asked.onStalled !== "review";
  const submit = (messageId: string, other: boolean) => {
    const { process, client } = caller;
    if (process === undefined || !process.alive || client === undefined) return;
    const send = sent(universe.ledger, job, "submit", process, 30_000, { messageId, other });
    universe.ledger.tell(
      process.name,
      `submits ${job.capability}${other ? " with other content" : ""} as ${messageId}`,
      job,
    );
    const envelope = {
      messageId,
      ...(agentId !== undefined && { target: { agentId } }),
      capability: job.capability,
      input: { job: job.id, ...(other && { other }) } satisfies Input,
      ...(job.idempotencyKey !== undefined && { idempotencyKey: job.idempotencyKey }),
      ...(job.orderKey !== undefined && { ordering: { key: job.orderKey, mode: "sequence" as const } }),
      ...(job.atMostOnce && { delivery: "atMostOnce" as const }),
      ...job.wishes,
      ...asked,
    };
    const handle = inGroup ? submitAsMany(client, `group of ${caller.host}`, envelope) : client.submit(envelope);
    void handle.accepted.then((outcome) => {
      send.answer = answerOf(universe.ledger, outcome);
      tellAnswer(universe, send, send.answer);
    });
    void handle.result().then((outcome) => {
      send.result = answerOf(universe.ledger, outcome);
      universe.ledger.tell(process.name, `hears the end: ${outcome.state ?? outcome.errorCode}`, job);
    });
    if (!other && chance.in(0.05)) {
      process.after(chance.between(0, 3_000), () => {
        if (send.result !== undefined) return;
        job.canceled = true;
        universe.ledger.tell(process.name, "cancels", job);
        handle.cancel("the caller thought better of it").catch(() => {});
      });
    }
  };
  again.set(job, () => submit(job.messageId, false));
  within(universe, caller, at, () => submit(job.messageId, false));
  for (let i = 0; i < repeats; i++) {
    const messageId = job.idempotencyKey !== undefined && chance.in(0.5) ? idOf(chance) : job.messageId;
    universe.ledger.alias(messageId, job);
    within(universe, caller, at + chance.between(0, 4_000), () => submit(messageId, false));
  }
  if (job.idempotencyKey !== undefined && chance.in(0.1)) {
    const messageId = idOf(chance);
    universe.ledger.alias(messageId, job);
    within(universe, caller, at + chance.between(0, 4_000), () => submit(messageId, true));
  }
}

/** How to submit a task once more. */
const again = new WeakMap<Job, () => void>();

/** A caller who was restarted asks for what he does not know the end of: again, or only what became of it. */
function comeBack(universe: Universe, chance: Chance, host: ClientHost): void {
  const { ledger } = universe;
  for (const job of ledger.jobs) {
    if (job.kind !== "task" || job.caller !== host.host || job.sends.length === 0) continue;
    if (job.sends.some(({ result, answer }) => result !== undefined || answer?.ok === false)) continue;
    const known = job.sends.find(({ answer }) => answer?.ok === true);
    if (known === undefined || chance.in(0.5)) {
      again.get(job)!();
      continue;
    }
    const { process, client } = host;
    const { messageId } = known.answer!;
    const send = sent(ledger, job, "follow", process!, Number.POSITIVE_INFINITY, { messageId });
    ledger.tell(process!.name, "follows", job);
    void client!
      .task(messageId)
      .result()
      .then((outcome) => {
        send.result = answerOf(ledger, outcome);
        ledger.tell(process!.name, `hears the end: ${outcome.state ?? outcome.errorCode}`, job);
      });
  }
}

/** At this moment, if somebody is there and not asleep; whoever sleeps does it when he wakes. */
export function within(universe: Universe, host: ClientHost, at: number, run: () => void): void {
  universe.world.at(at, () => host.process?.enter(run));
}

function tellAnswer(universe: Universe, send: Send, answer: NonNullable<Send["answer"]>): void {
  const what = answer.ok
    ? `is answered ${JSON.stringify(answer.data) ?? ""}`
    : `is refused: ${answer.code}, ${answer.outcome}`;
  universe.ledger.tell(send.process.name, what, send.job);
}
