import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const join = (id = "a1", keys = {}): Promise<FakeAgent> => rooms.join(card(id), keys);
const submit = async (more = {}): Promise<string> => {
  const reply = await rooms.submit({ capability: "query_order", ...more });
  return String(reply.results[0]?.["messageId"]);
};
/** An agent with a task in its hands, received. */
const holding = async (agent: FakeAgent, more = {}): Promise<string> => {
  const id = await submit({ target: { agentId: agent.registered.agentId }, ...more });
  agent.link.next().accept();
  await rooms.pass(0);
  return id;
};

describe("X3, DLV-8: an instance that is lost with work in its hands", () => {
  test("has a moment to come back with the result", async () => {
    const agent = await join();
    const id = await holding(agent);
    await rooms.cut(agent);
    await rooms.pass(1_900);
    expect(await rooms.task(id)).toMatchObject({ state: "working", losses: 0 });
    await rooms.pass(200);
    expect(await rooms.task(id)).toMatchObject({
      state: "queued",
      losses: 1,
      deliveryFailures: 0,
      attempts: [{ outcome: "lost" }],
    });
    expect(agent.instance.running).toBe(0);
  });

  test("that registers anew gets it again at once, before new work, under the next attempt", async () => {
    const agent = await join();
    const id = await holding(agent, { input: "old" });
    await rooms.cut(agent);
    const fresh = await submit({ input: "new" });
    const back = await join("a1", agent.registered);
    await rooms.pass(0);
    expect(back.link.deliveries.map((d) => [d.message.messageId, d.attempt])).toEqual([
      [id, 2],
      [fresh, 1],
    ]);
  });

  test("and brings the result after all settles it; the newer attempt is cancelled", async () => {
    const agent = await join();
    const id = await holding(agent);
    const delivery = agent.link.deliveries[0]!;
    await rooms.cut(agent);
    const back = await join("a1", agent.registered);
    await rooms.pass(0);
    expect(await rooms.complete(back, delivery, "from the outbox")).toBe("recorded");
    expect(await rooms.task(id)).toMatchObject({ state: "completed", data: '"from the outbox"' });
    expect(back.link.cancels).toMatchObject([{ messageId: id, attempt: 2 }]);
    expect(back.instance.running).toBe(0);
  });

  test("is replaced by a fresh instance of its agent, rather than by somebody else", async () => {
    const agent = await join("a1");
    const other = await join("a2");
    await submit();
    const first = agent.link.waiting > 0 ? agent : other;
    first.link.next().accept();
    await rooms.pass(0);
    await rooms.cut(first);
    const next = await join(first.registered.agentId);
    await rooms.pass(0);
    expect(next.link.next().attempt).toBe(2);
  });

  test("whose lease ends gives it up too", async () => {
    const agent = await join();
    const id = await holding(agent);
    await rooms.pass(76_000);
    expect(agent.instance.record.state).toBe("offline");
    expect(await rooms.task(id)).toMatchObject({ state: "queued", losses: 1 });
  });

  test("that says goodbye gives it up at once", async () => {
    const agent = await join();
    const id = await holding(agent);
    await rooms.registry.deregister(agent.instance, "done");
    await rooms.pass(0);
    expect(await rooms.state(id)).toBe("queued");
  });

  test("is no reason to go on for ever: after five losses the sixth makes it a dead letter", async () => {
    let agent = await join();
    const id = await holding(agent);
    for (let losses = 1; losses <= 6; losses++) {
      expect(await rooms.task(id)).toMatchObject({ state: "working", losses: losses - 1 });
      await rooms.cut(agent);
      await rooms.pass(2_100);
      if (losses === 6) break;
      agent = await join();
      await rooms.pass(0);
      agent.link.next().accept();
      await rooms.pass(0);
    }
    const task = await rooms.task(id);
    expect(task).toMatchObject({ state: "dead", losses: 6, error: { code: "DELIVERY_TIMEOUT", outcome: "unknown" } });
  });

  test("DLV-19: at most once is kept for review instead, and its late success still counts", async () => {
    const agent = await join();
    const id = await holding(agent, { delivery: "atMostOnce" });
    await rooms.cut(agent);
    await rooms.pass(2_100);
    expect(await rooms.state(id)).toBe("stalled");
    const back = await join("a1", agent.registered);
    await rooms.pass(10_000);
    expect(back.link.deliveries).toEqual([]);
    expect(await rooms.complete(back, agent.link.deliveries[0]!)).toBe("recorded");
    expect(await rooms.state(id)).toBe("completed");
  });
});

describe("DLV-9: a receipt that is late", () => {
  const late = async (more: object): Promise<string> => {
    const agent = await join();
    const id = await holding(agent, { completionTimeoutMs: 5_000, ...more });
    await rooms.pass(5_500);
    expect(agent.instance.running).toBe(rooms.registry.view.instances.size - 1 + agent.link.waiting);
    return id;
  };
  test("is reviewed, failed or sent again, as the task asked", async () => {
    expect(await rooms.task(await late({}))).toMatchObject({ state: "stalled", error: { code: "TIMEOUT" } });
    rooms = await FakeRooms.open();
    expect(await rooms.state(await late({ onStalled: "fail" }))).toBe("failed");
    rooms = await FakeRooms.open();
    expect(await rooms.task(await late({ onStalled: "redeliver" }))).toMatchObject({ state: "delivered", attempt: 2 });
  });
});
