import { expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";

test("of a flood of calls that fail for one reason, 20 a second go to disk, and whoever else fails meanwhile; all are in memory", async () => {
  const rooms = await FakeRooms.open();
  const { link } = await rooms.join(card("a1", ["query", "rare"]));
  link.handler = (delivery) => void delivery.fail();
  let calls = 0;
  const fail = (capability: string): string => {
    const messageId = `${capability}-${++calls}`;
    expect(rooms.call({ capability, messageId }).failure).toMatchObject({ code: "AGENT_ERROR" });
    return messageId;
  };
  const stored = async (capability: string): Promise<number> => {
    await rooms.pass(1_000);
    const { events } = await rooms.engine.journal.since(0, 10_000);
    return events.filter(({ type, messageId }) => type === "failed" && messageId!.startsWith(capability)).length;
  };

  for (let n = 0; n < 100; n++) fail("query");
  fail("rare");
  expect(await stored("query")).toBe(20);
  expect(await stored("rare")).toBe(1);

  const last = fail("query");
  expect(await stored("query")).toBe(21);
  for (const messageId of ["query-100", last])
    expect((await rooms.journal.eventsOf(messageId)).map(({ type }) => type)).toContain("failed");
});
