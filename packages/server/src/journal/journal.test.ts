import type { JournalEvent } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeSystem, settle } from "../../../../test/kit/fake-system.js";
import { MemoryJournal } from "../engines/memory/journal.js";
import { MessageShelf } from "../router/shelf.js";
import { Journal, type MessageLog } from "./journal.js";

let system: FakeSystem;
let store: MemoryJournal;
let trouble: unknown[];
const open = async (messagesMax = 100): Promise<Journal> => {
  const journal = new Journal(
    store,
    system,
    "node-1",
    { messagesMax, keepSec: 86_400 },
    (error) => trouble.push(error),
    new MessageShelf(messagesMax),
  );
  await journal.start();
  return journal;
};
let journal: Journal;
beforeEach(async () => {
  system = new FakeSystem();
  store = new MemoryJournal();
  trouble = [];
  journal = await open();
});
const log = (id: string, trace = "t1", parentId?: string): MessageLog =>
  journal.open(id, trace, "call", "query", parentId);
const types = (events: JournalEvent[]): string[] => events.map((e) => e.type);

describe("OBS-1: what happened to a message", () => {
  test("comes back in order, with who, when and where", async () => {
    const one = log("m1");
    journal.add(one, "received");
    system.advance(5);
    journal.add(one, "delivered", { record: { agentId: "a1", instanceId: "i1" } }, 2, { note: "x" });
    const events = await journal.eventsOf("m1");
    expect(events).toMatchObject([
      { type: "received", messageId: "m1", traceId: "t1", node: "node-1" },
      {
        type: "delivered",
        agentId: "a1",
        instanceId: "i1",
        attempt: 2,
        note: "x",
        at: new Date(system.now()).toISOString(),
      },
    ]);
    expect(events[1]!.id).toBeGreaterThan(events[0]!.id);
    expect(await journal.eventsOf("unknown")).toEqual([]);
  });

  test("details are put into words only when somebody asks", async () => {
    let asked = 0;
    journal.add(log("m1"), "decision", undefined, 1, {
      describe: () => {
        asked++;
        return { decision: "because" };
      },
    });
    expect(asked).toBe(0);
    expect(await journal.eventsOf("m1")).toMatchObject([{ type: "decision", decision: "because" }]);
    expect(asked).toBe(1);
  });

  test("a trace is all its messages, interleaved as they happened", async () => {
    const [one, two, other] = [log("m1"), log("m2", "t1", "m1"), log("m3", "t2")];
    journal.add(one, "a");
    journal.add(two, "b");
    journal.add(other, "elsewhere");
    journal.add(one, "c");
    expect(types(await journal.eventsOfTrace("t1"))).toEqual(["a", "b", "c"]);
    expect(journal.messagesOfTrace("t1").map((m) => [m.messageId, m.parentId])).toEqual([
      ["m1", undefined],
      ["m2", "m1"],
    ]);
  });
});

describe("RES-5: what is remembered", () => {
  test("is so many messages and no more, and their traces are forgotten with them", async () => {
    journal = await open(4);
    const ids = Array.from({ length: 20 }, (_, i) => `m${i + 1}`);
    for (const [i, id] of ids.entries()) {
      journal.add(log(id, i % 2 === 0 ? "odd" : "even"), "received");
      const kept = ids.slice(0, i + 1).filter((known) => journal.find(known) !== undefined);
      expect(kept).toEqual(ids.slice(i + 1 - kept.length, i + 1));
      expect(kept.length).toBe(Math.min(4, i + 1));
    }
    const traces = [...journal.messagesOfTrace("odd"), ...journal.messagesOfTrace("even")].map((m) => m.messageId);
    expect(traces.sort()).toEqual(ids.filter((id) => journal.find(id) !== undefined).sort());
    expect(await journal.eventsOf("m1")).toEqual([]);
  });

  test("a message that is opened again outlives its older self", () => {
    journal = new Journal(store, system, "node-1", { messagesMax: 2, keepSec: 1 }, () => {}, new MessageShelf(2));
    log("m1");
    const again = log("m1");
    log("m2");
    expect(journal.find("m1")).toBe(again);
  });
});

