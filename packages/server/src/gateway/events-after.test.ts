import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { eventsAfter } from "./methods.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});

async function done(): Promise<string> {
  const agent = await rooms.join(card("a", ["query"]));
  const reply = await rooms.submit({ capability: "query", input: {} });
  await rooms.pass(0);
  await rooms.complete(agent, agent.link.next());
  await rooms.pass(1_000);
  return reply.results[0]!["messageId"] as string;
}

describe("DLV-18: the log of a task", () => {
  test("is read after its end, in order, and resumed from any id without a loss", async () => {
    const id = await done();
    const { events, ...more } = await eventsAfter(rooms.journal, id, 0);
    expect(more).toEqual({});
    expect(events.map(({ type }) => type)).toEqual(["submitted", "decision", "delivered", "completed"]);
    for (const [i, { id: after }] of events.entries())
      expect(await eventsAfter(rooms.journal, id, after)).toEqual({ events: events.slice(i + 1) });
  });

  test("of which the beginning was trimmed answers that there is a gap, and so does one that was trimmed whole", async () => {
    const id = await done();
    const { events } = await eventsAfter(rooms.journal, id, 0);
    const trimmed = { eventsOf: async () => events.slice(2) };
    expect(await eventsAfter(trimmed, id, 0)).toEqual({ events: events.slice(2), gap: true });
    expect(await eventsAfter(trimmed, id, events[2]!.id)).toEqual({ events: events.slice(3) });
    expect(await eventsAfter({ eventsOf: async () => [] }, id, 0)).toEqual({ events: [], gap: true });
  });
});
