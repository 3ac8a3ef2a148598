import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const find = (intent: string) => rooms.catalog.find({ tenant: "default", intent });
const nearest = (text: string): string[] => rooms.catalog.misses(text).map(({ capability }) => capability);

describe("what is registered is learnt beside everything else", () => {
  test("nobody waits for it, and within a second it is found by its meaning", async () => {
    await rooms.join(card("a1", [{ name: "order.cancel", examples: ["cancel my order", "stop the order"] }]));
    expect(nearest("please cancel the order for me")).toEqual([]);
    const tooSoon = rooms.catalog.resolve({ tenant: "default", intent: "please cancel the order for me" });
    expect(tooSoon).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("not all learnt yet (1 to go): ask again in a moment") },
    });
    await rooms.pass(1_000);
    expect(find("please cancel the order for me")).toMatchObject({
      verdict: "match",
      resolved: [{ name: "order.cancel", reasons: expect.arrayContaining(["meaning"]) }],
    });
  });

  test("what all who offer it say of it counts, and what nobody says any more does not", async () => {
    const one = await rooms.join(card("a1", [{ name: "x", description: "paint a portrait" }]));
    await rooms.join(card("a2", [{ name: "x", description: "repair a bicycle" }]));
    await rooms.pass(1_000);
    expect([nearest("portrait"), nearest("bicycle")]).toEqual([["x"], ["x"]]);
    await rooms.registry.deregister(one.instance, "done");
    await rooms.join(card("a1", [{ name: "y" }]), { instanceId: one.registered.instanceId });
    await rooms.pass(1_000);
    expect([nearest("portrait"), nearest("bicycle")]).toEqual([[], ["x"]]);
  });

  test("CAT-2: what nobody describes is found by the words of its tags", async () => {
    await rooms.join(card("a1", [{ name: "data_fetch", tags: ["data/fetch/sql"], examples: ["top ten customers"] }]));
    await rooms.join(card("a2", [{ name: "notify", tags: ["message/send"] }]));
    await rooms.pass(1_000);
    for (const text of ["sql查询", "跑个sql", "run sql"]) expect(nearest(text)).toEqual(["data_fetch"]);
    expect(nearest("message")).toEqual(["notify"]);
  });

  test("who is there when the node starts is learnt as well", async () => {
    await rooms.join(card("a1", [{ name: "bicycle.repair" }]));
    const again = await rooms.restart();
    await again.pass(1_000);
    expect(again.catalog.misses("bicycle").map(({ capability }) => capability)).toEqual(["bicycle.repair"]);
  });

  test("nothing is left to do when all is learnt", async () => {
    const idle = rooms.system.pending;
    await rooms.join(card("a1", [{ name: "bicycle.repair", examples: ["my bike is broken"] }]));
    await rooms.pass(2_000);
    await rooms.join(card("a2", [{ name: "bicycle.repair", examples: ["my bike is broken"] }]));
    await rooms.pass(2_000);
    // Each of the two leases has its place on the wheel, which has one timer.
    expect(rooms.system.pending).toBeLessThanOrEqual(idle + 1);
  });

  test("cards that come and go by the thousand do not pile up", async () => {
    const { instance, link } = await rooms.join(card("a1", ["first"]));
    for (let n = 0; n < 30; n++) {
      const names = Array.from({ length: 100 }, (_, i) => ({ name: `c${n}-${i}` }));
      await rooms.join(card("a1", names), { instanceId: instance.record.instanceId, link });
      await rooms.pass(1_000);
    }
    expect(nearest("c29-7")).toContain("c29-7");
    expect(nearest("c3-7")).not.toContain("c3-7");
  });
});
