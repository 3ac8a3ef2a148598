import { beforeEach, describe, expect, test } from "vitest";
import { gate } from "../../../../test/kit/fake-peer.js";
import { callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { FanOut } from "../../../../test/kit/fan-out.js";
import type { LaneBook } from "./lanes.js";

let rooms: FakeRooms;
let fanOut: FanOut;
beforeEach(async () => {
  rooms = await FakeRooms.open({ synonyms: { query: ["ask"] } });
  fanOut = new FanOut(rooms);
});
const stored = () => rooms.engine.tasks.list({}, { limit: 1_000, order: "oldest" });
const join = async (agentId: string, topics: string[] = [], capabilities = ["query"]): Promise<FakeAgent> => {
  const agent = await rooms.join(card(agentId, capabilities));
  for (const topic of topics) await rooms.registry.subscriptions.subscribe("default", agentId, topic);
  return agent;
};
/** What each agent got, to be completed by the test. */
const got = ({ link }: FakeAgent) => link.deliveries.map(({ envelope }) => envelope.input);

describe("DLV-16: publish to a topic", () => {
  test("makes one task for each agent that subscribes, whichever of its instances takes it", async () => {
    const [a, b, c] = [await join("a", ["news"]), await join("b", ["news", "else"]), await join("c", ["else"])];
    const twin = await rooms.join(card("a", ["query"]));
    const published = await fanOut.publish({ topic: "news", input: { n: 1 } }, callerOf("editor"));
    expect(published).toEqual({ groupId: expect.any(String), deliveries: 2 });
    await rooms.pass(0);
    expect([...got(a), ...got(twin)]).toEqual([{ n: 1 }]);
    expect([got(b), got(c)]).toEqual([[{ n: 1 }], []]);
    expect(b.link.deliveries[0]!.envelope).toMatchObject({
      kind: "task",
      capability: "news",
      topic: "news",
      source: { agentId: "editor" },
      target: { agentId: "b", instanceId: b.registered.instanceId },
      idempotencyKey: `${published.groupId}/b`,
    });
    for (const task of await stored()) expect(task).toMatchObject({ groupId: published.groupId, capability: "news" });
  });

  test("is tracked for each agent by itself", async () => {
    const [a, b] = [await join("a", ["news"]), await join("b", ["news"])];
    const { groupId } = await fanOut.publish({ topic: "news" }, { ...callerOf("editor"), sessionId: "s1" });
    await rooms.pass(0);
    await a.link.next().complete("read");
    await b.link.next().fail();
    await rooms.pass(0);
    const tasks = await stored();
    expect(tasks.map(({ agentId, state, data }) => [agentId, state, data])).toEqual([
      ["a", "completed", '"read"'],
      ["b", "failed", undefined],
    ]);
    expect(fanOut.settled.map(({ group }) => group)).toMatchObject([{ groupId, total: 2, settled: true }]);
    expect(await fanOut.groups.requeue(callerOf("editor"), groupId)).toBe(1);
  });

  test("of which nobody has heard goes to nobody", async () => {
    await join("a", ["news"]);
    expect(await fanOut.publish({ topic: "olds" })).toMatchObject({ deliveries: 0 });
    expect(await stored()).toEqual([]);
  });

  test("says for whom it is while it waits for another try, and after a restart", async () => {
    const a = await join("a", ["news"]);
    await join("b", ["news"]);
    await fanOut.publish({ topic: "news" });
    await rooms.pass(0);
    await a.link.next().refuse("INTERNAL");
    await rooms.cut(a);
    await rooms.pass(20_000);
    const waiting = () => rooms.engine.tasks.list({ agentId: "a", states: ["queued"] }, { limit: 10 });
    expect(await waiting()).toMatchObject([{ agentId: "a", instanceId: undefined, attempt: 1 }]);
    rooms = await rooms.restart();
    expect(await waiting()).toHaveLength(1);
  });

  test("is for those who subscribe when it is taken: not for who comes later, and still for who is away", async () => {
    const a = await join("a", ["news"]);
    await rooms.cut(a);
    await rooms.registry.deregister(a.instance, "restarts");
    expect(await fanOut.publish({ topic: "news", input: "missed" })).toMatchObject({ deliveries: 1 });
    const b = await join("b", ["news"]);
    const back = await rooms.join(card("a", ["query"]));
    await rooms.pass(1_000);
    expect([got(back), got(b)]).toEqual([["missed"], []]);
  });

  test("does not wait behind what only those can take who offer a capability of that name", async () => {
    const offering = await rooms.join(card("both", ["news"], { maxConcurrentTasks: 1 }));
    const free = await join("both", ["news"]);
    for (const input of ["runs", "waits"])
      await rooms.submit({ capability: "news", target: { agentId: "both" }, input });
    await fanOut.publish({ topic: "news", input: "published" });
    await rooms.pass(0);
    expect(offering.link.deliveries.map(({ envelope }) => [envelope.topic, envelope.input])).toEqual([
      [undefined, "runs"],
    ]);
    expect(free.link.deliveries.map(({ envelope }) => [envelope.topic, envelope.input])).toEqual([
      ["news", "published"],
    ]);
  });

  test("that the agent no longer subscribes to when its turn comes is a dead letter which says so", async () => {
    const a = await join("a", ["news"]);
    await rooms.cut(a);
    await fanOut.publish({ topic: "news" });
    await rooms.pass(100);
    await rooms.registry.subscriptions.unsubscribe("default", "a", "news");
    await rooms.pass(100);
    expect((await stored())[0]).toMatchObject({
      state: "dead",
      error: { code: "NO_ROUTE", message: expect.stringContaining('a does not subscribe to "news" any more') },
    });
  });

  test("for an agent that is forgotten meanwhile is a dead letter at once, and nothing is held for it any longer", async () => {
    const a = await join("a", ["news"]);
    await rooms.registry.deregister(a.instance, "bye");
    await fanOut.publish({ topic: "news", deadlineMs: 72 * 3_600_000 });
    // On a disk each step of forgetting takes its time: the last instance first, and the agent after it.
    const { registry } = rooms.engine;
    const remove = registry.remove.bind(registry);
    registry.remove = async (kind, key, revision) => {
      await settle();
      return remove(kind, key, revision);
    };
    await rooms.leap(25 * 3_600_000);
    await rooms.registry.purge();
    await rooms.pass(100);
    expect(rooms.registry.view.agents.size).toBe(0);
    expect((await stored())[0]).toMatchObject({ state: "dead", error: { code: "NO_ROUTE" } });
    expect((rooms.dispatcher as unknown as { lanes: LaneBook }).lanes.anyBlocked).toBe(false);
  });

  test("RES-1: an agent whose handler of the topic is broken gets probes alone, and its capabilities work on", async () => {
    const a = await join("a", ["news"]);
    a.link.handler = (delivery) => (delivery.envelope.topic === undefined ? undefined : delivery.refuse("INTERNAL"));
    for (let n = 0; n < 30; n++) await fanOut.publish({ topic: "news", input: n });
    await rooms.pass(2_000);
    const refused = a.link.deliveries.length;
    expect(refused).toBeLessThan(30);
    const call = rooms.call({ capability: "query" });
    await a.link.deliveries.at(-1)!.complete("fine");
    expect(call.data).toBe("fine");
    a.link.handler = (delivery) => void delivery.complete();
    await rooms.pass(120_000);
    const states = (await stored()).map(({ state }) => state);
    expect(states.filter((state) => state === "queued")).toEqual([]);
  });
});

describe("DLV-16: publish to a capability", () => {
  test("makes one task for each agent that offers it or has offered it of late", async () => {
    const [a, b] = [await join("a"), await join("b")];
    await rooms.join(card("a", ["query"]));
    await join("c", [], ["other"]);
    const gone = await join("gone");
    await rooms.registry.deregister(gone.instance, "bye");
    expect(await fanOut.publish({ capability: "query", input: 1 })).toMatchObject({ deliveries: 3 });
    await rooms.pass(0);
    expect((await stored()).map(({ request }) => request.target?.agentId)).toEqual(["a", "b", "gone"]);
    expect(got(b)).toEqual([1]);
    expect(b.link.deliveries[0]!.envelope.topic).toBeUndefined();
    expect(a.instance.running + b.instance.running).toBeLessThanOrEqual(2);
  });

  test("by a synonym goes to those who offer what it stands for, and may be repeated", async () => {
    await join("a");
    expect(await fanOut.publish({ capability: "ask", groupId: "g" })).toEqual({ groupId: "g", deliveries: 1 });
    expect(await fanOut.publish({ capability: "ask", groupId: "g" })).toEqual({ groupId: "g", deliveries: 1 });
    expect((await stored()).map(({ capability }) => capability)).toEqual(["query"]);
  });

  test("that nobody ever offered is refused", async () => {
    await expect(fanOut.publish({ capability: "nothing" })).rejects.toMatchObject({ code: "NO_ROUTE" });
  });

  test("whose input one of them does not take is refused for all, and that one is named", async () => {
    await join("a");
    const inputSchema = { type: "object", required: ["id"] };
    await rooms.join(card("picky", [{ name: "query", inputSchema }]));
    await expect(fanOut.publish({ capability: "query", input: {} })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("for picky: "),
      path: "id",
    });
    expect(await stored()).toEqual([]);
    expect(await fanOut.publish({ capability: "query", input: { id: 1 } })).toMatchObject({ deliveries: 2 });
  });

  test("is not taken over by those who stand in on somebody's card, who got it themselves", async () => {
    const a = await rooms.join(card("a", [{ name: "query", fallback: ["b"] }]));
    const b = await join("b");
    await rooms.cut(a);
    b.link.handler = (delivery) => void delivery.complete();
    await fanOut.publish({ capability: "query", input: 1 });
    await rooms.pass(30_000);
    expect(got(b)).toEqual([1]);
  });
});

