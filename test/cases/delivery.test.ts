import { ReachError } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { anyone, card, type FakeAgent, FakeRooms } from "../kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const submit = async (more = {}): Promise<string> =>
  String((await rooms.submit({ capability: "query", ...more })).results[0]?.["messageId"]);
const join = (more = {}, keys = {}) => rooms.join(card("a1", ["query"], more), keys);
/** Keeps an instance in its lease over a long wait. */
const passAlive = async (ms: number, { instance }: FakeAgent): Promise<void> => {
  for (let left = ms; left > 0; left -= 30_000) {
    rooms.registry.renew(instance);
    await rooms.pass(Math.min(left, 30_000));
  }
};

test("D04: a task whose result was forgotten is expired, which is told from one that never was", async () => {
  const agent = await join();
  const id = await submit();
  await agent.link.next().complete();
  await rooms.leap(86_500_000);
  await rooms.pass(2_000);
  const reason = (messageId: string) =>
    rooms.tasks.get(anyone, messageId).catch((error: { code: string; details: { reason: string } }) => error);
  expect(await reason(id)).toMatchObject({ code: "NOT_FOUND", details: { reason: "expired", keepSec: 86_400 } });
  expect(await reason(rooms.system.newId())).toMatchObject({ code: "NOT_FOUND", details: { reason: "unknown" } });
  expect(await reason("11111111-2222-4333-8444-555555555555")).toMatchObject({ details: { reason: "unknown" } });
});

test("D06: those who wait for a result may go: the task runs on, and whoever comes later gets it", async () => {
  const agent = await join();
  const id = await submit();
  const delivery = agent.link.next();
  delivery.accept();
  await rooms.pass(0);
  const one = rooms.tasks.result(anyone, id, 1_000);
  const other = rooms.tasks.result(anyone, id, 5_000);
  await rooms.pass(10_000);
  expect([(await one).state, (await other).state, agent.link.cancels]).toEqual(["working", "working", []]);
  await rooms.complete(agent, delivery, 7);
  expect(await rooms.tasks.result(anyone, id, 0)).toMatchObject({ state: "completed", data: "7" });
});

test("D08: what the first worker reports after the second has succeeded changes nothing, and is told as late", async () => {
  const first = await join();
  const id = await submit();
  const stalled = first.link.next();
  stalled.accept();
  await rooms.pass(0);
  await rooms.cut(first);
  await rooms.pass(3_000);
  const second = await rooms.join(card("a2", ["query"]));
  await rooms.pass(100);
  await second.link.next().complete("B");
  await rooms.pass(0);
  expect(await rooms.complete(first, stalled, "A")).toBe("SETTLED");
  const late = { error: { code: "NO", message: "failed after all" }, receipt: undefined };
  expect(await rooms.tasks.complete(id, first.instance.record, 1, late)).toBe("SETTLED");
  expect(await rooms.task(id)).toMatchObject({ state: "completed", data: '"B"', attempt: 2 });
  const ends = (await rooms.journal.eventsOf(id)).filter(({ type }) => ["completed", "failed"].includes(type));
  expect(ends).toHaveLength(1);
});

test("D12: once it is accepted, a long task is not sent again while its worker lives, however short the first wait", async () => {
  const agent = await join();
  const id = await submit();
  const delivery = agent.link.next();
  delivery.accept();
  await passAlive(300_000, agent);
  expect([await rooms.state(id), agent.link.deliveries.length]).toEqual(["working", 1]);
  expect(await rooms.complete(agent, delivery)).toBe("recorded");
});

describe("D27: an agent that takes one at a time, killed with the node in the middle of a task", () => {
  test("gets its slot back: the old task ends, and the next one runs", async () => {
    const agent = await join({ maxConcurrentTasks: 1 });
    const old = await submit({ input: "old" });
    agent.link.next().accept();
    await rooms.pass(0);
    rooms = await rooms.restart();
    const fresh = await submit({ input: "fresh" });
    const back = await join({ maxConcurrentTasks: 1 }, agent.registered);
    for (const input of ["old", "fresh"]) {
      await rooms.pass(1_000);
      const delivery = back.link.next();
      expect([delivery.envelope.input, back.instance.running]).toEqual([input, 1]);
      await delivery.complete();
    }
    await rooms.pass(0);
    expect([await rooms.state(old), await rooms.state(fresh), back.instance.running]).toEqual([
      "completed",
      "completed",
      0,
    ]);
  });
});

test("R08: a dead letter that cannot be written stays a task, is tried again without haste, and is written when it can be", async () => {
  const { tasks } = rooms.engine;
  const update = tasks.update.bind(tasks);
  let refused = 0;
  const agent = await join();
  const id = await submit();
  await passAlive(12_000, agent);
  const before = await rooms.task(id);
  tasks.update = async () => {
    refused++;
    throw new ReachError("NOT_READY", "the store is full");
  };
  await passAlive(30_000, agent);
  expect(await rooms.task(id)).toEqual(before);
  expect(refused).toBeGreaterThan(0);
  // A look every 200 ms is the most.
  expect(refused).toBeLessThan(300);
  tasks.update = update;
  await passAlive(60_000, agent);
  expect(await rooms.task(id)).toMatchObject({ state: "dead", error: { code: "DELIVERY_TIMEOUT" } });
});
