import { describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { rankOf } from "./partition.js";

const KEYS = Array.from({ length: 2_000 }, (_, i) => `customer-${i}`);
const owner = (key: string, members: readonly (readonly [id: string, weight: number])[]): string =>
  [...members].sort((a, b) => rankOf(key, b[0], b[1]) - rankOf(key, a[0], a[1]))[0]![0];
const owners = (members: readonly (readonly [string, number])[]) => KEYS.map((key) => owner(key, members));
const count = (all: readonly string[], id: string) => all.filter((each) => each === id).length;
const FOUR = ["a", "b", "c", "d"].map((id) => [`0199a5c2-6f0e-7c11-9b1e-00000000000${id}`, 100] as const);

describe("ROUTE-11: keys and their owners", () => {
  test("are shared evenly, also by ids that differ in one digit", () => {
    const all = owners(FOUR);
    for (const [id] of FOUR) expect(count(all, id)).toBeGreaterThan(KEYS.length / 4 - 120);
  });

  test("by weight", () => {
    const all = owners([FOUR[0]!, [FOUR[1]![0], 300]]);
    expect(count(all, FOUR[1]![0])).toBeGreaterThan(KEYS.length * 0.7);
    expect(count(all, FOUR[0]![0])).toBeGreaterThan(KEYS.length * 0.2);
  });

  test("evenly where all have no weight, and not at all beside one who has", () => {
    const none = FOUR.map(([id]) => [id, 0] as const);
    const all = owners(none);
    for (const [id] of none) expect(count(all, id)).toBeGreaterThan(KEYS.length / 4 - 120);
    expect(count(owners([none[0]!, FOUR[1]!]), FOUR[1]![0])).toBe(KEYS.length);
  });

  test("only those of whoever comes or goes are moved", () => {
    const before = owners(FOUR);
    const after = owners(FOUR.slice(1));
    for (const [i, each] of before.entries()) if (each !== FOUR[0]![0]) expect(after[i]).toBe(each);
  });
});

describe("ROUTE-11: messages with a partitionKey", () => {
  const open = async (ids: readonly string[], more = {}) => {
    const rooms = await FakeRooms.open();
    const agents: FakeAgent[] = [];
    for (const id of ids) agents.push(await rooms.join(card(id, ["query"], more)));
    return { rooms, agents };
  };
  const holder = (agents: readonly FakeAgent[]) => agents.find(({ link }) => link.waiting > 0)!;

  test("go to one instance, calls and tasks alike, and with it gone to another, all to the same", async () => {
    const { rooms, agents } = await open(["a", "b", "c"]);
    rooms.call({ capability: "query", partitionKey: "customer-7" });
    const first = holder(agents);
    first.link.next().complete(1);
    for (let i = 0; i < 5; i++) rooms.call({ capability: "query", partitionKey: "customer-7" });
    await rooms.submit({ capability: "query", partitionKey: "customer-7", input: {} });
    await rooms.pass(0);
    expect(first.link.waiting).toBe(6);
    await rooms.cut(first);
    const rest = agents.filter((agent) => agent !== first);
    for (let i = 0; i < 5; i++) rooms.call({ capability: "query", partitionKey: "customer-7" });
    expect(rest.map(({ link }) => link.waiting).sort()).toEqual([0, 5]);
  });

  test("wait for its owner when that is busy, though others are free", async () => {
    const { rooms, agents } = await open(["a", "b"], { maxConcurrentTasks: 1 });
    rooms.call({ capability: "query", partitionKey: "k" });
    const first = holder(agents);
    const second = rooms.call({ capability: "query", partitionKey: "k" });
    expect(agents.map(({ link }) => link.deliveries.length).sort()).toEqual([0, 1]);
    first.link.next().complete(1);
    await rooms.pass(0);
    first.link.next().complete(2);
    expect(second.data).toBe(2);
  });
});

describe("ROUTE-11: slow start", () => {
  test("a new instance gets a share that grows over 30 s", async () => {
    const rooms = await FakeRooms.open();
    const live = async (agents: readonly FakeAgent[]) => {
      for (let i = 0; i < 7; i++) {
        await rooms.pass(5_000);
        rooms.registry.renewAll(agents.map(({ instance }) => instance));
      }
    };
    const old = await rooms.join(card("old", ["query"], { maxConcurrentTasks: 1_000 }));
    await live([old]);
    const fresh = await rooms.join(card("fresh", ["query"], { maxConcurrentTasks: 1_000 }));
    const share = () => {
      const before = fresh.link.deliveries.length;
      for (let i = 0; i < 400; i++) {
        const reply = rooms.call({ capability: "query" });
        for (const { link } of [old, fresh]) while (link.waiting > 0) link.next().complete(i);
        if (reply.answers !== 1) throw new Error("not answered");
      }
      return (fresh.link.deliveries.length - before) / 400;
    };
    const first = share();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(0.25);
    await live([old, fresh]);
    expect(share()).toBeGreaterThan(0.35);
  });
});
