import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeSystem, settle } from "../../../../test/kit/fake-system.js";
import { newInstance } from "../ports/conformance/samples.js";
import { Contracts } from "../registry/contract.js";
import { LiveInstance, Offer } from "../registry/instance.js";
import { Admission, type Waiter } from "./admission.js";

const contracts = new Contracts();
function instance(capacity: number, ...names: string[]): LiveInstance {
  const record = newInstance("i1");
  record.card = { agentId: "a1", maxConcurrentTasks: capacity };
  const live = new LiveInstance(record, { heartbeatIntervalMs: 1, ttlMs: 1, graceMs: 1 });
  live.offers = names.map((name) => new Offer(live, { name }, contracts.of({ name })));
  return live;
}

/** Waiters that note when they were served, in order. */
function line(admission: Admission, served: string[]) {
  return (id: string, lane = "query", takes: () => boolean = () => true, capability = "query"): Waiter => {
    const waiter: Waiter = {
      lane,
      capability,
      retry: () => {
        if (!takes()) return false;
        served.push(id);
        return true;
      },
    };
    if (!admission.wait(waiter)) throw new Error("the line is full");
    return waiter;
  };
}

describe("RES-5: waiting for room", () => {
  test("in order of arrival, as many as find room", async () => {
    const admission = new Admission(new FakeSystem(), 10);
    const served: string[] = [];
    let room = 2;
    const join = line(admission, served);
    for (const id of ["first", "second", "third"]) join(id, "query", () => room-- > 0);
    admission.room(instance(10, "query"));
    await settle();
    expect(served).toEqual(["first", "second"]);
    expect(admission.waiting("query")).toBe(1);
    room = 1;
    admission.room(instance(10, "query"));
    await settle();
    expect(served).toEqual(["first", "second", "third"]);
    expect(admission.lines().size).toBe(0);
  });

  test("a line has an end, for each capability its own", () => {
    const admission = new Admission(new FakeSystem(), 2);
    const waiter = (capability: string): Waiter => ({ lane: capability, capability, retry: () => false });
    expect([admission.wait(waiter("query")), admission.wait(waiter("query")), admission.wait(waiter("query"))]).toEqual(
      [true, true, false],
    );
    expect(admission.wait(waiter("refund"))).toBe(true);
  });

  test("one lane that cannot be served does not hold up the others", async () => {
    const admission = new Admission(new FakeSystem(), 10);
    const served: string[] = [];
    const join = line(admission, served);
    join("stuck", "query for one agent", () => false);
    join("behind it", "query for one agent");
    join("elsewhere", "query");
    admission.room(instance(10, "query"));
    await settle();
    expect(served).toEqual(["elsewhere"]);
    expect(admission.waiting("query")).toBe(2);
  });

  test("room for one capability does not try those who wait for another", async () => {
    const admission = new Admission(new FakeSystem(), 10);
    const served: string[] = [];
    line(admission, served)("refund", "refund", () => true, "refund");
    admission.room(instance(10, "query"));
    await settle();
    expect(served).toEqual([]);
    admission.room(instance(10, "query", "refund"));
    await settle();
    expect(served).toEqual(["refund"]);
  });

  test("one that leaves is not tried, and one that leaves while it is tried counts once", async () => {
    const admission = new Admission(new FakeSystem(), 10);
    const served: string[] = [];
    const join = line(admission, served);
    const gone = join("gone");
    const dying: Waiter = join("dying", "query", () => {
      admission.leave(dying);
      return true;
    });
    join("third", "query", () => false);
    join("fourth", "another lane", () => false);
    admission.leave(gone);
    admission.leave(gone);
    admission.room(instance(10, "query"));
    await settle();
    expect(served).toEqual(["dying"]);
    expect(admission.waiting("query")).toBe(2);
  });

  test("whoever is told about a failure may line up again at once", async () => {
    const admission = new Admission(new FakeSystem(), 10);
    const served: string[] = [];
    const join = line(admission, served);
    const first: Waiter = join("first", "query", () => {
      admission.leave(first);
      join("again", "query", () => served.length > 1);
      return true;
    });
    admission.room(instance(10, "query"));
    await settle();
    expect(admission.waiting("query")).toBe(1);
    served.push("room");
    admission.room(instance(10, "query"));
    await settle();
    expect(served).toEqual(["first", "room", "again"]);
  });

  test("the count is the number of those who wait, whatever they do", async () => {
    const step = fc.oneof(
      fc.record({ join: fc.constantFrom("l1", "l2") }),
      fc.record({ leave: fc.nat(10) }),
      fc.record({ room: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const admission = new Admission(new FakeSystem(), 5);
        const waiting = new Set<Waiter>();
        let room = 0;
        for (const one of steps) {
          if ("join" in one) {
            const dies = waiting.size % 3 === 2;
            const waiter: Waiter = {
              lane: one.join,
              capability: "query",
              retry: () => {
                if (!dies && room-- <= 0) return false;
                waiting.delete(waiter);
                if (dies) admission.leave(waiter);
                return true;
              },
            };
            const full = waiting.size >= 5;
            expect(admission.wait(waiter)).toBe(!full);
            if (!full) waiting.add(waiter);
          } else if ("leave" in one) {
            const waiter = [...waiting][one.leave];
            if (waiter !== undefined) admission.leave(waiter);
            if (waiter !== undefined) waiting.delete(waiter);
          } else {
            room = one.room;
            admission.room(instance(1, "query"));
            await Promise.resolve();
            await Promise.resolve();
          }
          expect(admission.waiting("query")).toBe(waiting.size);
        }
      }),
    );
  });
});

describe("slots", () => {
  test("giving one back is room; nobody is bothered while nobody waits", async () => {
    const admission = new Admission(new FakeSystem(), 10);
    const heard: string[][] = [];
    let wanted = false;
    admission.onRoom(
      () => wanted,
      (capabilities) => heard.push([...capabilities]),
    );
    const live = instance(2, "query", "refund");
    admission.take(live);
    admission.take(live);
    expect(live.running).toBe(2);
    admission.give(live);
    await settle();
    expect(heard).toEqual([]);
    wanted = true;
    admission.give(live);
    admission.room(live);
    await settle();
    expect([live.running, heard]).toEqual([0, [["query", "refund"]]]);
  });

  test("whoever asked for a rest is tried again when it is over", async () => {
    const system = new FakeSystem();
    const admission = new Admission(system, 10);
    const served: string[] = [];
    const live = instance(2, "query");
    admission.rest(live, 500);
    admission.rest(live, 200);
    expect(live.coolDownUntil).toBe(500);
    line(admission, served)("patient", "query", () => live.coolDownUntil <= system.monotonic());
    await system.advanceAsync(400);
    expect(served).toEqual([]);
    await system.advanceAsync(200);
    expect(served).toEqual(["patient"]);
  });

  test("ROUTE-3: the load is that of running, queued and just begun work, by capacity", () => {
    const system = new FakeSystem();
    const admission = new Admission(system, 10);
    const live = instance(10, "query");
    for (let i = 0; i < 5; i++) admission.take(live);
    live.selfQueued = 20;
    expect(live.loadScore(system.monotonic())).toBeCloseTo(0.4 * 0.5 + 0.3 * 1 + 0.3 * 0.5);
    system.advance(15_000);
    expect(live.loadScore(system.monotonic())).toBeCloseTo(0.4 * 0.5 + 0.3);
  });
});
