import { ReachError } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { anyone, callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { FanOut } from "../../../../test/kit/fan-out.js";

let rooms: FakeRooms;
let agent: FakeAgent;
let fanOut: FanOut;
const strict = { name: "strict", inputSchema: { type: "object", required: ["id"] } };
const open = async (options: Parameters<typeof FakeRooms.open>[0] = {}): Promise<void> => {
  rooms = await FakeRooms.open(options);
  fanOut = new FanOut(rooms);
  agent = await rooms.join(card("a1", ["query", strict], { maxConcurrentTasks: 100 }));
};
beforeEach(() => open());
const uuid = (n: number): string => `0199a5c2-6f0e-7c11-9b1e-${String(n).padStart(12, "0")}`;
const stored = () => rooms.engine.tasks.list({}, { limit: 1_000, order: "oldest" });
const item = (n: number, more: object = {}) => ({ messageId: uuid(n), capability: "query", input: { n }, ...more });

describe("DLV-21: many tasks in one request", () => {
  test("are answered in their order when all are stored, under one group, and each goes out", async () => {
    const { groupId, tasks } = await fanOut.many({ tasks: [1, 2, 3].map((n) => item(n)), groupId: "friday" });
    expect(groupId).toBe("friday");
    expect(tasks).toMatchObject([1, 2, 3].map((n) => ({ messageId: uuid(n), state: "queued", duplicate: false })));
    expect((await stored()).map((task) => [task.groupId, task.input])).toEqual(
      [1, 2, 3].map((n) => ["friday", `{"n":${n}}`]),
    );
    await rooms.pass(0);
    expect(agent.link.deliveries.map(({ envelope }) => envelope.input)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test("get a group of their own if they name none, and a trace each", async () => {
    const { groupId, tasks } = await fanOut.many({ tasks: [item(1), item(2)] });
    expect(groupId).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(tasks.map(({ traceId }) => traceId)).size).toBe(2);
    expect((await stored()).map((task) => task.groupId)).toEqual([groupId, groupId]);
  });

  test("may be spelled in every way that one task may be, and their inputs are kept to the digit", async () => {
    const text = `{"tasks": [ {"subject":"query","payload":{"id":12345678901234567890}}, {"task":{"capability":"query","input": 1.50}} ]}`;
    await fanOut.many(text);
    expect((await stored()).map((task) => task.input)).toEqual(['{"id":12345678901234567890}', "1.50"]);
  });

  test.each([
    ["an input that breaks the contract", { capability: "strict", input: {} }, "INVALID_INPUT", "tasks[3].input.id"],
    ["an input of another kind", { capability: "strict", input: 5 }, "INVALID_INPUT", "tasks[3].input"],
    ["a capability nobody offers", { capability: "nothing" }, "NO_ROUTE", "tasks[3]"],
    ["nobody who is meant", { capability: undefined }, "INVALID_REQUEST", "tasks[3].capability"],
    ["a field of the wrong type", { timeoutMs: "soon" }, "INVALID_REQUEST", "tasks[3].timeoutMs"],
    ["a time that is none", { notBefore: "tomorrow" }, "INVALID_REQUEST", "tasks[3].notBefore"],
    ["another group", { groupId: "other" }, "INVALID_REQUEST", "tasks[3].groupId"],
    ["a dry run", { dryRun: true }, "INVALID_REQUEST", "tasks[3].dryRun"],
    ["an order without a key", { ordering: { mode: "barrier" } }, "INVALID_REQUEST", "tasks[3].ordering.key"],
  ])("with %s among them are refused, the one is named, and nothing is stored", async (_, more, code, path) => {
    const tasks = [item(1), item(2), item(3), item(4, more), item(5)];
    await expect(fanOut.many({ tasks, groupId: "g" })).rejects.toMatchObject({
      code,
      path,
      message: expect.stringMatching(new RegExp(`^\\[${code}\\] tasks\\[3\\]: `)),
    });
    expect(await stored()).toEqual([]);
    await rooms.pass(1_000);
    expect(agent.link.deliveries).toEqual([]);
  });

  test.each([
    ["no list", { tasks: "all" }, "tasks"],
    ["an empty list", { tasks: [] }, "tasks"],
    ["no object", { tasks: [item(1), 7] }, "tasks[1]"],
    ["a group without a name", { tasks: [item(1)], groupId: "" }, "groupId"],
  ])("are refused for %s", async (_, params, path) => {
    await expect(fanOut.many(params)).rejects.toMatchObject({ code: "INVALID_REQUEST", path });
    expect(await stored()).toEqual([]);
  });

  test("are bounded", async () => {
    const tasks = Array.from({ length: 101 }, (_, n) => item(n));
    await expect(fanOut.many({ tasks })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      path: "tasks",
      details: { tasks: 101, tasksPerRequestMax: 100 },
    });
    expect(await stored()).toEqual([]);
    expect((await fanOut.many({ tasks: tasks.slice(1) })).tasks).toHaveLength(100);
  });

  test("DLV-7: that were sent before are those which are there; the rest is taken", async () => {
    const first = await fanOut.many({ tasks: [item(1), item(2)], groupId: "g" });
    const again = await fanOut.many({ tasks: [item(1), item(2), item(3)], groupId: "g" });
    expect(again.tasks.map(({ messageId, duplicate }) => [messageId, duplicate])).toEqual([
      [uuid(1), true],
      [uuid(2), true],
      [uuid(3), false],
    ]);
    expect(again.tasks[0]!.traceId).toBe(first.tasks[0]!.traceId);
    await rooms.pass(0);
    expect(agent.link.deliveries).toHaveLength(3);
  });

  test("DLV-7: of which one had failed are tried again, that one alone", async () => {
    await fanOut.many({ tasks: [item(1), item(2)] });
    await rooms.pass(0);
    await agent.link.next().fail();
    await agent.link.next().complete();
    await settle();
    const again = await fanOut.many({ tasks: [item(1), item(2)] });
    expect(again.tasks.map(({ state, duplicate }) => [state, duplicate])).toEqual([
      ["queued", false],
      ["completed", true],
    ]);
    await rooms.pass(1_000);
    expect(agent.link.waiting).toBe(1);
    expect(agent.link.next()).toMatchObject({ attempt: 2, envelope: { messageId: uuid(1) } });
  });

  test("of which one had failed and cannot be put back, since the disk is full, are taken all the same", async () => {
    await fanOut.many({ tasks: [item(1, { idempotencyKey: "k" })] });
    await rooms.pass(0);
    await agent.link.next().fail();
    await settle();
    const { tasks } = rooms.engine;
    const { update } = tasks;
    tasks.update = () => Promise.reject(new ReachError("NOT_READY", "the disk is full."));
    const again = await fanOut.many({ tasks: [item(2), item(3, { input: { n: 1 }, idempotencyKey: "k" })] });
    expect(again.tasks).toMatchObject([
      { messageId: uuid(2), state: "queued", duplicate: false },
      { messageId: uuid(1), state: "failed", duplicate: true },
    ]);
    tasks.update = update;
    await rooms.pass(5_000);
    expect(agent.link.next().envelope.messageId).toBe(uuid(2));
  });

  test("of which one key was used for something else are refused together", async () => {
    await rooms.submit(item(2));
    const others = [item(1), item(2, { input: "else" }), item(3)];
    await expect(fanOut.many({ tasks: others })).rejects.toMatchObject({ code: "CONFLICT", path: "tasks[1]" });
    const twice = [item(5, { idempotencyKey: "k" }), item(6, { idempotencyKey: "k" })];
    await expect(fanOut.many({ tasks: twice })).rejects.toMatchObject({ code: "CONFLICT", path: "tasks[1]" });
    expect((await stored()).map(({ messageId }) => messageId)).toEqual([uuid(2)]);
  });

  test("of which one is another's are refused together", async () => {
    await rooms.submit(item(2), callerOf("shop"));
    const tasks = [item(1), item(2)];
    await expect(fanOut.many({ tasks }, callerOf("thief"))).rejects.toMatchObject({
      code: "FORBIDDEN",
      path: "tasks[1]",
    });
    expect(await stored()).toHaveLength(1);
  });

  test("wait where nobody is able, and go out in the order of their key", async () => {
    await rooms.cut(agent);
    const ordering = { key: "chat", mode: "sequence" };
    await fanOut.many({ tasks: [3, 1, 2].map((n) => item(n, { ordering, sequence: n })) });
    await rooms.pass(1_000);
    const back = await rooms.join(card("a1", ["query"]), agent.registered);
    for (const n of [1, 2, 3]) {
      await rooms.pass(100);
      expect(back.link.waiting).toBe(1);
      const delivery = back.link.next();
      expect(delivery.envelope.sequence).toBe(n);
      await delivery.complete();
    }
  });

  test("DLV-7: that were all sent before are answered, whatever stands against new work", async () => {
    await open({ limits: { messagesPerSecPerCaller: 2 } });
    const tasks = [item(1), item(2)];
    const { tasks: first } = await fanOut.many({ tasks, groupId: "g" });
    await expect(fanOut.many({ tasks: [item(3)] })).rejects.toMatchObject({ code: "RATE_LIMITED" });
    const again = first.map(({ messageId, traceId }) => ({ messageId, traceId, state: "delivered", duplicate: true }));
    expect((await fanOut.many({ tasks, groupId: "g" })).tasks).toEqual(again);
    await expect(fanOut.many({ tasks: [item(1), item(3)] })).rejects.toMatchObject({ code: "RATE_LIMITED" });
    expect(await stored()).toHaveLength(2);
  });

  test("RES-4: count by their number against a rate, which is made up for afterwards", async () => {
    await open({ limits: { messagesPerSecPerCaller: 10 } });
    const tasks = Array.from({ length: 30 }, (_, n) => item(n));
    await fanOut.many({ tasks });
    await expect(fanOut.many({ tasks: [item(50)] })).rejects.toMatchObject({ code: "RATE_LIMITED" });
    await rooms.pass(1_900);
    await expect(fanOut.many({ tasks: [item(50)] })).rejects.toMatchObject({ code: "RATE_LIMITED" });
    await rooms.pass(300);
    await fanOut.many({ tasks: [item(50)] }, anyone);
    expect(await stored()).toHaveLength(31);
  });
});
