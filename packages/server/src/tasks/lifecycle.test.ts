import type { ErrorBody, TaskState } from "@agent-reach/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newTask } from "../ports/conformance/samples.js";
import { OVERDUE, type TaskRecord, type TaskRequest } from "../ports/task-store.js";
import { isTerminal, type TaskEvent, transition } from "./lifecycle.js";

const error: ErrorBody = { code: "TIMEOUT", message: "late", retryable: false, outcome: "unknown" };
const lane = "query_order";
const started = (request: Partial<TaskRequest> = {}): TaskRecord => {
  const task = newTask();
  return { ...task, seq: 1, revision: 1, request: { ...task.request, sessionId: "s1", ...request } };
};

/** `ago`: how many attempts before the newest one is meant; -1 is one that does not exist yet. */
type Draft = (attempt: number, now: number) => TaskEvent;
const ago = fc.constantFrom(0, 0, 0, 0, 1, 2, -1);
const kinds: Record<TaskEvent["type"], fc.Arbitrary<Draft>> = {
  sent: fc.constant((_, now) => ({ type: "sent", agentId: "a", instanceId: "i", epoch: 1, ackBy: now + 5_000 })),
  accepted: fc.constant((attempt, now) => ({ type: "accepted", attempt, doneBy: now + 600_000 })),
  completed: fc.constant((attempt) => ({ type: "completed", attempt, receipt: undefined })),
  failed: fc.constant((attempt) => ({
    type: "failed",
    attempt,
    error,
    agentError: { code: "NO" },
    receipt: undefined,
  })),
  passedOn: fc.constant((attempt) => ({ type: "passedOn", attempt, agentError: { code: "NO" } })),
  refused: fc
    .option(fc.nat(1_000))
    .map((wait) => (attempt, now) => ({ type: "refused", attempt, at: wait === null ? undefined : now + wait })),
  unacknowledged: fc
    .tuple(fc.constantFrom("no_ack" as const, "refused" as const), fc.boolean())
    .map(([outcome, spent]) => (attempt, now) => ({
      type: "unacknowledged",
      attempt,
      outcome,
      retryAt: spent ? undefined : now + 1_000,
      error,
    })),
  lost: fc.boolean().map((counts) => (attempt) => ({ type: "lost", attempt, counts, lossesMax: 2, error })),
  handedBack: fc.constant((attempt) => ({ type: "handedBack", attempt })),
  overdue: fc.constant((attempt) => ({ type: "overdue", attempt, error })),
  died: fc.constant(() => ({ type: "died", error })),
  canceled: fc.constant(() => ({ type: "canceled", error })),
  deferred: fc.nat(1_000).map((wait) => (_, now) => ({ type: "deferred", until: now + wait })),
  requeued: fc.constant((_, now) => ({ type: "requeued", deadlineAt: now + 1_000_000 })),
  discarded: fc.constant(() => ({ type: "discarded", error })),
  acknowledged: fc.constant(() => ({ type: "acknowledged" })),
};
const step = fc.tuple(
  ago,
  fc.oneof(
    { weight: 6, arbitrary: kinds.sent },
    { weight: 4, arbitrary: kinds.accepted },
    ...Object.values(kinds).map((arbitrary) => ({ weight: 1, arbitrary })),
  ),
);
const request = fc.record({
  delivery: fc.constantFrom("atLeastOnce" as const, "atMostOnce" as const),
  onStalled: fc.constantFrom("review" as const, "redeliver" as const, "fail" as const),
});

interface Turn {
  before: TaskRecord;
  after: TaskRecord;
  event: TaskEvent;
  refused: string | undefined;
  now: number;
}

/** What a random life must show at each turn. */
function always(see: (turn: Turn, past: readonly Turn[]) => void): void {
  fc.assert(
    fc.property(request, fc.array(step, { maxLength: 50 }), (asked, steps) => {
      let task = started(asked);
      const past: Turn[] = [];
      steps.forEach(([back, draft], i) => {
        const now = 10_000 + i * 100;
        const event = draft(task.attempt - back, now);
        const before = structuredClone(task);
        const outcome = transition(task, event, now, lane);
        expect(task).toEqual(before);
        if (outcome.ok) task = outcome.task;
        const turn = { before, after: task, event, refused: outcome.ok ? undefined : outcome.reason, now };
        see(turn, past);
        past.push(turn);
      });
    }),
    { numRuns: 300 },
  );
}

