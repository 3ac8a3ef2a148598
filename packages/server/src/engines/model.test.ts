import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { newAgent, newEvent, newInstance, newTask } from "../ports/conformance/samples.js";
import { OVERDUE, type TaskFilter, type TaskStore } from "../ports/task-store.js";
import type { Engine } from "./engine.js";
import { openMemory } from "./memory/index.js";
import { openSqlite } from "./sqlite/index.js";
import { isTerminal } from "./task-states.js";

const id = fc.constantFrom("m-0", "m-1", "m-2", "m-3", "m-4", "m-5", "m-6", "m-7");
const key = fc.option(fc.oneof(fc.constantFrom("k-0", "k-1"), id), { nil: undefined });
const lane = fc.constantFrom("a", "b");
const state = fc.constantFrom(
  ...([
    "queued",
    "queued",
    "queued",
    "delivered",
    "working",
    "stalled",
    "completed",
    "failed",
    "canceled",
    "dead",
  ] as const),
);
const moment = fc.integer({ min: 0, max: 9 });
const orderKey = fc.option(fc.constantFrom("o-0", "o-1"), { nil: undefined });
const text = fc.constantFrom("1.0", '"x"', JSON.stringify("y".repeat(1_500)));
const filter: fc.Arbitrary<TaskFilter> = fc.record(
  {
    states: fc.subarray(["queued", "delivered", "stalled", "completed", "dead"] as const),
    capability: fc.constantFrom("a", "b"),
    principal: fc.constantFrom("p", "q"),
    groupId: fc.constantFrom("g"),
    traceId: fc.constantFrom("t-0", "t-1"),
    instanceId: fc.constantFrom("i-0"),
    since: moment,
    notify: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** One step, done alike on either engine; what it answers is compared. */
type Step<S> = (store: S) => Promise<unknown>;

const insert: fc.Arbitrary<Step<TaskStore>> = fc
  .record({
    id,
    key,
    lane,
    state,
    moment,
    deadline: moment,
    orderKey,
    sequence: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
    principal: fc.constantFrom("p", "q"),
    grouped: fc.boolean(),
    trace: fc.constantFrom("t-0", "t-1"),
    text,
  })
  .map(
    (given): Step<TaskStore> =>
      (store) => {
        const ended = isTerminal(given.state);
        const { request } = newTask();
        return store.insert(
          newTask({
            request: given.sequence === undefined ? request : { ...request, sequence: given.sequence },
            messageId: given.id,
            idempotencyKey: given.key ?? given.id,
            lane: given.state === "queued" ? given.lane : OVERDUE,
            capability: given.lane,
            state: given.state,
            dueAt: ended ? undefined : given.moment,
            settledAt: ended ? given.moment : undefined,
            deadlineAt: given.deadline,
            orderKey: given.orderKey,
            principal: given.principal,
            groupId: given.grouped ? "g" : undefined,
            traceId: given.trace,
            createdAt: given.moment,
            input: given.text,
          }),
        );
      },
  );

const update: fc.Arbitrary<Step<TaskStore>> = fc
  .record({
    id,
    lane,
    state,
    moment,
    stale: fc.integer({ min: 0, max: 5 }),
    notify: fc.boolean(),
    placed: fc.boolean(),
    data: fc.option(text, { nil: undefined }),
  })
  .map(
    (given): Step<TaskStore> =>
      async (store) => {
        const task = await store.get(given.id);
        if (!task) return undefined;
        const ended = isTerminal(given.state);
        return store.update(
          {
            ...task,
            // One in six knows an older revision.
            revision: given.stale === 0 ? task.revision - 1 : task.revision,
            state: given.state,
            lane: given.state === "queued" ? given.lane : OVERDUE,
            dueAt: ended || given.state === "stalled" ? undefined : given.moment,
            settledAt: ended ? given.moment : undefined,
            instanceId: given.placed ? "i-0" : undefined,
            notify: given.notify,
            attempt: task.attempt + 1,
          },
          given.data,
        );
      },
  );

const claim: fc.Arbitrary<Step<TaskStore>> = fc
  .record({ lane: fc.constantFrom("a", "b", OVERDUE), now: moment, limit: fc.integer({ min: 1, max: 4 }) })
  .map(
    (claim): Step<TaskStore> =>
      (store) =>
        store.claimDue(claim),
  );

const release: fc.Arbitrary<Step<TaskStore>> = fc.array(id, { maxLength: 4 }).map(
  (ids): Step<TaskStore> =>
    async (store) =>
      store.release(ids),
);

const list: fc.Arbitrary<Step<TaskStore>> = fc
  .record({
    filter,
    limit: fc.integer({ min: 1, max: 5 }),
    after: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
    order: fc.constantFrom("newest" as const, "oldest" as const),
  })
  .map(
    ({ filter, ...page }): Step<TaskStore> =>
      (store) =>
        store.list(filter, page as { limit: number }),
  );

const trim: fc.Arbitrary<Step<TaskStore>> = fc.record({ before: moment, limit: fc.integer({ min: 1, max: 3 }) }).map(
  ({ before, limit }): Step<TaskStore> =>
    (store) =>
      store.trim(before, limit),
);

const counts: fc.Arbitrary<Step<TaskStore>> = fc.constant<Step<TaskStore>>(async (store) => {
  const counts = await store.counts();
  const order = (row: { lane: string; capability: string }) => row.lane + row.capability;
  return { ...counts, lanes: counts.lanes.sort((x, y) => order(x).localeCompare(order(y))) };
});

const lastEnded: fc.Arbitrary<Step<TaskStore>> = fc.constantFrom("o-0", "o-1").map(
  (orderKey): Step<TaskStore> =>
    (store) =>
      store.lastEnded(orderKey),
);

const taskStep = fc.oneof(
  { weight: 3, arbitrary: insert },
  { weight: 4, arbitrary: update },
  { weight: 3, arbitrary: claim },
  { weight: 1, arbitrary: release },
  { weight: 2, arbitrary: list },
  { weight: 1, arbitrary: trim },
  { weight: 1, arbitrary: counts },
  { weight: 1, arbitrary: lastEnded },
);

const registryKey = fc.constantFrom("r-0", "r-1", "r-2");
const registryStep: fc.Arbitrary<Step<Engine["registry"]>> = fc.oneof(
  fc
    .array(
      fc.record({
        key: registryKey,
        agent: fc.boolean(),
        expected: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
        epoch: moment,
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map(
      (puts): Step<Engine["registry"]> =>
        (store) =>
          store.put(
            puts.map(({ key, agent, expected, epoch }) => ({
              record: agent ? { ...newAgent(key), version: epoch } : { ...newInstance(key), epoch },
              ...(expected === undefined ? {} : { expected }),
            })),
          ),
    ),
  fc.record({ key: registryKey, revision: fc.integer({ min: 1, max: 8 }) }).map(
    ({ key, revision }): Step<Engine["registry"]> =>
      (store) =>
        store.remove("instance", key, revision),
  ),
  fc.constant<Step<Engine["registry"]>>((store) => store.list("instance")),
  fc.constant<Step<Engine["registry"]>>((store) => store.list("agent", { prefix: "default/r-1" })),
  fc.constant<Step<Engine["registry"]>>((store) => store.revision()),
);

const journalStep: fc.Arbitrary<(journal: Engine["journal"], next: () => number) => Promise<unknown>> = fc.oneof(
  fc
    .array(fc.option(fc.constantFrom("m-0", "m-1", "m-2"), { nil: undefined }), { maxLength: 12 })
    .map(
      (messages) => (journal: Engine["journal"], next: () => number) =>
        journal.append(
          messages.map((messageId) =>
            newEvent(next(), messageId ? { messageId, traceId: messageId === "m-2" ? "t-1" : "t-0" } : {}),
          ),
        ),
    ),
  fc.record({ id: fc.integer({ min: 0, max: 60 }), limit: fc.integer({ min: 1, max: 9 }) }).map(
    ({ id, limit }) =>
      (journal: Engine["journal"]) =>
        journal.since(id, limit),
  ),
  fc.constantFrom("m-0", "m-2").map((messageId) => (journal: Engine["journal"]) => journal.byMessage(messageId)),
  fc.constant((journal: Engine["journal"]) => journal.byTrace("t-0")),
  fc.record({ before: fc.integer({ min: 0, max: 40 }), keep: fc.integer({ min: 0, max: 30 }) }).map(
    ({ before, keep }) =>
      (journal: Engine["journal"]) =>
        journal.trim(before * 1_000, keep),
  ),
  fc.constant((journal: Engine["journal"]) => journal.lastId()),
);

describe("sqlite and memory answer alike", () => {
  const open: { engine: Engine; directory: string }[] = [];
  afterEach(async () => {
    for (const { engine, directory } of open.splice(0)) {
      await engine.close();
      rmSync(directory, { recursive: true });
    }
  });
  async function openBoth(): Promise<[Engine, Engine]> {
    const directory = mkdtempSync(join(tmpdir(), "reach-"));
    const engine = await openSqlite(directory);
    open.push({ engine, directory });
    return [await openMemory(), engine];
  }

  test("TS1 to TS7 under random sequences of inserts, updates, claims, lists and trims", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(taskStep, { minLength: 40, maxLength: 120, size: "max" }), async (steps) => {
        const [memory, sqlite] = await openBoth();
        for (const step of steps) expect(await step(sqlite.tasks)).toEqual(await step(memory.tasks));
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  test("RS1, RS2 and RS4 under random sequences of puts and removals", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(registryStep, { minLength: 5, maxLength: 30, size: "max" }), async (steps) => {
        const [memory, sqlite] = await openBoth();
        const heard: unknown[][] = [[], []];
        await memory.registry.watch((change) => heard[0]!.push(change));
        await sqlite.registry.watch((change) => heard[1]!.push(change));
        for (const step of steps) expect(await step(sqlite.registry)).toEqual(await step(memory.registry));
        expect(heard[1]).toEqual(heard[0]);
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  test("J1, J2 and J3 under random sequences of batches, pages and trims", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(journalStep, { minLength: 5, maxLength: 40, size: "max" }), async (steps) => {
        const [memory, sqlite] = await openBoth();
        const counter = () => {
          let last = 0;
          return () => ++last;
        };
        const [one, two] = [counter(), counter()];
        for (const step of steps) expect(await step(sqlite.journal, two)).toEqual(await step(memory.journal, one));
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
