import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { FakeSystem } from "../../../../test/kit/fake-system.js";
import { readLexicon } from "../engines/os/lexicon.js";
import { Concepts } from "./concepts.js";
import { Learner } from "./learner.js";
import { Meaning } from "./meaning.js";

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

/** Every look at the clock takes time, as if much were done between one and the next. */
class BusySystem extends FakeSystem {
  lookMs = 0;

  override monotonic(): number {
    this.stall(this.lookMs);
    return super.monotonic();
  }
}

describe("where much waits, and steps take long", () => {
  const concepts = new Concepts(readLexicon());
  const bicycle = card("late", [{ name: "bicycle.repair" }]);
  const many = (round: number) =>
    card(
      "crowd",
      Array.from({ length: 200 }, (_, i) => ({ name: `c${i}`, description: `round ${round}` })),
    );
  let system: BusySystem;
  let learner: Learner;

  beforeEach(async () => {
    system = new BusySystem();
    rooms = await FakeRooms.open({ system });
    learner = new Learner(rooms.registry.view, () => new Meaning(concepts, undefined), system);
  });
  const finds = (text: string) => learner.ask().rank(text, 1)[0]?.name;

  test("what came last is learnt first", async () => {
    await rooms.join(many(0));
    const { instance } = await rooms.join(bicycle);
    await rooms.pass(2_000);
    system.lookMs = 0.5;
    learner.start();
    learner.changed(instance);
    system.advance(10);
    expect(finds("bicycle")).toBe("bicycle.repair");
    expect(learner.waiting).toBeGreaterThan(100);
  });

  test("what comes while the index is made anew is found as soon as ever", async () => {
    const { instance, link } = await rooms.join(many(0));
    const rejoin = async (round: number) => {
      await rooms.join(many(round), { instanceId: instance.record.instanceId, link });
      learner.changed(instance);
    };
    for (let round = 1; round <= 7; round++) {
      await rejoin(round);
      system.advance(20);
    }
    const { instance: late } = await rooms.join(bicycle);
    await rejoin(8);
    await rooms.pass(0);
    system.lookMs = 0.5;
    // Less and less waits, until the index is made anew, for which all waits.
    for (let before = Infinity; learner.waiting <= before; system.advance(1)) before = learner.waiting;
    learner.changed(late);
    system.advance(10);
    expect(finds("bicycle")).toBe("bicycle.repair");
    expect(learner.waiting).toBeGreaterThan(100);
  });

  test("new cards do not wait for the pauses between the steps towards thresholds", async () => {
    const { instance } = await rooms.join(card("first", [{ name: "a", examples: ["walk the dog", "feed the cat"] }]));
    await rooms.pass(2_000);
    system.lookMs = 3;
    learner.changed(instance);
    // A new index settles at once. Its first step takes three milliseconds, and the next one is due after sixty more.
    const until = system.monotonic() + 30;
    while (system.monotonic() < until) system.advance(1);
    const { instance: late } = await rooms.join(bicycle);
    learner.changed(late);
    expect(finds("bicycle")).toBeUndefined();
    system.advance(20);
    expect(finds("bicycle")).toBe("bicycle.repair");
  });
});
