import { beforeEach, describe, expect, test } from "vitest";
import type { FakeDelivery } from "../../../../test/kit/fake-link.js";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

const SAFE = { name: "safe", idempotent: true };
const ACK_MS = 5_010;
let rooms: FakeRooms;
let silent: FakeAgent;
let busy: FakeAgent;
let occupant: FakeDelivery;

/** Sent to `silent`, who says nothing, and now in line for `busy`. */
async function inDoubt(more: object = {}): Promise<{ reply: FakeReply; first: FakeDelivery }> {
  const reply = rooms.call({ capability: "safe", timeoutMs: 20_000, ...more });
  const first = silent.link.next();
  await rooms.pass(ACK_MS);
  expect([reply.answers, rooms.admission.waiting("safe")]).toEqual([0, 1]);
  return { reply, first };
}
const noSlots = () => expect([silent, busy].map(({ instance }) => instance.running)).toEqual([0, 0]);

describe("C2: a call whose first agent is silent, and which waits for somebody else", () => {
  beforeEach(async () => {
    rooms = await FakeRooms.open();
    busy = await rooms.join(card("busy", [SAFE], { maxConcurrentTasks: 1 }));
    rooms.call({ capability: "safe", timeoutMs: 60_000 });
    occupant = busy.link.next();
    occupant.accept();
    silent = await rooms.join(card("silent", [SAFE], { maxConcurrentTasks: 1 }));
  });

  test("keeps its one place when the first says no after all, and then nothing of it is in doubt", async () => {
    const { reply, first } = await inDoubt();
    first.refuse("NOT_NOW");
    await rooms.pass(0);
    expect([reply.answers, rooms.admission.waiting("safe")]).toEqual([0, 1]);
    await rooms.pass(20_000);
    expect(reply.failure).toMatchObject({ code: "BUSY", outcome: "not_executed" });
    expect(rooms.admission.waiting("safe")).toBe(0);
  });

  test("which ended leaves the line whole for those behind it", async () => {
    const { reply, first } = await inDoubt();
    first.refuse("NOT_NOW");
    rooms.call({ capability: "safe", timeoutMs: 60_000, target: { agentId: "silent" } });
    silent.link.next().accept();
    const behind = rooms.call({ capability: "safe", timeoutMs: 60_000 });
    await rooms.pass(20_000);
    expect([reply.answers, rooms.admission.waiting("safe")]).toEqual([1, 1]);
    await rooms.complete(busy, occupant);
    await rooms.pass(0);
    busy.link.next().complete("behind");
    expect([behind.data, rooms.admission.waiting("safe")]).toEqual(["behind", 0]);
  });

  test("waits on when the first is lost", async () => {
    const { reply } = await inDoubt();
    await rooms.cut(silent);
    await rooms.pass(10_000);
    expect([reply.answers, rooms.admission.waiting("safe")]).toEqual([0, 1]);
    await rooms.complete(busy, occupant);
    await rooms.pass(0);
    busy.link.next().complete("second");
    expect([reply.data, rooms.admission.waiting("safe")]).toEqual(["second", 0]);
    noSlots();
  });

  test("RES-9: goes to whoever stands in for the no of the first, and to nobody besides", async () => {
    const { reply, first } = await inDoubt({ fallback: ["other"], fallbackOn: ["SOLD_OUT"] });
    const stand = await rooms.join(card("stand", ["other"]));
    first.fail({ code: "SOLD_OUT", message: "none left" });
    expect(rooms.admission.waiting("safe")).toBe(0);
    await rooms.complete(busy, occupant);
    await rooms.pass(0);
    expect(busy.link.waiting).toBe(0);
    stand.link.next().complete("from another shop");
    expect(reply.results[0]).toMatchObject({ data: "from another shop", degraded: true });
  });
});
