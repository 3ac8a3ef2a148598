import { beforeEach, describe, expect, test } from "vitest";
import { anyone, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { taskText } from "./text.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});

const join = (id: string, name: string, more = {}): Promise<FakeAgent> => rooms.join(card(id, [{ name }], more));
const submit = async (more = {}): Promise<string> => {
  const reply = await rooms.submit({ capability: "fast", fallback: ["slow"], input: {}, ...more });
  if (reply.errors[0] !== undefined) throw reply.errors[0];
  return reply.results[0]!["messageId"] as string;
};
const shape = async (id: string) => JSON.parse(taskText(await rooms.task(id), { input: false }));

/** Whom the task is for says no, and so does whoever stands in for that. */
const nobodyHasAny = async (first: FakeAgent, stand: FakeAgent): Promise<void> => {
  first.link.next().fail({ code: "OUT_OF_STOCK", message: "none left" });
  await rooms.pass(0);
  stand.link.next().fail({ code: "OUT_OF_STOCK", message: "none here either" });
};

describe("RES-9: somebody stands in for a task", () => {
  test("when nobody offers it; the task says that it is degraded, and the attempt who stood in", async () => {
    const stand = await join("stand", "slow");
    const id = await submit();
    await rooms.pass(0);
    expect(JSON.parse(stand.link.deliveries[0]!.message.envelope)).toMatchObject({ capability: "slow", kind: "task" });
    await rooms.complete(stand, stand.link.next());
    expect(await shape(id)).toMatchObject({
      state: "completed",
      degraded: true,
      agentId: "stand",
      attempts: [{ standIn: "slow" }],
    });
  });

  test("not while those it is for are able", async () => {
    const first = await join("first", "fast");
    await join("stand", "slow");
    const id = await submit();
    await rooms.pass(0);
    await rooms.complete(first, first.link.next());
    const task = await shape(id);
    expect(task.state).toBe("completed");
    expect(task.degraded).toBeUndefined();
  });

  test("when all are busy, and if nobody is free, whoever becomes free first", async () => {
    const first = await join("first", "fast", { maxConcurrentTasks: 1 });
    const stand = await join("stand", "slow", { maxConcurrentTasks: 1 });
    await submit();
    await submit();
    const third = await submit();
    await rooms.pass(0);
    expect([first.link.waiting, stand.link.waiting]).toEqual([1, 1]);
    await rooms.complete(stand, stand.link.next());
    await rooms.pass(1_100);
    await rooms.complete(stand, stand.link.next());
    expect(await shape(third)).toMatchObject({ state: "completed", degraded: true });
  });

  test("after a business error that is listed; if they fail as well, it fails with what the last of them said", async () => {
    const first = await join("first", "fast");
    const stand = await join("stand", "slow");
    const id = await submit({ fallbackOn: ["OUT_OF_STOCK"] });
    await rooms.pass(0);
    await nobodyHasAny(first, stand);
    await rooms.pass(0);
    const task = await shape(id);
    expect(task).toMatchObject({ state: "failed", error: { code: "AGENT_ERROR" } });
    expect(task.attempts.map((a: { outcome: string }) => a.outcome)).toEqual(["passed_on", "failed"]);
    expect(first.link.deliveries).toHaveLength(1);
  });

  test("after a business error that is not listed nobody does", async () => {
    const first = await join("first", "fast");
    await join("stand", "slow");
    const id = await submit({ fallbackOn: ["OUT_OF_STOCK"] });
    await rooms.pass(0);
    first.link.next().fail({ code: "OTHER", message: "no" });
    await rooms.pass(0);
    expect(await shape(id)).toMatchObject({ state: "failed", attempt: 1 });
  });

  test("when their retries are spent", async () => {
    const first = await join("first", "fast");
    const stand = await join("stand", "slow");
    first.link.handler = (delivery) => delivery.refuse("BROKEN");
    const id = await submit();
    stand.link.handler = (delivery) => delivery.complete("ok");
    await rooms.pass(60_000);
    expect(first.link.deliveries.length).toBeGreaterThan(1);
    expect(stand.link.deliveries).toHaveLength(1);
    expect(await shape(id)).toMatchObject({ state: "completed", degraded: true });
  });

  test("one that is left with nobody who could stand in any more fails with what the first said, and can be requeued", async () => {
    const first = await join("first", "fast");
    const stand = await join("stand", "slow", { maxConcurrentTasks: 1 });
    const id = await submit({ fallbackOn: ["OUT_OF_STOCK"], fallback: ["slow", "nobody-at-all"] });
    await rooms.pass(0);
    await nobodyHasAny(first, stand);
    await rooms.pass(0);
    expect(await shape(id)).toMatchObject({ state: "failed", error: { code: "AGENT_ERROR" } });
    await rooms.tasks.requeue([id]);
    await rooms.pass(0);
    await rooms.complete(first, first.link.next());
    expect(await shape(id)).toMatchObject({ state: "completed", agentId: "first" });
  });

  test("one that is requeued when its stand-in was canceled is degraded if that one succeeds after all", async () => {
    const stand = await join("stand", "slow");
    const id = await submit();
    await rooms.pass(0);
    await rooms.tasks.cancel(anyone, id, "never mind");
    const first = await join("first", "fast");
    await rooms.tasks.requeue([id]);
    await rooms.pass(0);
    expect(first.link.deliveries).toHaveLength(1);
    await rooms.complete(stand, stand.link.deliveries[0]!);
    expect(await shape(id)).toMatchObject({ state: "completed", agentId: "stand", degraded: true });
  });

  test("one that is requeued when its stand-in was silent goes to those it is for, and is degraded if the silent one succeeds", async () => {
    const stand = await join("stand", "slow");
    const id = await submit({ deadlineMs: 4_000 });
    await rooms.pass(30_000);
    expect(await shape(id)).toMatchObject({ state: "dead" });
    const first = await join("first", "fast");
    await rooms.tasks.requeue([id]);
    await rooms.pass(0);
    expect(first.link.deliveries).toHaveLength(1);
    await rooms.complete(stand, stand.link.deliveries.at(-1)!);
    expect(await shape(id)).toMatchObject({ state: "completed", agentId: "stand", degraded: true });
  });

  test("one that is requeued does not end with what was said before, and whether it was done is in doubt", async () => {
    const first = await join("first", "fast");
    const stand = await join("stand", "slow");
    const id = await submit({ fallbackOn: ["OUT_OF_STOCK"] });
    await rooms.pass(0);
    await nobodyHasAny(first, stand);
    await rooms.cut(first);
    await rooms.pass(0);
    await rooms.tasks.requeue([id]);
    await rooms.pass(60_000);
    const { error, state } = await rooms.task(id);
    expect([state, error]).toMatchObject(["dead", { outcome: "unknown" }]);
    expect(stand.link.deliveries).toHaveLength(2);
  });

  test("nobody who could stand in is known either: it is refused as before", async () => {
    await expect(submit()).rejects.toMatchObject({ code: "NO_ROUTE" });
  });
});

describe("RES-8: nobody stands in for what is part of its own work", () => {
  const input = { order: 7 };
  const part = (parentId: string, more = {}) => submit({ parentId, input, ...more });
  const working = async (agent: FakeAgent): Promise<string> => {
    await rooms.pass(0);
    const delivery = agent.link.next();
    delivery.accept();
    await rooms.pass(0);
    return delivery.message.messageId;
  };

  test("neither for a task of a task, by the name of its capability or of its agent", async () => {
    const stand = await join("stand", "slow");
    await submit({ capability: "slow", input });
    const parent = await working(stand);
    for (const fallback of [["slow"], ["stand"]]) {
      const id = await part(parent, { fallback });
      await rooms.pass(0);
      expect(await shape(id)).toMatchObject({ state: "dead", attempts: [] });
    }
    expect(stand.link.deliveries).toHaveLength(1);
  });

  test("nor for one of a call, nor deeper in the chain", async () => {
    const stand = await join("stand", "slow");
    const between = await join("between", "other");
    rooms.call({ capability: "slow", input });
    const call = await working(stand);
    const inside = await part(call);
    await rooms.pass(0);
    expect(await rooms.state(inside)).toBe("dead");
    await part(call, { capability: "other" });
    const deeper = await part(await working(between));
    await rooms.pass(0);
    expect(await rooms.state(deeper)).toBe("dead");
    expect(stand.link.deliveries).toHaveLength(1);
  });

  test("the next in the list does; and so does the same one for another input, or when its own work is over", async () => {
    const stand = await join("stand", "slow");
    const next = await join("next", "slower");
    await submit({ capability: "slow", input });
    const parent = await working(stand);
    const passed = await part(parent, { fallback: ["slow", "slower"] });
    const other = await part(parent, { input: { order: 8 } });
    await rooms.pass(0);
    await rooms.complete(next, next.link.next());
    await rooms.complete(stand, stand.link.next());
    expect(await shape(passed)).toMatchObject({ state: "completed", agentId: "next", degraded: true });
    expect(await shape(other)).toMatchObject({ state: "completed", agentId: "stand", degraded: true });
    await rooms.complete(stand, stand.link.deliveries[0]!);
    const after = await part(parent);
    await rooms.pass(0);
    await rooms.complete(stand, stand.link.next());
    expect(await shape(after)).toMatchObject({ state: "completed", agentId: "stand" });
  });
});
