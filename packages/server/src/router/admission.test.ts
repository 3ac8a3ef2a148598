import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeSystem, settle } from "../../../../test/kit/fake-system.js";
import { defaultConfig } from "../config.js";
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

function admissionOf(queuedCallsMax: number, system = new FakeSystem()): Admission {
  return new Admission(system, { ...defaultConfig().limits, queuedCallsMax });
}

/** Waiters that note when they were served, in order. */
function line(admission: Admission, served: string[]) {
  return (
    id: string,
    lane = "query",
    takes: () => boolean = () => true,
    capability = "query",
    callerKey = "anybody",
  ): Waiter => {
    const waiter: Waiter = {
      lane,
      capability,
      callerKey,
      place: undefined,
      displaced: () => served.push(`${id} had to go`),
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
    const admission = admissionOf(10);
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
    const admission = admissionOf(2);
    const join = line(admission, []);
    const never = () => false;
    join("one", "query", never);
    join("two", "query", never);
    expect(() => join("three", "query", never)).toThrow("the line is full");
    join("elsewhere", "refund", never, "refund");
    expect([...admission.lines()]).toEqual([
      ["query", 2],
      ["refund", 1],
    ]);
  });

  test("one lane that cannot be served does not hold up the others", async () => {
    const admission = admissionOf(10);
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
    const admission = admissionOf(10);
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
    const admission = admissionOf(10);
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
    const admission = admissionOf(10);
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
        const admission = admissionOf(5);
        const waiting = new Set<Waiter>();
        let room = 0;
        for (const one of steps) {
          if ("join" in one) {
            const dies = waiting.size % 3 === 2;
            const waiter: Waiter = {
              lane: one.join,
              capability: "query",
              callerKey: "anybody",
              place: undefined,
              displaced: () => waiting.delete(waiter),
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

describe("RES-5: callers share a line", () => {
  const shared = (max: number) => {
    const admission = admissionOf(max);
    const served: string[] = [];
    const join = line(admission, served);
    let room = 0;
    const takes = () => room-- > 0;
    return {
      admission,
      served,
      join: (id: string, caller: string, lane = "query") => join(id, lane, takes, "query", caller),
      serve: async (slots: number) => {
        room = slots;
        admission.room(instance(10, "query"));
        await settle();
      },
    };
  };

  test("they take turns, and the calls of each keep their order", async () => {
    const { join, serve, served, admission } = shared(100);
    for (const id of ["a1", "a2", "a3", "a4"]) join(id, "a");
    for (const id of ["b1", "b2"]) join(id, "b");
    join("c1", "c");
    await serve(2);
    expect(served).toEqual(["a1", "b1"]);
    await serve(100);
    expect(served).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
    expect(admission.lines().size).toBe(0);
  });

  test("so do calls that only some instances can serve, with those which any can", async () => {
    const { join, serve, served } = shared(100);
    for (const id of ["a1", "a2", "a3"]) join(id, "a");
    join("b1", "b", "query of one agent");
    await serve(1);
    await serve(1);
    await serve(1);
    expect(served).toEqual(["a1", "b1", "a2"]);
  });

  test("one may use all of it, and gives way to whoever has less: the newest goes", async () => {
    const { join, serve, served, admission } = shared(4);
    for (const id of ["a1", "a2", "a3", "a4"]) join(id, "a");
    expect(() => join("a5", "a")).toThrow("the line is full");
    join("b1", "b");
    expect(served).toEqual(["a4 had to go"]);
    join("b2", "b");
    expect(served).toEqual(["a4 had to go", "a3 had to go"]);
    // Both have as much by now.
    expect(() => join("b3", "b")).toThrow("the line is full");
    expect(() => join("a6", "a")).toThrow("the line is full");
    expect(admission.waiting("query")).toBe(4);
    served.length = 0;
    await serve(100);
    expect(served).toEqual(["a1", "b1", "a2", "b2"]);
  });

  test("a hundred callers with one call each are not moved by one who brings a thousand", () => {
    const { join, served, admission } = shared(100);
    for (let n = 0; n < 100; n++) join(`${n}`, `caller-${n}`);
    for (let n = 0; n < 1_000; n++) expect(() => join("more", "greedy")).toThrow("the line is full");
    expect([served, admission.waiting("query")]).toEqual([[], 100]);
  });

  test("one who has to go may line up again at once", () => {
    const admission = admissionOf(2);
    const join = line(admission, []);
    let again = 0;
    const stubborn = (id: string): Waiter =>
      Object.assign(
        join(id, "query", () => false, "query", "a"),
        { displaced: () => void again++ },
      );
    stubborn("a1");
    const second = stubborn("a2");
    join("b1", "query", () => false, "query", "b");
    expect([again, second.place, admission.waiting("query")]).toEqual([1, undefined, 2]);
    expect(admission.wait(second)).toBe(false);
  });
});

describe("ROUTE-1: when to come back", () => {
  test("is told by how fast the line moves", async () => {
    const system = new FakeSystem();
    const admission = admissionOf(1000, system);
    const join = line(admission, []);
    let room = 0;
    for (let n = 0; n < 60; n++) join(`${n}`, "query", () => room-- > 0);
    expect(admission.retryAfterMs("query")).toBe(1_000);
    for (let n = 0; n < 40; n++) {
      await system.advanceAsync(30);
      room = 1;
      admission.room(instance(10, "query"));
      await settle();
    }
    expect(admission.waiting("query")).toBe(20);
    expect(admission.retryAfterMs("query")).toBe(600);
    await system.advanceAsync(2_000);
    expect(admission.retryAfterMs("query")).toBe(2_000);
    expect(admission.retryAfterMs("nobody waits for it")).toBe(1_000);
  });
});

describe("slots", () => {
  test("giving one back is room; nobody is bothered while nobody waits", async () => {
    const admission = admissionOf(10);
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
    const admission = admissionOf(10, system);
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
    const admission = admissionOf(10, system);
    const live = instance(10, "query");
    for (let i = 0; i < 5; i++) admission.take(live);
    live.selfQueued = 20;
    expect(live.loadScore(system.monotonic())).toBeCloseTo(0.4 * 0.5 + 0.3 * 1 + 0.3 * 0.5);
    system.advance(15_000);
    expect(live.loadScore(system.monotonic())).toBeCloseTo(0.4 * 0.5 + 0.3);
  });
});
