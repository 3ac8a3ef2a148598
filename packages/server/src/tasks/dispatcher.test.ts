import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const join = (id = "a1", more = {}, keys = {}): Promise<FakeAgent> => rooms.join(card(id, ["query"], more), keys);
const submit = async (more = {}): Promise<string> => {
  const reply = await rooms.submit({ capability: "query", ...more });
  return String(reply.results[0]?.["messageId"]);
};
/** Keeps an instance in its lease over a long wait. */
const passAlive = async (ms: number, ...agents: FakeAgent[]): Promise<void> => {
  for (let left = ms; left > 0; left -= 30_000) {
    for (const { instance } of agents) rooms.registry.renew(instance);
    await rooms.pass(Math.min(left, 30_000));
  }
};

describe("DLV-2: a task", () => {
  test("is delivered, accepted and completed, and each step is stored", async () => {
    const agent = await join();
    const id = await submit({ input: { n: 1 }, sessionRef: "s" });
    const delivery = agent.link.next();
    expect(delivery.envelope).toMatchObject({ kind: "task", messageId: id, input: { n: 1 }, sessionRef: "s" });
    expect(await rooms.state(id)).toBe("delivered");
    delivery.accept();
    await rooms.pass(0);
    expect(await rooms.state(id)).toBe("working");
    expect(await rooms.complete(agent, delivery, { done: true })).toBe("recorded");
    expect(await rooms.task(id)).toMatchObject({ state: "completed", data: '{"done":true}', attempt: 1 });
    expect([agent.instance.running, agent.instance.held.size]).toEqual([0, 0]);
    expect(rooms.trouble).toEqual([]);
  });

  test("X1: nothing is sent before the store has it as sent", async () => {
    const agent = await join();
    const seen: string[] = [];
    agent.link.handler = (delivery) => {
      void rooms.task(delivery.message.messageId).then((task) => seen.push(`${task.state} ${task.attempt}`));
    };
    await submit();
    expect(seen).toEqual(["delivered 1"]);
  });

  test("may be answered at once; the answer is acknowledged when it is stored", async () => {
    const agent = await join();
    const id = await submit();
    await agent.link.next().complete(7);
    expect(await rooms.task(id)).toMatchObject({ state: "completed", data: "7" });
  });

  test("a business error ends it: failed, kept, and sent nowhere else", async () => {
    const agent = await join();
    const other = await join("a2");
    const id = await submit();
    [...agent.link.deliveries, ...other.link.deliveries][0]!.fail({ code: "NO", message: "no such order" });
    await rooms.pass(60_000);
    const task = await rooms.task(id);
    expect(task).toMatchObject({ state: "failed", error: { code: "AGENT_ERROR", outcome: "executed" } });
    expect(agent.link.deliveries.length + other.link.deliveries.length).toBe(1);
  });

  test("X2: more than there is room for waits without spending attempts, and goes out as room comes", async () => {
    const agent = await join("a1", { maxConcurrentTasks: 2 });
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push(await submit({ input: i }));
    expect(agent.link.deliveries).toHaveLength(2);
    expect((await rooms.task(ids[4])).attempt).toBe(0);
    for (let i = 0; i < 5; i++) {
      const delivery = agent.link.next();
      expect(delivery.envelope.input).toBe(i);
      await delivery.complete();
      await rooms.pass(0);
      expect(agent.instance.running).toBeLessThanOrEqual(2);
    }
    expect(await Promise.all(ids.map((id) => rooms.state(id)))).toEqual(ids.map(() => "completed"));
  });

  test("a thousand tasks over a few agents are all done once", async () => {
    const agents = [await join("a1"), await join("a2"), await join("a3")];
    const done: unknown[] = [];
    for (const { link } of agents) {
      link.handler = (delivery) => {
        done.push(delivery.envelope.input);
        queueMicrotask(() => void delivery.complete());
      };
    }
    for (let i = 0; i < 1_000; i++) void rooms.submit({ capability: "query", input: i });
    for (let i = 0; i < 100 && done.length < 1_000; i++) await rooms.pass(10);
    await rooms.pass(100);
    expect(done.length).toBe(1_000);
    expect(new Set(done).size).toBe(1_000);
    expect((await rooms.engine.tasks.counts()).byState).toMatchObject({ completed: 1_000, queued: 0 });
  });

  test("notBefore is waited for", async () => {
    const agent = await join();
    await submit({ notBefore: new Date(rooms.system.now() + 20_000).toISOString() });
    await rooms.pass(19_900);
    expect(agent.link.waiting).toBe(0);
    await rooms.pass(200);
    expect(agent.link.waiting).toBe(1);
  });
});