describe("DLV-15: the life of a task, under random events", () => {
  test("only the drawn transitions happen", () => {
    const drawn: Record<TaskState, TaskState[]> = {
      queued: ["delivered", "dead", "canceled", "completed"],
      delivered: ["working", "queued", "completed", "failed", "dead", "stalled", "canceled"],
      working: ["queued", "completed", "failed", "dead", "stalled", "canceled"],
      stalled: ["queued", "completed", "failed", "canceled"],
      completed: [],
      failed: ["queued", "canceled"],
      canceled: ["queued"],
      dead: ["queued", "canceled"],
    };
    always(({ before, after }) => {
      if (before.state !== after.state) expect(drawn[before.state]).toContain(after.state);
    });
  });

  test("T1: terminal states change by an operator alone, and `completed` by nobody", () => {
    always(({ before, after, event }) => {
      if (!isTerminal(before.state) || before.state === after.state) return;
      expect(before.state).not.toBe("completed");
      expect(["requeued", "discarded"]).toContain(event.type);
    });
  });

  test("T2: open tasks have a moment at which somebody looks again, terminal and stalled ones have none", () => {
    always(({ after }) => {
      expect(after.dueAt === undefined).toBe(isTerminal(after.state) || after.state === "stalled");
      expect(after.settledAt === undefined).toBe(!isTerminal(after.state));
      expect(after.lane).toBe(after.state === "queued" ? lane : OVERDUE);
    });
  });

  test("T3, DLV-17: attempt numbers rise by one and are never used twice, also over a requeue", () => {
    always(({ before, after, event, refused }) => {
      const sent = event.type === "sent" && refused === undefined;
      expect(after.attempt).toBe(before.attempt + (sent ? 1 : 0));
      const numbers = after.attempts.map((a) => a.attempt);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      if (sent) expect(after.attempts.at(-1)).toMatchObject({ attempt: after.attempt, outcome: "pending" });
    });
  });

  test("T4: only the newest attempt's word counts, except that any attempt's success settles an open task, once", () => {
    always(({ before, after, event, refused }) => {
      if (!("attempt" in event)) return;
      const known = before.attempts.some((a) => a.attempt === event.attempt);
      if (event.type === "completed") {
        expect(refused).toBe(isTerminal(before.state) ? "SETTLED" : known ? undefined : "STALE_ATTEMPT");
        if (refused === undefined) expect(after.state).toBe("completed");
      } else if (isTerminal(before.state)) expect(refused).toBe("SETTLED");
      else if (event.attempt !== before.attempt) expect(refused).toBe("STALE_ATTEMPT");
      if (refused !== undefined) expect(after).toEqual(before);
    });
  });

  test("T5: what is counted, and what is free", () => {
    always(({ before, after, event, refused }) => {
      if (refused !== undefined || event.type === "requeued") return;
      const failures = after.deliveryFailures - before.deliveryFailures;
      const losses = after.losses - before.losses;
      expect(losses).toBe(event.type === "lost" && event.counts && before.request.delivery === "atLeastOnce" ? 1 : 0);
      if (failures !== 0) expect(["unacknowledged", "overdue"]).toContain(event.type);
      if (event.type === "lost" && after.state === "dead") expect(event.counts).toBe(true);
    });
  });

  /** They say nothing of whether it was executed. */
  const silent: ReadonlySet<TaskEvent["type"]> = new Set(["acknowledged", "deferred"]);

  test("T6: at most once means that nothing is sent after an unknown outcome, unless an operator says so", () => {
    always(({ before, event, refused, after }, past) => {
      if (before.request.delivery !== "atMostOnce" || event.type !== "sent" || refused !== undefined) return;
      const last = past.filter((t) => t.refused === undefined && !silent.has(t.event.type)).at(-1);
      if (last === undefined || last.event.type === "requeued") return;
      // What came before was surely not executed, or ended in a no after which somebody else is to be asked.
      expect(["refused", "handedBack", "unacknowledged", "passedOn"]).toContain(last.event.type);
      if (last.event.type === "unacknowledged") expect(last.event.outcome).toBe("refused");
      expect(after.state).toBe("delivered");
    });
  });

  test("T7: work that comes back from a loss or a hand-back stands where it stood when it was new", () => {
    always(({ before, after, event, refused }) => {
      if (refused !== undefined || after.state !== "queued") return;
      if (event.type === "lost" || event.type === "handedBack" || event.type === "overdue")
        expect(after.dueAt).toBe(before.createdAt);
    });
  });

  test("the submitter is told of each end, and not before", () => {
    always(({ before, after, event, refused }) => {
      if (refused !== undefined || event.type === "acknowledged") return;
      if (!isTerminal(after.state)) expect(after.notify).toBe(isTerminal(before.state) ? false : before.notify);
      else if (!isTerminal(before.state)) expect(after.notify).toBe(true);
    });
  });
});

