import { ReachError } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { FanOut } from "../../../../test/kit/fan-out.js";

let rooms: FakeRooms;
let fanOut: FanOut;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  fanOut = new FanOut(rooms);
});
const stored = () => rooms.engine.tasks.list({}, { limit: 1_000, order: "oldest" });
const join = async (agentId: string, topics: string[] = []): Promise<FakeAgent> => {
  const agent = await rooms.join(card(agentId, ["query"]));
  for (const topic of topics) await rooms.registry.subscriptions.subscribe("default", agentId, topic);
  return agent;
};

describe("DLV-7: a publish", () => {
  test("repeated under its groupId is the same one, whoever has come since", async () => {
    await join("a", ["news"]);
    const params = { topic: "news", input: 1, groupId: "g" };
    const first = await fanOut.publish(params);
    await join("b", ["news"]);
    expect(await fanOut.publish(params)).toEqual(first);
    expect(await stored()).toHaveLength(1);
    for (const other of [
      { ...params, input: 2 },
      { capability: "query", input: 1, groupId: "g" },
    ])
      await expect(fanOut.publish(other)).rejects.toMatchObject({ code: "CONFLICT", path: "groupId" });
    expect(await fanOut.publish({ ...params, groupId: "h" })).toMatchObject({ deliveries: 2 });
    expect(await fanOut.publish(params, callerOf("another"))).toMatchObject({ groupId: "g", deliveries: 2 });
  });

  test("repeated under an idempotencyKey or a messageId of its own, in any spelling, is the same one", async () => {
    await join("a", ["news"]);
    const messageId = "0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42";
    const spellings = [
      [{ topic: "news", idempotencyKey: "k" }, { topic: "news", idempotency_key: "k", messageId }, "k"],
      [{ topic: "news", messageId }, { topic: "news", message_id: messageId.toUpperCase() }, messageId],
      [{ subject: "news", trace_id: "t", seq: 7 }, { topic: "news", idempotencyKey: "t:7", payload: {} }, "t:7"],
      [{ topic: "news", groupId: "g", messageId }, { topic: "news", group_id: "g", idempotencyKey: "x" }, "g"],
    ] as const;
    for (const [first, again, groupId] of spellings)
      expect([await fanOut.publish(first), await fanOut.publish(again)]).toEqual(
        Array(2).fill({ groupId, deliveries: 1 }),
      );
    expect(await stored()).toHaveLength(4);
    await expect(fanOut.publish({ topic: "news", input: 2, idempotencyKey: "k" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    for (const wrong of [{ idempotencyKey: 7 }, { messageId: "seven" }])
      await expect(fanOut.publish({ topic: "news", ...wrong })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("repeated when nobody offers the capability any more is answered as then", async () => {
    const a = await join("a");
    const params = { capability: "query", input: 1, groupId: "g" };
    const first = await fanOut.publish(params);
    await rooms.registry.deregister(a.instance, "bye");
    await rooms.leap(25 * 3_600_000);
    await rooms.registry.purge();
    await expect(fanOut.publish({ ...params, groupId: "h" })).rejects.toMatchObject({ code: "NO_ROUTE" });
    await expect(fanOut.publish({ ...params, input: 2 })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await fanOut.publish(params)).toEqual(first);
  });

  test("repeated is answered with a full disk, and not where the disk has not confirmed what is there", async () => {
    await join("a", ["news"]);
    const params = { topic: "news", groupId: "g" };
    const first = await fanOut.publish(params);
    const refuse = (details?: Record<string, unknown>) => {
      rooms.engine.tasks.insertAll = () =>
        Promise.reject(new ReachError("NOT_READY", "no.", { ...(details && { details }) }));
    };
    refuse();
    expect(await fanOut.publish(params)).toEqual(first);
    await expect(fanOut.publish({ topic: "news" })).rejects.toMatchObject({ code: "NOT_READY" });
    refuse({ reason: "unconfirmed" });
    await expect(fanOut.publish(params)).rejects.toMatchObject({ code: "NOT_READY", outcome: "unknown" });
  });

  test("repeated while it is being stored finds its own tasks", async () => {
    await join("a", ["news"]);
    const params = { topic: "news", input: 1, groupId: "g" };
    const both = await Promise.all([fanOut.publish(params), fanOut.publish(params)]);
    expect(both).toEqual([both[0], both[0]]);
    expect(await stored()).toHaveLength(1);
  });
});
