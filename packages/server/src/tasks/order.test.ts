import { beforeEach, describe, expect, test } from "vitest";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { localOperator } from "../access/access.js";
import { openMemory } from "../engines/memory/index.js";

let rooms: FakeRooms;
let agent: FakeAgent;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  agent = await rooms.join(card("a1", ["query", "refund"]));
});
const submit = async (input: unknown, more = {}): Promise<string> => {
  const reply = await rooms.submit({ capability: "query", input, ordering: { key: "k", mode: "barrier" }, ...more });
  return String(reply.results[0]?.["messageId"]);
};
const got = (): unknown[] => agent.link.deliveries.map((d) => d.envelope.input);

describe("tasks with one ordering key", () => {
  test("D24: go out one after another, each when the one before is terminal, however that ended", async () => {
    for (const input of [1, 2, 3, 4]) await submit(input);
    expect(got()).toEqual([1]);
    await agent.link.next().complete();
    await rooms.pass(0);
    expect(got()).toEqual([1, 2]);
    await agent.link.next().fail();
    await rooms.pass(0);
    expect(got()).toEqual([1, 2, 3]);
    agent.link.next().accept();
    await rooms.pass(10_000);
    expect(got()).toEqual([1, 2, 3]);
    await rooms.complete(agent, agent.link.deliveries[2]!);
    await rooms.pass(0);
    expect(got()).toEqual([1, 2, 3, 4]);
  });

  test("keep their order over different capabilities and targets", async () => {
    await submit("query");
    await submit("refund", { capability: "refund" });
    await submit("targeted", { target: { agentId: "a1" } });
    await submit("query again");
    for (const input of ["query", "refund", "targeted", "query again"]) {
      expect(got().at(-1)).toBe(input);
      await agent.link.next().complete();
      await rooms.pass(0);
    }
    expect(agent.link.waiting).toBe(0);
  });

  test("do not hold up other keys, nor tasks without one", async () => {
    await submit(1);
    await submit(2);
    await submit("other key", { ordering: { key: "other", mode: "barrier" } });
    await submit("no key", { ordering: undefined });
    expect(got()).toEqual([1, "other key", "no key"]);
  });

  test("O01: wait for one that is tried again, and are not overtaken by it", async () => {
    await submit(1);
    await submit(2);
    agent.link.next().refuse("NOT_NOW");
    await rooms.pass(500);
    expect(got()).toEqual([1]);
    await rooms.pass(1_000);
    expect(got()).toEqual([1, 1]);
  });

  test("take the session for the key if none is given, and need one of the two", async () => {
    const ordering = { mode: "barrier" as const };
    await submit(1, { ordering, sessionRef: "s1" });
    await submit(2, { ordering, sessionRef: "s1" });
    await submit(3, { ordering, sessionRef: "s2" });
    expect(got()).toEqual([1, 3]);
    const refused = await rooms.submit({ capability: "query", ordering });
    expect(refused.failure).toMatchObject({ code: "INVALID_REQUEST", path: "ordering.key" });
  });

  test("go on after a restart of the node", async () => {
    for (const input of [1, 2, 3]) await submit(input);
    rooms = await rooms.restart();
    agent = await rooms.join(card("a1", ["query", "refund"]), agent.registered);
    for (const input of [1, 2, 3]) {
      await rooms.pass(100);
      const delivery = agent.link.next();
      expect(delivery.envelope.input).toBe(input);
      await delivery.complete();
    }
  });

  describe("DLV-10: one that is taken in again", () => {
    /** The first has failed, the second is in the agent's hands, the third waits. */
    const firstFailed = async (): Promise<string[]> => {
      const ids = [await submit(1), await submit(2), await submit(3)];
      await agent.link.next().fail();
      await rooms.pass(0);
      expect(got()).toEqual([1, 2]);
      return ids;
    };
    const completeNext = async (): Promise<void> => {
      await agent.link.next().complete();
      await rooms.pass(0);
    };

    test("goes after what is in hands and before what waits, if it is submitted again", async () => {
      const [first] = await firstFailed();
      const again = await submit(1, { messageId: first });
      expect(again).toBe(first);
      await rooms.pass(4_000);
      expect(got()).toEqual([1, 2]);
      await completeNext();
      expect(got()).toEqual([1, 2, 1]);
      await completeNext();
      expect(got()).toEqual([1, 2, 1, 3]);
    });

    test("and likewise if an operator requeues it from the dead letters", async () => {
      const [first] = await firstFailed();
      expect(await rooms.tasks.requeue([first!])).toEqual([first]);
      await rooms.pass(1_000);
      expect(got()).toEqual([1, 2]);
      await completeNext();
      await completeNext();
      await completeNext();
      expect(got()).toEqual([1, 2, 1, 3]);
    });

    test("goes before one that was chosen already and is not written down as sent", async () => {
      const engine = await openMemory();
      const update = engine.tasks.update.bind(engine.tasks);
      rooms = await FakeRooms.open({ engine });
      agent = await rooms.join(card("a1", ["query"]));
      const first = await submit(1);
      await submit(2);
      let write = () => {};
      engine.tasks.update = async (task, data) => {
        if (task.state === "delivered") await new Promise<void>((go) => (write = go));
        return update(task, data);
      };
      await agent.link.next().fail();
      await rooms.pass(0);
      expect(agent.instance.running).toBe(1);
      engine.tasks.update = update;
      expect(await rooms.tasks.requeue([first])).toEqual([first]);
      await rooms.pass(100);
      expect(got()).toEqual([1, 1]);
      write();
      await rooms.pass(100);
      expect([got(), agent.instance.running]).toEqual([[1, 1], 1]);
      await completeNext();
      expect(got()).toEqual([1, 1, 2]);
      await completeNext();
      expect([agent.instance.running, rooms.trouble]).toEqual([0, []]);
    });

    test("takes the place of its number, and nothing is said to be missing", async () => {
      const ids: string[] = [];
      for (const sequence of [1, 2, 3]) ids.push(await submit(sequence, { sequence }));
      await agent.link.next().fail();
      await rooms.pass(0);
      await submit(1, { sequence: 1, messageId: ids[0] });
      for (let i = 0; i < 3; i++) await completeNext();
      expect(got()).toEqual([1, 2, 1, 3]);
      expect(rooms.dispatcher.counts.gaps).toBe(0);
    });
  });

  test("go on when the first is canceled", async () => {
    const first = await submit(1);
    await submit(2);
    await rooms.tasks.cancel(localOperator, first, "no longer needed");
    await rooms.pass(0);
    expect(got()).toEqual([1, 2]);
    expect(agent.link.cancels).toMatchObject([{ messageId: first, reason: "no longer needed" }]);
  });
});