describe("what is kept on disk", () => {
  test("is written behind, within a quarter of a second, and only what was asked for", async () => {
    const [kept, other] = [log("kept"), log("other")];
    journal.add(kept, "before");
    journal.keep(kept);
    journal.add(kept, "after");
    journal.add(other, "not kept");
    await settle();
    expect(await store.byMessage("kept")).toEqual([]);
    await system.advanceAsync(250);
    expect(types(await store.byMessage("kept"))).toEqual(["before", "after"]);
    expect(await store.byMessage("other")).toEqual([]);
    journal.add(kept, "later");
    await system.advanceAsync(250);
    expect(types(await store.byMessage("kept"))).toEqual(["before", "after", "later"]);
  });

  test("goes on in its place when more happens to a task that was put away, whoever holds its older self", async () => {
    const id = "0199a5c2-6f0e-7c11-9b1e-000000000001";
    const task = journal.open(id, "8f3a1c2e9b7d4f1a8f3a1c2e9b7d4f1a", "task", "query", undefined);
    journal.keep(task);
    journal.add(task, "submitted");
    await system.advanceAsync(300);
    const again = journal.find(id)!;
    expect(again).not.toBe(task);
    journal.add(task, "delivered");
    journal.add(again, "completed");
    expect(journal.find(id)!.size).toBe(3);
    const all = ["submitted", "delivered", "completed"];
    expect(types(await journal.eventsOf(id))).toEqual(all);
    await system.advanceAsync(300);
    expect(types(await store.byMessage(id))).toEqual(all);
    expect(types(await journal.eventsOf(id))).toEqual(all);
  });

  test("is written in pieces, between which the node does other things", async () => {
    const appended: number[] = [];
    const append = store.append.bind(store);
    store.append = (events) => {
      appended.push(events.length);
      return append(events);
    };
    journal = await open(2_000);
    for (let i = 0; i < 1_000; i++) {
      const one = log(`m${i}`);
      journal.keep(one);
      journal.add(one, "submitted");
    }
    await system.advanceAsync(300);
    expect(appended.reduce((a, b) => a + b)).toBe(1_000);
    expect(Math.max(...appended)).toBeLessThan(300);
  });

  test("and what is still in memory are told together, each once", async () => {
    const kept = log("kept");
    journal.keep(kept);
    journal.add(kept, "stored");
    await system.advanceAsync(250);
    journal.add(kept, "not yet");
    expect(types(await journal.eventsOf("kept"))).toEqual(["stored", "not yet"]);
    expect(types(await journal.eventsOfTrace("t1"))).toEqual(["stored", "not yet"]);
  });

  test("is written when the node stops, and read by the next one, whose ids go on", async () => {
    const kept = log("kept");
    journal.keep(kept);
    journal.add(kept, "one");
    await journal.stop();
    const [{ id }] = (await journal.eventsOf("kept")) as [JournalEvent];
    system.jumpWall(-3_600_000);
    journal = await open();
    expect(types(await journal.eventsOf("kept"))).toEqual(["one"]);
    journal.add(log("next"), "two");
    expect((await journal.eventsOf("next"))[0]!.id).toBeGreaterThan(id);
  });

  test("a store that refuses is reported, and memory still knows", async () => {
    store.append = () => Promise.reject(new Error("the disk is full"));
    const kept = log("kept");
    journal.keep(kept);
    journal.add(kept, "one");
    await system.advanceAsync(300);
    expect(trouble).toHaveLength(1);
    expect(types(await journal.eventsOf("kept"))).toEqual(["one"]);
  });

  test("what is old is trimmed in time", async () => {
    const kept = log("kept");
    journal.keep(kept);
    journal.add(kept, "old");
    await system.advanceAsync(300);
    system.stall(86_400_000);
    await system.advanceAsync(60_001);
    expect(await store.byMessage("kept")).toEqual([]);
  });
});

describe("following everything", () => {
  test("a listener hears each event from then on, until it stops", () => {
    const heard: string[] = [];
    const one = log("m1");
    journal.add(one, "before");
    const stop = journal.listen((event) => heard.push(event.type));
    journal.add(one, "heard");
    journal.note("instance.online", { record: { agentId: "a1", instanceId: "i1" } });
    stop();
    journal.add(one, "after");
    expect(heard).toEqual(["heard", "instance.online"]);
  });

  test("whoever comes back with the last id misses nothing", async () => {
    const one = log("m1");
    for (const type of ["a", "b", "c", "d"]) journal.add(one, type);
    const all = await journal.eventsOf("m1");
    const since = await journal.since(all[1]!.id, 10);
    expect([types(since.events), since.gap]).toEqual([["c", "d"], false]);
    expect(types((await journal.since(all[0]!.id, 2)).events)).toEqual(["b", "c"]);
    expect(await journal.since(all[3]!.id, 10)).toEqual({ events: [], gap: false });
  });

  test("and is told of a gap when something of it is forgotten, be it a message or a note", async () => {
    journal = await open(2);
    const first = log("m1");
    journal.add(first, "first");
    const [{ id }] = (await journal.eventsOf("m1")) as [JournalEvent];
    journal.add(first, "second");
    journal.add(log("m2"), "other");
    expect((await journal.since(id, 10)).gap).toBe(false);
    journal.add(log("m3"), "pushes m1 out");
    expect((await journal.since(id, 10)).gap).toBe(true);
    const { events } = await journal.since(id + 1, 10);
    expect(types(events)).toEqual(["other", "pushes m1 out"]);
    for (let i = 0; i < 2_001; i++) journal.note("instance.online");
    expect((await journal.since(id + 1, 10)).gap).toBe(true);
    expect((await journal.since(0, 10)).gap).toBe(true);
  });
});
