import { beforeEach, describe, expect, test } from "vitest";
import { anyone, card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { gapBefore } from "./gaps.js";

test("DLV-10: a number that follows, repeats or precedes the last leaves no gap, and neither does the first of all", () => {
  expect([gapBefore(7, undefined), gapBefore(3, 2), gapBefore(2, 2), gapBefore(1, 2)]).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
  expect(gapBefore(5, 2)).toEqual({ from: 3, to: 4 });
  expect(gapBefore(2, 0)).toEqual({ from: 1, to: 1 });
});

describe("DLV-10: tasks of one order with numbers", () => {
  let rooms: FakeRooms;
  beforeEach(async () => {
    rooms = await FakeRooms.open();
  });
  const submit = async (sequence: number, more = {}): Promise<string> => {
    const ordering = { key: "chat", mode: "sequence" as const };
    const reply = await rooms.submit({ capability: "query", sequence, ordering, input: sequence, ...more });
    return String(reply.results[0]?.["messageId"]);
  };
  const join = () => rooms.join(card("a1", ["query"]), {});
  const timeline = (id: string) => rooms.journal.eventsOf(id);

  test("go in the order of their numbers, whatever the order of arrival", async () => {
    const before = await join();
    await rooms.cut(before);
    for (const n of [3, 1, 2]) await submit(n);
    const agent = await rooms.join(card("a1", ["query"]), before.registered);
    await rooms.pass(100);
    for (const n of [1, 2, 3]) {
      const delivery = agent.link.next();
      expect(delivery.envelope.input).toBe(n);
      await delivery.complete();
      await rooms.pass(100);
    }
  });

  test("wait for a number that is missing, and go on when it has ended", async () => {
    const agent = await join();
    await submit(1);
    await agent.link.next().complete();
    const third = await submit(3);
    await rooms.pass(20_000);
    expect(agent.link.waiting).toBe(0);
    await submit(2);
    await rooms.pass(100);
    const second = agent.link.next();
    expect([second.envelope.input, agent.link.waiting]).toEqual([2, 0]);
    await second.complete();
    await rooms.pass(100);
    const delivery = agent.link.next();
    expect([delivery.envelope.input, (await timeline(third)).map(({ type }) => type)]).toEqual([
      3,
      expect.not.arrayContaining(["gap"]),
    ]);
    await delivery.complete();
    expect(rooms.trouble).toEqual([]);
  });

  test("O05: a number that was sent and has not ended moves nothing on: one that comes back goes before later ones", async () => {
    const agent = await join();
    await submit(1);
    await submit(2);
    agent.link.next().refuse("OVERLOADED", 500);
    await submit(3);
    await rooms.pass(1_000);
    expect([agent.link.next().envelope.input, agent.link.waiting]).toEqual([1, 0]);
  });

  test("go without it when the time is up, and the timeline says what is missing", async () => {
    const agent = await join();
    await submit(1);
    await agent.link.next().complete();
    const fourth = await submit(4);
    await rooms.pass(29_000);
    expect(agent.link.waiting).toBe(0);
    await rooms.pass(1_200);
    expect(agent.link.next().envelope.input).toBe(4);
    const told = await timeline(fourth);
    expect(told.find(({ type }) => type === "waiting")).toMatchObject({ missing: { from: 2, to: 3 } });
    expect(told.find(({ type }) => type === "gap")).toMatchObject({ missing: { from: 2, to: 3 } });
    expect(rooms.dispatcher.counts.gaps).toBe(1);
  });

  test("that came when the gap was old already go at once", async () => {
    const agent = await join();
    await submit(1);
    const first = agent.link.next();
    first.accept();
    await submit(3);
    for (let i = 0; i < 4; i++) {
      rooms.registry.renew(agent.instance);
      await rooms.pass(10_000);
    }
    await rooms.complete(agent, first);
    await rooms.pass(100);
    expect(agent.link.next().envelope.input).toBe(3);
  });

  test("O03: one that fails for good, or is canceled, lets the next one go", async () => {
    const agent = await join();
    await submit(1);
    agent.link.next().fail({ code: "NO", message: "no such order" });
    await submit(2);
    await rooms.pass(100);
    await agent.link.next().complete();
    const fourth = await submit(4);
    await submit(5);
    await rooms.tasks.cancel(anyone, fourth, "not wanted");
    await rooms.pass(100);
    expect(agent.link.next().envelope.input).toBe(5);
  });

  test("of another order do not wait", async () => {
    const agent = await join();
    await submit(1);
    await agent.link.next().complete();
    await submit(9);
    await submit(9, { ordering: { key: "other", mode: "barrier" } });
    await rooms.pass(100);
    expect(agent.link.deliveries.at(-1)!.envelope.input).toBe(9);
    expect(agent.link.waiting).toBe(1);
  });

  test("that were waiting when the node stopped go on after its restart", async () => {
    const agent = await join();
    await submit(1);
    await agent.link.next().complete();
    await submit(3);
    await rooms.pass(100);
    const again = await rooms.restart();
    const back = await again.join(card("a1", ["query"]), {});
    await again.pass(31_000);
    expect(back.link.next().envelope.input).toBe(3);
  });
});