describe("a publish", () => {
  test("goes to exactly one of topic and capability", async () => {
    await join("a", ["news"]);
    for (const params of [{ input: 1 }, { topic: "news", capability: "query" }])
      await expect(fanOut.publish(params)).rejects.toMatchObject({ code: "INVALID_REQUEST", path: "topic" });
    expect(await stored()).toEqual([]);
  });

  test("DLV-20: may be spelled flat, where the subject is the topic, and its input is kept to the digit", async () => {
    const a = await join("a", ["news"]);
    await fanOut.publish('{"subject":"news","payload":12345678901234567890,"from_agent":"x"}');
    await rooms.pass(0);
    expect(a.link.deliveries[0]!.message.envelope).toContain('"input":12345678901234567890');
  });

  test("cannot be tried dry, and is not carried out instead", async () => {
    await join("a", ["news"]);
    await expect(fanOut.publish({ topic: "news", dryRun: true })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      path: "dryRun",
    });
    expect(await stored()).toEqual([]);
  });

  test("DLV-7: repeated while it is being taken, and meanwhile agents come and go, is one publish, to those who are there then", async () => {
    await join("a", ["news"]);
    await join("b");
    const params = { topic: "news", input: 1, groupId: "g" };
    const looked = gate();
    const { tasks } = rooms.engine;
    const list = tasks.list.bind(tasks);
    tasks.list = async (...asked) => {
      await looked.opened;
      return list(...asked);
    };
    const first = fanOut.publish(params);
    await rooms.registry.subscriptions.subscribe("default", "b", "news");
    const more = fanOut.publish(params);
    await rooms.registry.subscriptions.unsubscribe("default", "a", "news");
    const other = fanOut.publish(params);
    looked.open(undefined);
    expect(await Promise.all([first, more, other])).toEqual(Array(3).fill({ groupId: "g", deliveries: 1 }));
    expect((await stored()).map(({ request }) => request.target?.agentId)).toEqual(["b"]);
  });

  test("into a group of other tasks is refused", async () => {
    await join("a", ["news"]);
    await rooms.submit({ capability: "query", groupId: "g" });
    await expect(fanOut.publish({ topic: "news", groupId: "g" })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("reaches no more agents than one request may make tasks", async () => {
    fanOut = new FanOut(rooms, 2);
    for (const id of ["a", "b", "c"]) await join(id, ["news"]);
    await expect(fanOut.publish({ topic: "news" })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      details: { tasks: 3, tasksPerRequestMax: 2 },
    });
    expect(await stored()).toEqual([]);
  });

  test("RES-8: within the handling of the same is a loop", async () => {
    const a = await join("a", ["news"]);
    await fanOut.publish({ topic: "news", input: 1 });
    await rooms.pass(0);
    const { messageId } = a.link.next().envelope;
    await expect(fanOut.publish({ topic: "news", input: 1, parentId: messageId })).rejects.toMatchObject({
      code: "LOOP_DETECTED",
    });
  });

  test("to many lets others be heard while it goes out", async () => {
    fanOut = new FanOut(rooms, 1_000);
    const agents: FakeAgent[] = [];
    for (let n = 0; n < 250; n++) agents.push(await join(`a-${n}`, ["news"]));
    await fanOut.publish({ topic: "news" });
    const reached = () => agents.filter(({ link }) => link.deliveries.length > 0).length;
    expect(reached()).toBeGreaterThan(0);
    expect(reached()).toBeLessThanOrEqual(100);
    await rooms.pass(10);
    expect(reached()).toBe(250);
  });

  test("to many who are away does not have all of them looked at whenever one has room", async () => {
    fanOut = new FanOut(rooms, 1_000);
    const here = await join("here");
    for (let n = 0; n < 300; n++) {
      const away = await join(`away-${n}`);
      await rooms.cut(away);
    }
    expect(await fanOut.publish({ capability: "query", input: "all" })).toMatchObject({ deliveries: 301 });
    await rooms.pass(100);
    let claims = 0;
    const { tasks } = rooms.engine;
    const claimDue = tasks.claimDue.bind(tasks);
    tasks.claimDue = (claim) => {
      claims++;
      return claimDue(claim);
    };
    await here.link.next().complete();
    await rooms.pass(100);
    expect(claims).toBeLessThan(10);
  });
});
