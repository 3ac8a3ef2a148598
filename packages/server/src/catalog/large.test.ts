import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { SlowSystem } from "../../../../test/kit/slow-system.js";
import { readLexicon } from "../engines/os/lexicon.js";
import type { Advice } from "./advice.js";
import { Catalog } from "./catalog.js";
import { Concepts } from "./concepts.js";
import type { Found } from "./found.js";
import { Learner } from "./learner.js";
import { Meaning } from "./meaning.js";
import { Synonyms } from "./synonyms.js";

const concepts = new Concepts(readLexicon());
const capabilities = [
  { name: "order.cancel", examples: ["cancel my order", "stop the order"] },
  { name: "order.list", examples: ["show me my orders"] },
  { name: "bicycle.repair", examples: ["my bike is broken"] },
];
let rooms: FakeRooms;
let system: SlowSystem;

/** Over what is registered; from how many capabilities on it counts as large. */
function catalogWith(large: number): Catalog {
  const newMeaning = () => new Meaning(concepts, undefined);
  const learner = new Learner(rooms.registry.view, newMeaning, system, undefined, large);
  const catalog = new Catalog(rooms.registry.view, system, new Synonyms(), learner);
  catalog.start();
  for (let i = 0; i < 2_000; i++) system.advance(1);
  return catalog;
}

beforeEach(async () => {
  system = new SlowSystem();
  rooms = await FakeRooms.open({ system });
  await rooms.join(card("shop", capabilities));
});
const wanted = (intent: string) => ({ tenant: "default", intent });
const consult = (catalog: Catalog, intent: string) => catalog.consult(wanted(intent), { isLocal: true });

/** Lets others have their turns until it is through; answers how many it took. */
async function turnsOf(reading: Promise<Advice>): Promise<number> {
  let isThrough = false;
  void reading.then(() => {
    isThrough = true;
  });
  for (let turns = 0; ; turns++) {
    await settle();
    if (isThrough) return turns;
    system.advance(1);
  }
}

describe("a large catalog is asked in turns", () => {
  test("and says what a small one says, whatever is asked and registered meanwhile", async () => {
    const catalog = catalogWith(0);
    const expected = catalog.find(wanted("please cancel the order for me"));
    expect(expected.verdict).toBe("match");
    const reading = consult(catalog, "please cancel the order for me")!;
    expect(catalog.find(wanted("repair this bicycle")).resolved[0]!.name).toBe("bicycle.repair");
    const { instance } = await rooms.join(
      card("late", [{ name: "order.annul", examples: ["please cancel the order"] }]),
    );
    catalog.changed(instance);
    expect(await turnsOf(reading)).toBeGreaterThan(1);
    const found = catalog.find({ ...wanted("please cancel the order for me"), advice: await reading });
    // What words are worth, and how much it is like what is served at all, hangs on all cards, the late one among them.
    const namesOf = ({ resolved, behind = [] }: Found) => [...resolved, ...behind].map(({ name }) => name);
    expect([found.verdict, ...namesOf(found)]).toEqual([expected.verdict, ...namesOf(expected)]);
    expect(found.resolved[0]!.match).toBeCloseTo(expected.resolved[0]!.match, 1);
    expect(found.fit).toBeCloseTo(expected.fit!, 1);
  });

  test("one question at a time, each answered", async () => {
    const catalog = catalogWith(0);
    const texts = ["please cancel the order for me", "do list the orders", "please repair the bike"];
    const readings = texts.map((text) => consult(catalog, text)!);
    const counts = [];
    for (const reading of readings) counts.push(await turnsOf(reading));
    expect(Math.min(...counts)).toBeGreaterThan(1);
    const found = await Promise.all(readings.map(async (reading) => (await reading).answer?.ranked[0]?.name));
    expect(found).toEqual(["order.cancel", "order.list", "bicycle.repair"]);
  });

  test("but not for its very words, nor a small one", () => {
    expect(consult(catalogWith(0), "cancel my order")).toBeUndefined();
    expect(consult(catalogWith(4), "please cancel the order for me")).toBeUndefined();
  });
});
