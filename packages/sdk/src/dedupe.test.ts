import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakePeer, gate } from "../../../test/kit/fake-peer.js";
import { FakeSystem } from "../../../test/kit/fake-system.js";
import { Dedupe } from "./dedupe.js";
import { sdkLimits } from "./limits.js";

describe("dedupe", () => {
  it("remembers the newest ten thousand successes, each for a day (DLV-7)", () => {
    const system = new FakeSystem();
    const dedupe = new Dedupe(system);
    const kept = 3 * sdkLimits.dedupeMax + 100;
    for (let i = 0; i < kept; i++) dedupe.keep(`key-${i}`, `${i}`, i, i + 1);
    expect(dedupe.size).toBe(sdkLimits.dedupeMax);
    for (let i = kept - sdkLimits.dedupeMax; i < kept; i++) {
      expect(dedupe.find(`key-${i}`)).toEqual({ data: `${i}`, startedAtMs: i, finishedAtMs: i + 1 });
    }
    for (let i = 0; i < kept - sdkLimits.dedupeMax; i++) expect(dedupe.find(`key-${i}`)).toBeUndefined();
    system.advance(sdkLimits.dedupeMs - 1);
    dedupe.keep("later", "0", 0, 0);
    expect(dedupe.find(`key-${kept - 1}`)?.data).toBe(`${kept - 1}`);
    system.advance(1);
    expect([dedupe.find(`key-${kept - 1}`), dedupe.find("later")?.data]).toEqual([undefined, "0"]);
  });

  it("gives back every text as it was, short or long, and knows every key from its neighbours", () => {
    const text = fc.oneof(
      { weight: 5, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 400, maxLength: 700, size: "max" }) },
    );
    const entries = fc.uniqueArray(fc.tuple(text, text), { selector: ([key]) => key, maxLength: 600, size: "max" });
    fc.assert(
      fc.property(entries, (all) => {
        const dedupe = new Dedupe(new FakeSystem());
        all.forEach(([key, data], i) => {
          expect(dedupe.find(key)).toBeUndefined();
          dedupe.keep(key, data, i, i);
        });
        expect(all.map(([key]) => dedupe.find(key)?.data)).toEqual(all.map(([, data]) => data));
      }),
      { numRuns: 20 },
    );
  });

  it("holds no more than its measure of long results, the newest of them", () => {
    const dedupe = new Dedupe(new FakeSystem());
    const data = "x".repeat(1_000_000);
    const kept = 2 * (sdkLimits.dedupeCharsMax / data.length);
    for (let i = 0; i < kept; i++) dedupe.keep(`key-${i}`, data, i, i);
    expect(dedupe.size).toBeLessThanOrEqual(kept / 2);
    expect([dedupe.find("key-0"), dedupe.find(`key-${kept - 1}`)?.startedAtMs]).toEqual([undefined, kept - 1]);
    dedupe.keep("short", "1", 0, 0);
    expect(dedupe.find("short")?.data).toBe("1");
  });

  it("gives a success again without executing, also under another messageId with the same key (DLV-7)", async () => {
    const peer = new FakePeer();
    let runs = 0;
    const { session } = await peer.agent({ query_order: () => ++runs });
    const envelope = peer.envelope({ idempotencyKey: "order-7" });
    const first = await session.request("deliver", { envelope, attempt: 1 });
    const again = await session.request("deliver", { envelope, attempt: 2 });
    const other = await session.request("deliver", {
      envelope: { ...envelope, messageId: peer.system.newId() },
      attempt: 1,
    });
    expect([first, again, other].map(({ result }) => result.data)).toEqual([1, 1, 1]);
    const foreign = { ...envelope, messageId: peer.system.newId(), input: { order_id: "2" } };
    expect((await session.request("deliver", { envelope: foreign, attempt: 1 }))["result"].data).toBe(2);
  });

  it("attaches a redelivery to what runs, and the newest attempt gets the answer (DLV-7)", async () => {
    const peer = new FakePeer();
    const work = gate();
    let runs = 0;
    const { session } = await peer.agent({
      query_order: () => {
        runs++;
        return work.opened;
      },
    });
    const envelope = peer.envelope();
    const first = session.request("deliver", { envelope, attempt: 1 });
    const second = session.request("deliver", { envelope, attempt: 2 });
    await peer.settle();
    expect((await first)["result"]).toEqual({ status: "accepted" });
    work.open("result");
    expect((await second)["result"]).toMatchObject({ status: "completed", data: "result" });
    expect(runs).toBe(1);
  });

  it("RES-9: runs what somebody asks of it in place of another of its own capabilities", async () => {
    const peer = new FakePeer();
    const ran: string[] = [];
    const run = (name: string) => () => ran.push(name);
    const { session } = await peer.agent({ fast: run("fast"), slow: run("slow") });
    const envelope = peer.envelope({ capability: "fast" });
    await session.request("deliver", { envelope, attempt: 1 });
    await session.request("deliver", { envelope: { ...envelope, capability: "slow" }, attempt: 2 });
    await session.request("deliver", { envelope, attempt: 3 });
    expect(ran).toEqual(["fast", "slow"]);
  });

  it("runs again what failed", async () => {
    const peer = new FakePeer();
    let runs = 0;
    const { session } = await peer.agent({
      query_order: () => {
        if (++runs === 1) throw new Error("first time");
        return runs;
      },
    });
    const envelope = peer.envelope();
    expect((await session.request("deliver", { envelope, attempt: 1 }))["result"].status).toBe("failed");
    expect((await session.request("deliver", { envelope, attempt: 2 }))["result"]).toMatchObject({
      status: "completed",
      data: 2,
    });
  });

  it("attaches over a reconnect too: one execution, the answer goes to the new attempt", async () => {
    const peer = new FakePeer();
    const work = gate();
    let runs = 0;
    await peer.agent({
      query_order: () => {
        runs++;
        return work.opened;
      },
    });
    const envelope = peer.envelope();
    void peer.session.request("deliver", { envelope, attempt: 1 });
    await peer.advance(100);
    const session = await peer.bounce();
    const answer = session.request("deliver", { envelope, attempt: 2 });
    await peer.settle();
    work.open("late");
    expect((await answer)["result"]).toMatchObject({ status: "completed", data: "late" });
    expect(runs).toBe(1);
    expect(session.of("complete")).toHaveLength(0);
  });
});
