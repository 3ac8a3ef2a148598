import { beforeEach, describe, expect, test } from "vitest";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open({ limits: { queuedCallsMax: 3 } });
});
const single = (id: string, more = {}): Promise<FakeAgent> =>
  rooms.join(card(id, ["query"], { maxConcurrentTasks: 1, ...more }));
const verdict = ({ failure }: FakeReply) => [failure.code, failure.outcome, failure.retryable];

describe("ROUTE-1: when everybody is busy", () => {
  test("calls wait in order of arrival and are served as slots come free", async () => {
    const agent = await single("a1");
    const replies = ["one", "two", "three"].map((input) => rooms.call({ capability: "query", input }));
    for (const input of ["one", "two", "three"]) {
      const delivery = agent.link.next();
      expect(delivery.envelope.input).toBe(input);
      expect(agent.instance.running).toBe(1);
      delivery.complete(input);
      await rooms.pass(0);
    }
    expect(replies.map((r) => r.data)).toEqual(["one", "two", "three"]);
  });

  test("until the deadline: BUSY, surely not executed, with when to try again", async () => {
    const agent = await single("a1");
    rooms.call({ capability: "query" });
    const waiting = rooms.call({ capability: "query", timeoutMs: 3_000 });
    agent.link.next().accept();
    await rooms.pass(2_990);
    expect(waiting.answers).toBe(0);
    await rooms.pass(20);
    expect(verdict(waiting)).toEqual(["BUSY", "not_executed", true]);
    expect(waiting.failure.retryAfterMs).toBeGreaterThan(0);
    expect(rooms.admission.waiting("query")).toBe(0);
  });

  test("RES-5: no more than so many; the next is told at once", async () => {
    await single("a1");
    const replies = Array.from({ length: 6 }, () => rooms.call({ capability: "query" }));
    expect(replies.map((r) => r.answers)).toEqual([0, 0, 0, 0, 1, 1]);
    expect(verdict(replies[5]!)).toEqual(["BUSY", "not_executed", true]);
  });

  test("a newcomer takes over what waits", async () => {
    await single("a1");
    rooms.call({ capability: "query" });
    const waiting = rooms.call({ capability: "query" });
    const second = await single("a2");
    second.link.next().complete("by the newcomer");
    expect(waiting.data).toBe("by the newcomer");
  });

  test("calls for one agent do not hold up calls for anybody", async () => {
    const [one, two] = [await single("a1"), await single("a2")];
    rooms.call({ capability: "query", target: { agentId: "a1" } });
    rooms.call({ capability: "query", target: { agentId: "a2" } });
    const targeted = rooms.call({ capability: "query", target: { agentId: "a1" } });
    const anywhere = rooms.call({ capability: "query" });
    two.link.next().complete();
    await rooms.pass(0);
    two.link.next().complete("anywhere");
    expect([anywhere.data, targeted.answers]).toEqual(["anywhere", 0]);
    one.link.next().complete();
    await rooms.pass(0);
    one.link.next().complete("here");
    expect(targeted.data).toBe("here");
  });

  test("one that fails while it waits does not take the others' places with it", async () => {
    const [one, two] = [await single("a1"), await single("a2")];
    rooms.call({ capability: "query", target: { agentId: "a1" } });
    rooms.call({ capability: "query", target: { agentId: "a2" } });
    // Refused by the only one who is free, and so waiting for the one who is full.
    const three = await single("a3");
    const doomed = rooms.call({ capability: "query", labels: {} });
    three.link.next().refuse("NOT_NOW");
    const patient = rooms.call({ capability: "query", target: { agentId: "a2" } });
    expect([doomed.answers, patient.answers]).toEqual([0, 0]);
    await rooms.registry.drain(one.instance, "deploy");
    await rooms.registry.drain(two.instance, "deploy");
    rooms.admission.room(three.instance);
    await rooms.pass(0);
    expect(doomed.failure.code).toBe("UNAVAILABLE");
    expect(rooms.admission.waiting("query")).toBe(1);
    const back = await single("a2", { description: "another instance" });
    back.link.next().complete("served after all");
    expect(patient.data).toBe("served after all");
  });

  test("an instance whose link is behind is full until there is room", async () => {
    const agent = await single("a1");
    agent.link.full = true;
    const reply = rooms.call({ capability: "query" });
    expect(agent.link.deliveries).toEqual([]);
    agent.link.full = false;
    rooms.admission.room(agent.instance);
    await rooms.pass(0);
    agent.link.next().complete("now");
    expect(reply.data).toBe("now");
  });
});

describe("DLV-5: when nobody is able", () => {
  test("the call waits for a return, which serves it", async () => {
    const agent = await single("a1");
    await rooms.cut(agent);
    const reply = rooms.call({ capability: "query" });
    expect(reply.answers).toBe(0);
    const back = await single("a1");
    back.link.next().complete("back");
    expect(reply.data).toBe("back");
  });

  test("until the deadline: UNAVAILABLE, with why for each", async () => {
    const suspect = await single("a1");
    await rooms.cut(suspect);
    const gone = await single("a2");
    await rooms.registry.deregister(gone.instance, "done");
    const reply = rooms.call({ capability: "query", timeoutMs: 3_000 });
    await rooms.pass(3_010);
    expect(verdict(reply)).toEqual(["UNAVAILABLE", "not_executed", true]);
    expect(reply.failure.details?.["waitedFor"]).toEqual([
      { agentId: "a1", instanceId: suspect.registered.instanceId, why: "suspect" },
      { agentId: "a2", instanceId: gone.registered.instanceId, why: "offline" },
    ]);
  });

  test("what nobody ever offered is refused at once", () => {
    expect(verdict(rooms.call({ capability: "ghost" }))).toEqual(["NO_ROUTE", "not_executed", false]);
    expect(rooms.calls.counts.inFlight).toBe(0);
  });
});

test("the slots of an instance outlast a change of its card", async () => {
  const agent = await single("a1");
  const reply = rooms.call({ capability: "query" });
  const { instanceId } = agent.registered;
  await rooms.join(card("a1", ["query", "more"], { maxConcurrentTasks: 2 }), { instanceId, link: agent.link });
  expect(agent.instance.running).toBe(1);
  agent.link.next().complete("done");
  expect([reply.data, agent.instance.running]).toEqual(["done", 0]);
});
