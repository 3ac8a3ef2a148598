import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
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
    first.link.next().fail({ code: "OUT_OF_STOCK", message: "none left" });
    await rooms.pass(0);
    stand.link.next().fail({ code: "OUT_OF_STOCK", message: "none here either" });
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
    first.link.next().fail({ code: "OUT_OF_STOCK", message: "none left" });
    await rooms.pass(0);
    stand.link.next().fail({ code: "OUT_OF_STOCK", message: "none here either" });
    await rooms.pass(0);
    expect(await shape(id)).toMatchObject({ state: "failed", error: { code: "AGENT_ERROR" } });
    await rooms.tasks.requeue([id]);
    await rooms.pass(0);
    await rooms.complete(first, first.link.next());
    expect(await shape(id)).toMatchObject({ state: "completed", agentId: "first" });
  });

  test("nobody who could stand in is known either: it is refused as before", async () => {
    await expect(submit()).rejects.toMatchObject({ code: "NO_ROUTE" });
  });
});
