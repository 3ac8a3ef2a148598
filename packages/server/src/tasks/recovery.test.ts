import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { switchable } from "../../../../test/kit/full-store.js";
import { localOperator } from "../access/access.js";
import { openMemory } from "../engines/memory/index.js";

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

describe("RES-6: a restart of the node", () => {
  test("counts as nobody's loss, and gives the agents time to find it again", async () => {
    const agent = await join();
    const id = await holding(agent);
    rooms = await rooms.restart();
    await rooms.pass(5_000);
    expect(await rooms.state(id)).toBe("working");
    const back = await join("a1", agent.registered);
    await rooms.pass(100);
    expect(back.link.next().attempt).toBe(2);
    expect((await rooms.task(id)).losses).toBe(0);
  });

  test("takes the result of an attempt that began before it", async () => {
    const agent = await join();
    const id = await holding(agent);
    const delivery = agent.link.deliveries[0]!;
    rooms = await rooms.restart();
    const back = await join("a1", agent.registered);
    expect(await rooms.complete(back, delivery, "kept")).toBe("recorded");
    expect(await rooms.state(id)).toBe("completed");
  });

  test("sends what nobody came back for to others, and what was waiting to whoever comes", async () => {
    const agent = await join();
    const working = await submit({ input: "working" });
    agent.link.next().accept();
    const delivered = await submit({ input: "delivered" });
    await rooms.pass(0);
    await rooms.cut(agent);
    const waiting = await submit({ input: "waiting" });
    rooms = await rooms.restart();
    const other = await join("a2", { link: new FakeLink("ws", (delivery) => queueMicrotask(() => delivery.accept())) });
    await rooms.pass(20_000);
    const got = other.link.deliveries.map((d) => d.message.messageId);
    expect(got.sort()).toEqual([working, delivered, waiting].sort());
    for (const id of [working, delivered, waiting])
      expect(await rooms.task(id)).toMatchObject({ losses: 0, deliveryFailures: 0 });
  });

  test("again and again loses nothing and doubles nothing that succeeded", async () => {
    const ids: string[] = [];
    const done = new Map<string, number>();
    for (let round = 0; round < 6; round++) {
      const agent = await join();
      agent.link.handler = (delivery) => {
        const { messageId } = delivery.message;
        if (rooms.system.random() < 0.4) return;
        queueMicrotask(() => {
          if (delivery.answered) return;
          done.set(messageId, (done.get(messageId) ?? 0) + 1);
          void delivery.complete();
        });
      };
      for (let i = 0; i < 5; i++) ids.push(await submit({ input: round * 5 + i }));
      await rooms.pass(20);
      rooms = await rooms.restart();
    }
    const last = await join();
    last.link.handler = (delivery) => queueMicrotask(() => void delivery.complete());
    await rooms.pass(40_000);
    expect(await Promise.all(ids.map((id) => rooms.state(id)))).toEqual(ids.map(() => "completed"));
    expect([...done.values()].filter((times) => times > 1)).toEqual([]);
  });
});

describe("RES-6: a store that refuses writes", () => {
  const full = async () => {
    const engine = await openMemory();
    const { store, disk } = switchable(engine.tasks, ["insert", "update"]);
    rooms = await FakeRooms.open({ engine: { ...engine, tasks: store } });
    return disk;
  };

  test("makes submit say so, and nothing is sent that is not stored as sent", async () => {
    const disk = await full();
    const agent = await join();
    await rooms.cut(agent);
    const parked = await submit();
    disk.full = true;
    const refused = await rooms.submit({ capability: "query_order" });
    expect(refused.failure).toMatchObject({ code: "NOT_READY", retryable: true, outcome: "not_executed" });
    const back = await join("a1", agent.registered);
    await rooms.pass(3_000);
    expect(back.link.deliveries).toEqual([]);
    expect(back.instance.running).toBe(0);
    disk.full = false;
    await rooms.pass(2_000);
    expect(back.link.next().message).toMatchObject({ messageId: parked, attempt: 1 });
  });

  test("DLV-11: a result that came meanwhile is written as soon as it can be, and not acknowledged before", async () => {
    const disk = await full();
    const agent = await join();
    const id = await submit();
    disk.full = true;
    let safe = false;
    void agent.link
      .next()
      .complete("kept")!
      .then(() => {
        safe = true;
      });
    await rooms.pass(2_500);
    expect([await rooms.state(id), safe]).toEqual(["delivered", false]);
    disk.full = false;
    await rooms.pass(1_500);
    expect(safe).toBe(true);
    expect(await rooms.task(id)).toMatchObject({ state: "completed", data: '"kept"', attempt: 1 });
    expect(agent.instance.running).toBe(0);
  });

  test("a loss that could not be written is written later, and the work goes out again", async () => {
    const disk = await full();
    const agent = await join();
    const id = await holding(agent);
    disk.full = true;
    await rooms.cut(agent);
    await rooms.pass(5_000);
    disk.full = false;
    const other = await join("a2");
    await rooms.pass(5_000);
    expect(await rooms.task(id)).toMatchObject({ losses: 1, attempts: [{ outcome: "lost" }] });
    const back = await join("a1");
    await rooms.pass(100);
    expect(back.link.next().attempt).toBe(2);
    expect(other.link.waiting).toBe(0);
  });

  test("an acceptance that could not be written is written later, so that its receipt can be late", async () => {
    const disk = await full();
    const agent = await join();
    const id = await submit({ completionTimeoutMs: 20_000 });
    disk.full = true;
    agent.link.next().accept();
    await rooms.pass(3_000);
    disk.full = false;
    await rooms.pass(3_000);
    expect(await rooms.state(id)).toBe("working");
  });

  test("a cancel that could not be written changes nothing", async () => {
    const disk = await full();
    const agent = await join();
    const id = await holding(agent);
    disk.full = true;
    await expect(rooms.tasks.cancel(localOperator, id, "no longer needed")).rejects.toMatchObject({
      code: "NOT_READY",
    });
    expect(agent.link.cancels).toEqual([]);
    disk.full = false;
    expect(await rooms.complete(agent, agent.link.deliveries[0]!)).toBe("recorded");
  });
});