describe("DLV-5: while nobody is able", () => {
  test("tasks are parked, spend no attempt, and go out on return, before new work", async () => {
    const agent = await join();
    await rooms.cut(agent);
    const parked = [await submit({ input: "old" }), await submit({ input: "older than new" })];
    await rooms.pass(30_000);
    expect(await Promise.all(parked.map(async (id) => (await rooms.task(id)).attempt))).toEqual([0, 0]);
    const fresh = await submit({ input: "new" });
    const back = await join("a1", {}, agent.registered);
    await rooms.pass(100);
    expect(back.link.deliveries.map((d) => d.envelope.input)).toEqual(["old", "older than new", "new"]);
    expect((await rooms.task(fresh)).attempt).toBe(1);
  });

  test("until their own deadline, and then they are dead, not executed", async () => {
    const agent = await join();
    await rooms.cut(agent);
    const id = await submit({ deadlineMs: 10_000 });
    await rooms.pass(9_900);
    expect(await rooms.state(id)).toBe("queued");
    await rooms.pass(400);
    const task = await rooms.task(id);
    expect(task).toMatchObject({ state: "dead", error: { code: "UNAVAILABLE", outcome: "not_executed" } });
    expect(task.error!.message).toContain(`agent-reach dead requeue ${id}`);
  });
});

describe("DLV-4: no acknowledgement", () => {
  test("is tried again after about 1, 3 and 9 s, and then a dead letter", async () => {
    const agent = await join();
    const id = await submit();
    const sentAt = [rooms.system.monotonic()];
    for (let i = 0; i < 60_000 && (await rooms.state(id)) !== "dead"; i += 100) {
      rooms.registry.renew(agent.instance);
      await rooms.pass(100);
      while (sentAt.length < agent.link.deliveries.length) sentAt.push(rooms.system.monotonic());
    }
    expect(agent.link.deliveries.map((d) => d.attempt)).toEqual([1, 2, 3, 4]);
    sentAt.slice(1).forEach((at, i) => {
      const wait = at - sentAt[i]! - 5_000;
      expect(wait).toBeGreaterThanOrEqual([800, 2_400, 7_200][i]!);
      expect(wait).toBeLessThanOrEqual([1_200, 3_600, 10_800][i]! + 500);
    });
    expect(await rooms.task(id)).toMatchObject({
      error: { code: "DELIVERY_TIMEOUT", outcome: "unknown" },
      deliveryFailures: 4,
    });
    expect(agent.instance.running).toBe(0);
    expect(rooms.dispatcher.counts.dead).toBe(1);
  });

  test("prefers somebody else (RES-2), and the success of the first attempt still settles it (DLV-17)", async () => {
    const [one, two] = [await join("a1"), await join("a2")];
    const id = await submit();
    const [first, second] = one.link.waiting > 0 ? [one, two] : [two, one];
    const slow = first.link.next();
    await rooms.pass(6_800);
    const quick = second.link.next();
    expect(quick.attempt).toBe(2);
    quick.accept();
    await rooms.pass(0);
    expect(await rooms.complete(first, slow, "from the first")).toBe("recorded");
    expect(await rooms.task(id)).toMatchObject({ state: "completed", data: '"from the first"' });
    expect(second.link.cancels).toMatchObject([{ messageId: id, attempt: 2 }]);
    expect(await rooms.complete(second, quick, "too late")).toBe("SETTLED");
    expect([first.instance.running, second.instance.running]).toEqual([0, 0]);
  });

  test.each(["http", "pull"] as const)(
    "DLV-3: agents on %s have 30 s, on pull from when they fetched it",
    async (kind) => {
      const agent = await join("a1", {}, { link: new FakeLink(kind) });
      const id = await submit();
      if (kind === "pull") await passAlive(40_000, agent);
      agent.link.next().fetch();
      await passAlive(29_000, agent);
      expect(await rooms.task(id)).toMatchObject({ state: "delivered", deliveryFailures: 0 });
      await rooms.pass(1_500);
      expect((await rooms.task(id)).deliveryFailures).toBe(1);
    },
  );
});

