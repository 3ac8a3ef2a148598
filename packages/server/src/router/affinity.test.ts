import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
let agents: FakeAgent[];
beforeEach(async () => {
  rooms = await FakeRooms.open();
  agents = [];
  for (let i = 0; i < 4; i++) agents.push(await rooms.join(card("group", ["chat"], { maxConcurrentTasks: 2 })));
});
const got = () => agents.map(({ link }) => link.deliveries.map(({ envelope }) => envelope.input));
const say = (input: unknown, sessionRef: string | null = "s1", more = {}) =>
  rooms.call({ capability: "chat", input, ...(sessionRef !== null && { sessionRef }), ...more });
/** Who got this. */
const home = (input: unknown): FakeAgent => agents.find((_, i) => got()[i]!.includes(input))!;
const answerAll = async () => {
  for (const { link } of agents) {
    while (link.waiting > 0) {
      const delivery = link.next();
      if (!delivery.answered) await delivery.complete();
    }
  }
  await rooms.pass(0);
};

describe("ROUTE-4: messages of one session", () => {
  test("stay on one instance, calls and tasks alike, and sessions spread over the group", async () => {
    for (let turn = 0; turn < 10; turn++) {
      say(`first ${turn}`);
      await rooms.submit({ capability: "chat", input: `task ${turn}`, sessionRef: "s1" });
      for (let s = 0; s < 12; s++) say(`${s}-${turn}`, `other-${s}`);
      await answerAll();
      await answerAll();
    }
    const homesOf = (prefix: string) => got().filter((all) => all.some((input) => String(input).startsWith(prefix)));
    expect([homesOf("first").length, homesOf("task").length]).toEqual([1, 1]);
    expect(home("first 0")).toBe(home("task 9"));
    for (let s = 0; s < 12; s++) expect(homesOf(`${s}-`)).toHaveLength(1);
    expect(new Set(Array.from({ length: 12 }, (_, s) => home(`${s}-0`))).size).toBeGreaterThan(1);
  });

  test("wait for their instance while it is full, though others are free, and nobody waits behind them", async () => {
    say("a");
    const { link, instance } = home("a");
    say("b");
    const messageId = "0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42";
    say("c", "s1", { messageId });
    const task = await rooms.submit({ capability: "chat", input: "d", sessionRef: "s1" });
    expect(got().flat()).toEqual(["a", "b"]);
    for (let i = 0; i < 6; i++) say(`free ${i}`, null);
    expect(got().flat()).toHaveLength(8);
    const waiting = (await rooms.journal.eventsOf(messageId)).find(({ type }) => type === "waiting");
    expect(waiting).toMatchObject({ decision: { waitsFor: { instanceId: instance.record.instanceId } } });
    await link.next().complete();
    await link.next().complete();
    await rooms.pass(100);
    expect(link.deliveries.map(({ envelope }) => envelope.input)).toEqual(["a", "b", "c", "d"]);
    expect(task.results).toHaveLength(1);
  });

  test("move when their instance goes, those that wait for it included, and stay where they moved to", async () => {
    say("a");
    const old = home("a");
    say("b");
    say("waits");
    await rooms.submit({ capability: "chat", input: "task waits", sessionRef: "s1" });
    await rooms.pass(0);
    await rooms.cut(old);
    await rooms.pass(100);
    const next = home("waits");
    expect(next).not.toBe(old);
    expect(home("task waits")).toBe(next);
    await answerAll();
    const back = await rooms.join(card("group", ["chat"], { maxConcurrentTasks: 2 }), old.registered);
    agents[agents.indexOf(old)] = back;
    say("later");
    expect(home("later")).toBe(next);
  });

  test("move away from an instance that drains", async () => {
    say("a");
    const old = home("a");
    await rooms.registry.change(old.instance, { type: "drain", reason: "an update" });
    say("b");
    expect(home("b")).not.toBe(old);
  });

  test("a dry run finds no home, and a refused message looks for another", async () => {
    say("dry", "s1", { dryRun: true });
    expect(rooms.router.sessions).toBe(0);
    say("a");
    const old = home("a");
    old.link.next().refuse("DRAINING");
    await rooms.pass(0);
    const moved = agents.filter(({ link }) => link !== old.link && link.deliveries.length > 0);
    expect(moved).toHaveLength(1);
    say("b");
    expect(home("b")).toBe(moved[0]);
  });

  test("fifty thousand sessions are remembered, those used last", async () => {
    const [agent] = agents;
    agent!.link.handler = (delivery) => void delivery.complete();
    for (const other of agents.slice(1)) await rooms.registry.change(other.instance, { type: "goodbye", reason: "" });
    for (let i = 0; i < 50_010; i++) say(i, `session-${i}`);
    expect(rooms.router.sessions).toBe(50_000);
  });
});
