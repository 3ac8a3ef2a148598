import { expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { Wordings } from "./wordings.js";

test("of many capabilities some are read at a stretch, whoever comes meanwhile first, and in the end all of them", async () => {
  const rooms = await FakeRooms.open();
  const wordings = new Wordings(rooms.registry.view, rooms.system);
  const full = (agentId: string) =>
    card(
      agentId,
      Array.from({ length: 250 }, (_, i) => ({ name: `${agentId}.${i}`, examples: [`example ${i} of ${agentId}`] })),
    );
  for (const agentId of ["a1", "a2", "a3", "a4", "a5"]) await rooms.join(full(agentId));
  const found = (phrase: string) => wordings.exemplified(phrase).map(({ name }) => name);
  const idle = rooms.system.pending;
  expect(found("example 7 of a2")).toEqual(["a2.7"]);
  expect(found("example 7 of a5")).toEqual([]);
  const { instance } = await rooms.join(card("late", [{ name: "late", examples: ["late one"] }]));
  wordings.changed(instance);
  expect(found("late one")).toEqual(["late"]);
  rooms.system.advance(10);
  expect(found("example 7 of a5")).toEqual(["a5.7"]);
  expect(wordings.named("a5 249").map(({ name }) => name)).toEqual(["a5.249"]);
  expect(rooms.system.pending).toBeLessThanOrEqual(idle);
});