describe("refusals", () => {
  test("an overloaded agent is left alone for as long as it asks, and no retry is spent", async () => {
    const agent = await join();
    const id = await submit();
    agent.link.next().refuse("OVERLOADED", 4_000);
    await rooms.pass(3_900);
    expect(agent.link.waiting).toBe(0);
    expect(await rooms.task(id)).toMatchObject({ state: "queued", deliveryFailures: 0 });
    await rooms.pass(200);
    expect(agent.link.next().attempt).toBe(2);
  });

  test("LIVE-8: of an agent that leaves spends none either, and somebody else gets it at once", async () => {
    const leaving = await join("a1");
    const id = await submit();
    const other = await join("a2");
    leaving.link.next().refuse("DRAINING");
    await rooms.pass(0);
    expect(other.link.next().attempt).toBe(2);
    expect(await rooms.task(id)).toMatchObject({ state: "delivered", deliveryFailures: 0 });
  });

  test("any other spends a retry", async () => {
    const agent = await join();
    const id = await submit();
    for (const wait of [1_300, 3_700, 11_000, 0]) {
      agent.link.next().refuse("NOT_NOW");
      // Before the shortest and after the longest wait that the jitter allows.
      await rooms.pass(wait * 0.6);
      expect(agent.link.waiting).toBe(0);
      await passAlive(wait * 0.4, agent);
    }
    expect(await rooms.task(id)).toMatchObject({
      state: "dead",
      error: { code: "UNAVAILABLE", outcome: "not_executed" },
    });
  });

  test("a link that takes nothing costs nothing", async () => {
    const agent = await join();
    agent.link.full = true;
    const id = await submit();
    await rooms.pass(1_000);
    expect(await rooms.task(id)).toMatchObject({ state: "queued", deliveryFailures: 0, losses: 0 });
    agent.link.full = false;
    rooms.admission.room(agent.instance);
    await rooms.pass(500);
    expect(agent.link.waiting).toBe(1);
  });

  test("LIVE-8: what a draining agent hands back goes out again at once, and costs nothing", async () => {
    const [agent, other] = [await join("a1"), await join("a2")];
    const id = await submit({ target: { agentId: "a1" } });
    const delivery = agent.link.next();
    delivery.accept();
    await rooms.registry.drain(agent.instance, "deploy");
    rooms.tasks.handBack(id, agent.registered.instanceId, 1);
    await rooms.pass(0);
    expect(await rooms.task(id)).toMatchObject({ state: "queued", attempt: 1, losses: 0, deliveryFailures: 0 });
    const next = await join("a1");
    await rooms.pass(0);
    expect(next.link.next().attempt).toBe(2);
    expect(other.link.waiting).toBe(0);
  });

  test("DLV-19, LIVE-8: what lies for review since nobody knew whether it was begun goes out again when it is handed back", async () => {
    const agent = await join("a1");
    const id = await submit({ delivery: "atMostOnce" });
    agent.link.next();
    await rooms.pass(6_000);
    expect(await rooms.state(id)).toBe("stalled");
    const other = await join("a2");
    await rooms.registry.drain(agent.instance, "deploy");
    rooms.tasks.handBack(id, other.registered.instanceId, 1);
    rooms.tasks.handBack(id, agent.registered.instanceId, 2);
    await rooms.pass(0);
    expect(await rooms.state(id)).toBe("stalled");
    rooms.tasks.handBack(id, agent.registered.instanceId, 1);
    await rooms.pass(0);
    const delivery = other.link.next();
    expect(delivery.attempt).toBe(2);
    await delivery.complete("done");
    await rooms.pass(0);
    expect(await rooms.task(id)).toMatchObject({ state: "completed", error: undefined });
    expect((await rooms.task(id)).attempts.map(({ outcome }) => outcome)).toEqual(["handed_back", "completed"]);
  });
});
