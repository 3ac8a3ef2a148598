import { beforeEach, describe, expect, test } from "vitest";
import { anyone, callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { FanOut } from "../../../../test/kit/fan-out.js";
import { type Caller, localOperator } from "../access/access.js";

let rooms: FakeRooms;
let agent: FakeAgent;
let fanOut: FanOut;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  fanOut = new FanOut(rooms);
  agent = await rooms.join(card("a1", ["query"], { maxConcurrentTasks: 100 }));
});
const shop = { ...callerOf("shop"), sessionId: "s1" };
const items = (count: number) => Array.from({ length: count }, (_, n) => ({ capability: "query", input: n }));
const submit = async (count: number, caller: Caller = shop, groupId = "g") => {
  const { tasks } = await fanOut.many({ tasks: items(count), groupId }, caller);
  await rooms.pass(0);
  return tasks.map(({ messageId }) => messageId);
};
const none = { queued: 0, delivered: 0, working: 0, completed: 0, failed: 0, canceled: 0, dead: 0, stalled: 0 };

describe("DLV-21: a group", () => {
  test("says how many of its tasks are in each state, and whether all have ended", async () => {
    await submit(4);
    const [one, two, three, four] = Array.from({ length: 4 }, () => agent.link.next());
    await one!.complete();
    await two!.fail();
    three!.accept();
    await settle();
    const counts = { ...none, completed: 1, failed: 1, working: 1, delivered: 1 };
    expect(await fanOut.groups.get(shop, "g")).toEqual({ groupId: "g", total: 4, settled: false, counts });
    await rooms.complete(agent, three!);
    await four!.complete();
    await settle();
    expect(await fanOut.groups.get(shop, "g")).toEqual({
      groupId: "g",
      total: 4,
      settled: true,
      counts: { ...none, completed: 3, failed: 1 },
    });
  });

  test("is seen by its sender and by operators; who has none of that name finds none", async () => {
    await submit(2);
    await submit(1, { ...callerOf("rival"), sessionId: "s2" });
    expect((await fanOut.groups.get(shop, "g")).total).toBe(2);
    expect((await fanOut.groups.get(callerOf("rival"), "g")).total).toBe(1);
    expect((await fanOut.groups.get(localOperator, "g")).total).toBe(3);
    for (const [caller, groupId] of [
      [callerOf("thief"), "g"],
      [shop, "h"],
    ] as const)
      await expect(fanOut.groups.get(caller, groupId)).rejects.toMatchObject({ code: "NOT_FOUND", path: "groupId" });
  });

  test("tells its submitter once that all have ended, by whichever end", async () => {
    const [first] = await submit(4);
    const [one, two, three, four] = Array.from({ length: 4 }, () => agent.link.next());
    await one!.complete();
    await two!.fail();
    await rooms.tasks.cancel(localOperator, three!.envelope.messageId, "no");
    await settle();
    expect(fanOut.settled).toEqual([]);
    await four!.complete();
    await settle();
    const counts = { ...none, completed: 2, failed: 1, canceled: 1 };
    expect(fanOut.settled).toEqual([
      { principal: "shop", sessionId: "s1", group: { groupId: "g", total: 4, settled: true, counts } },
    ]);
    expect(await rooms.complete(agent, one!)).toBe("SETTLED");
    await rooms.tasks.acknowledged(await rooms.task(first));
    expect(fanOut.settled).toHaveLength(1);
    expect(rooms.dispatcher.commits.groups.size).toBe(0);
  });

  test("tells of each principal's part by itself, and of nobody's who cannot be told", async () => {
    await submit(1);
    await submit(1, anyone);
    agent.link.handler = undefined;
    await agent.link.next().complete();
    await settle();
    expect(fanOut.settled.map(({ principal, group }) => [principal, group.total])).toEqual([["shop", 1]]);
    await agent.link.next().complete();
    await settle();
    expect(fanOut.settled).toHaveLength(1);
  });

  test("is not settled while one of it lies for a person", async () => {
    await rooms.submit({ capability: "query", groupId: "g", completionTimeoutMs: 1_000 }, shop);
    agent.link.next().accept();
    await rooms.pass(3_000);
    expect(await fanOut.groups.get(shop, "g")).toMatchObject({ settled: false, counts: { stalled: 1 } });
    expect(fanOut.settled).toEqual([]);
    const { messageId } = agent.link.deliveries[0]!.envelope;
    expect(await rooms.tasks.discard([messageId])).toEqual([messageId]);
    await settle();
    expect(fanOut.settled).toHaveLength(1);
  });

  test("is known after a restart, and tells when what was open has ended", async () => {
    await submit(3);
    await agent.link.next().complete();
    await settle();
    rooms = await rooms.restart();
    fanOut = new FanOut(rooms);
    expect(await fanOut.groups.get(shop, "g")).toMatchObject({ total: 3, counts: { completed: 1, delivered: 2 } });
    const back = await rooms.join(card("a1", ["query"]), agent.registered);
    await rooms.pass(100);
    expect(fanOut.settled).toEqual([]);
    for (let n = 0; n < 2; n++) await back.link.next().complete();
    await settle();
    expect(fanOut.settled.map(({ group }) => group.counts.completed)).toEqual([3]);
  });

  test("cancels what has not ended", async () => {
    await submit(3);
    await rooms.submit({ capability: "query", groupId: "g", notBefore: "2100-01-01T00:00:00Z" }, shop);
    await rooms.submit({ capability: "query", groupId: "other" }, shop);
    await agent.link.next().complete();
    await settle();
    expect(await fanOut.groups.cancel(shop, "g", "enough")).toBe(3);
    expect(await fanOut.groups.get(shop, "g")).toMatchObject({ settled: true, counts: { completed: 1, canceled: 3 } });
    expect(await fanOut.groups.get(shop, "other")).toMatchObject({ settled: false });
    expect(agent.link.cancels.map(({ reason }) => reason)).toEqual(["enough", "enough"]);
    expect(await fanOut.groups.cancel(shop, "g", "again")).toBe(0);
    expect(fanOut.settled).toHaveLength(1);
    await expect(fanOut.groups.cancel(callerOf("thief"), "g", "mine")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("DLV-15: tries again what failed, and nothing else, each once", async () => {
    await submit(3);
    await agent.link.next().complete();
    await agent.link.next().fail();
    await settle();
    agent.link.handler = (delivery) => void delivery.fail();
    expect(await fanOut.groups.requeue(shop, "g")).toBe(1);
    await rooms.pass(1_000);
    expect(agent.link.deliveries.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2]);
    expect(await fanOut.groups.get(shop, "g")).toMatchObject({ counts: { completed: 1, failed: 1, delivered: 1 } });
    agent.link.handler = undefined;
    await agent.link.deliveries[2]!.complete();
    await settle();
    expect(fanOut.settled).toHaveLength(1);
    expect(await fanOut.groups.requeue(shop, "g")).toBe(1);
    await rooms.pass(1_000);
    await agent.link.deliveries.at(-1)!.complete();
    await settle();
    expect(fanOut.settled.map(({ group }) => group.counts.completed)).toEqual([2, 3]);
  });

  test("DLV-19: does not have its sender try again what was to be done at most once, and may have been", async () => {
    await fanOut.many({ tasks: [{ capability: "query", delivery: "atMostOnce" }, ...items(1)], groupId: "g" }, shop);
    await rooms.pass(0);
    for (let n = 0; n < 2; n++) await agent.link.next().fail();
    await settle();
    expect(await fanOut.groups.requeue(shop, "g")).toBe(1);
    expect(await fanOut.groups.requeue(localOperator, "g")).toBe(1);
    await rooms.pass(1_000);
    expect(agent.link.deliveries.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 2]);
  });

  test("of many pages is cancelled and tried again as a whole", async () => {
    fanOut = new FanOut(rooms, 2_000);
    await rooms.cut(agent);
    await submit(1_200);
    expect(await fanOut.groups.cancel(shop, "g", "all")).toBe(1_200);
    expect((await fanOut.groups.get(shop, "g")).counts.canceled).toBe(1_200);
    expect(fanOut.settled).toHaveLength(1);
  });
});
