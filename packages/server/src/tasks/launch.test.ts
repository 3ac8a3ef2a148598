import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { switchable } from "../../../../test/kit/full-store.js";
import { openMemory } from "../engines/memory/index.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const join = (id = "a1", more = {}, keys = {}): Promise<FakeAgent> => rooms.join(card(id, ["query"], more), keys);
const send = (more = {}) => rooms.submit({ capability: "query", ...more });
const submit = async (more = {}): Promise<string> => String((await send(more)).results[0]?.["messageId"]);
const inputs = ({ link }: FakeAgent): unknown[] => link.deliveries.map((d) => d.envelope.input);

describe("DLV-2: a task that finds somebody free when it is submitted", () => {
  test("is stored as sent by the very write that stores it", async () => {
    const agent = await join();
    const id = await submit();
    expect(agent.link.next().attempt).toBe(1);
    expect(await rooms.task(id)).toMatchObject({ state: "delivered", revision: 1, attempt: 1 });
    const events = await rooms.journal.eventsOf(id);
    expect(events.map((e) => e.type)).toEqual(["submitted", "decision", "delivered"]);
  });

  test("waits like any other if it is not due, or has an order, or nobody is free", async () => {
    const agent = await join("a1", { maxConcurrentTasks: 2 });
    const later = await submit({ notBefore: new Date(rooms.system.now() + 60_000).toISOString() });
    expect((await rooms.task(later)).state).toBe("queued");
    await submit({ ordering: { key: "k", mode: "barrier" } });
    await submit();
    const third = await submit();
    expect(await rooms.task(third)).toMatchObject({ state: "queued", revision: 1, attempt: 0 });
    expect(agent.instance.running).toBe(2);
  });

  test("X3: does not overtake those that wait in its lane, nor work that is on its way back to it", async () => {
    const agent = await join("a1", { maxConcurrentTasks: 1 });
    await submit({ input: 1 });
    await submit({ input: 2 });
    void agent.link.next().complete();
    const third = send({ input: 3 });
    await third;
    expect(inputs(agent)).toEqual([1, 2]);
    agent.link.next().refuse("OVERLOADED", 1);
    await send({ input: 4 });
    await rooms.pass(500);
    expect(inputs(agent)).toEqual([1, 2, 2]);
  });

  test("takes no slot when it turns out to be a duplicate", async () => {
    const agent = await join();
    const id = await submit({ idempotencyKey: "once" });
    const again = await send({ idempotencyKey: "once" });
    expect(again.results).toEqual([expect.objectContaining({ messageId: id, duplicate: true })]);
    expect([agent.instance.running, agent.link.deliveries.length]).toEqual([1, 1]);
  });

  test("takes no slot when the store refuses it", async () => {
    const engine = await openMemory();
    const { store, disk } = switchable(engine.tasks, ["insert", "update"]);
    rooms = await FakeRooms.open({ engine: { ...engine, tasks: store } });
    const agent = await join();
    disk.full = true;
    expect((await send()).failure).toMatchObject({ code: "NOT_READY" });
    expect([agent.instance.running, agent.link.deliveries.length]).toEqual([0, 0]);
  });

  test("goes back to the line, spending no retry, when its instance goes while it is stored", async () => {
    const agent = await join();
    const sending = send();
    rooms.registry.lost(agent.instance, agent.link, "connection closed");
    const id = String((await sending).results[0]?.["messageId"]);
    await settle();
    expect(agent.link.deliveries).toEqual([]);
    expect(await rooms.task(id)).toMatchObject({ state: "queued", deliveryFailures: 0 });
    const other = await join("a2");
    await rooms.pass(1_000);
    expect(other.link.next().message.messageId).toBe(id);
  });

  test("is no late one for a pull agent that has not fetched it", async () => {
    const agent = await join("a1", {}, { link: new FakeLink("pull") });
    const id = await submit();
    await rooms.pass(40_000);
    expect(await rooms.task(id)).toMatchObject({ state: "delivered", attempt: 1 });
    expect(agent.link.deliveries).toHaveLength(1);
  });
});