describe("single steps", () => {
  const play = (request: Partial<TaskRequest>, ...events: TaskEvent[]): TaskRecord => {
    let task = started(request);
    for (const event of events) {
      const outcome = transition(task, event, 50_000, lane);
      if (!outcome.ok) throw new Error(`${event.type}: ${outcome.reason}`);
      task = outcome.task;
    }
    return task;
  };
  const sent: TaskEvent = { type: "sent", agentId: "a", instanceId: "i", epoch: 1, ackBy: 55_000 };
  const accepted = (attempt = 1): TaskEvent => ({ type: "accepted", attempt, doneBy: 650_000 });
  const lost = (attempt: number, counts = true): TaskEvent => ({ type: "lost", attempt, counts, lossesMax: 2, error });

  test("T2: dueAt is the ack's moment, then the receipt's, then none", () => {
    expect(play({}, sent)).toMatchObject({ state: "delivered", dueAt: 55_000 });
    expect(play({}, sent, accepted())).toMatchObject({
      state: "working",
      dueAt: 650_000,
      attempts: [{ acceptedAt: 50_000 }],
    });
    expect(play({}, sent, { type: "completed", attempt: 1, receipt: undefined })).toMatchObject({
      state: "completed",
      dueAt: undefined,
      settledAt: 50_000,
      attempts: [{ outcome: "completed", endedAt: 50_000 }],
    });
  });

  test("DLV-8: losses of instances end in a dead letter after their limit, losses of the node never do", () => {
    expect(play({}, sent, lost(1), sent, lost(2))).toMatchObject({ state: "queued", losses: 2, deliveryFailures: 0 });
    expect(play({}, sent, lost(1), sent, lost(2), sent, lost(3))).toMatchObject({ state: "dead", losses: 3 });
    const free = Array.from({ length: 20 }, (_, i) => [sent, lost(i + 1, false)]).flat();
    expect(play({}, ...free)).toMatchObject({ state: "queued", losses: 0, attempt: 20 });
  });

  test("DLV-9: overdue work is kept for review, sent again or failed, as it asked", () => {
    const overdue: TaskEvent = { type: "overdue", attempt: 1, error };
    expect(play({ onStalled: "review" }, sent, accepted(), overdue).state).toBe("stalled");
    expect(play({ onStalled: "redeliver" }, sent, accepted(), overdue)).toMatchObject({
      state: "queued",
      deliveryFailures: 1,
    });
    expect(play({ onStalled: "fail" }, sent, accepted(), overdue)).toMatchObject({ state: "failed", error });
    expect(play({ onStalled: "redeliver", delivery: "atMostOnce" }, sent, accepted(), overdue).state).toBe("stalled");
  });

  test("a requeue gives all retries back and forgets the failure, but no attempt number", () => {
    const dead = play({}, sent, lost(1), sent, lost(2), sent, lost(3), { type: "requeued", deadlineAt: 900_000 });
    expect(dead).toMatchObject({ state: "queued", losses: 0, deliveryFailures: 0, attempt: 3, error: undefined });
    expect(dead).toMatchObject({ dueAt: 50_000, deadlineAt: 900_000, settledAt: undefined });
  });

  test("attempts are described up to a limit, the newest kept", () => {
    const many = Array.from({ length: 80 }, (_, i) => [sent, lost(i + 1, false)]).flat();
    const task = play({}, ...many);
    expect(task.attempts).toHaveLength(50);
    expect(task.attempts.at(-1)!.attempt).toBe(80);
  });
});
