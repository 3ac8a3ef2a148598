import { beforeEach, describe, expect, test } from "vitest";
import type { Journal } from "../journal.js";
import { newEvent } from "./samples.js";

export interface JournalSubject {
  open(): Promise<Journal>;
  reopen?(): Promise<Journal>;
}

const FOREVER = Number.POSITIVE_INFINITY;
const [a, b] = ["0199a5c2-6f0e-7c11-9b1e-aaaaaaaaaaaa", "0199a5c2-6f0e-7c11-9b1e-bbbbbbbbbbbb"];
const trace = "8f3a1c2e9b7d4f1a8f3a1c2e9b7d4f1a";

/** The promises of Journal, for one engine. */
export function journalConformance({ open, reopen }: JournalSubject): void {
  describe("Journal", () => {
    let journal: Journal;
    beforeEach(async () => {
      journal = await open();
    });

    /** Events 1 to `count` in batches of seven, those of two messages and of none taking turns. */
    async function fill(count: number): Promise<void> {
      const events = Array.from({ length: count }, (_, i) =>
        newEvent(i + 1, i % 3 === 2 ? {} : { messageId: i % 3 ? b : a }),
      );
      for (let at = 0; at < count; at += 7) await journal.append(events.slice(at, at + 7));
    }
    const ids = (events: { id: number }[]) => events.map(({ id }) => id);
    const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

    test("J1: the events of a message come back whole and in order, whatever stood between them", async () => {
      await journal.append([
        newEvent(1, { messageId: a, traceId: trace, detail: { nested: ["é", 1.5, null] } }),
        newEvent(2, { messageId: b }),
        newEvent(3, { messageId: a }),
      ]);
      await journal.append([newEvent(4, { messageId: b }), newEvent(5, { messageId: a, traceId: trace })]);
      expect(ids(await journal.byMessage(a))).toEqual([1, 3, 5]);
      expect((await journal.byMessage(a))[0]).toEqual(
        newEvent(1, { messageId: a, traceId: trace, detail: { nested: ["é", 1.5, null] } }),
      );
      expect(ids(await journal.byMessage(b))).toEqual([2, 4]);
      expect(await journal.byMessage("unknown")).toEqual([]);
    });

    test("J1: the events of a trace come back in order, over all of its messages", async () => {
      await journal.append([1, 2, 3, 4].map((id) => newEvent(id, { messageId: id % 2 ? a : b, traceId: trace })));
      await journal.append([newEvent(5, { messageId: a, traceId: trace }), newEvent(6, { messageId: a })]);
      expect(ids(await journal.byTrace(trace))).toEqual([1, 2, 3, 4, 5]);
      expect(await journal.byTrace("0".repeat(32))).toEqual([]);
    });

    test("J2: since answers what came later, in order, page by page", async () => {
      await fill(100);
      expect(await journal.since(0, 1_000).then(({ events, gap }) => [ids(events), gap])).toEqual([
        upTo(1, 100),
        false,
      ]);
      expect(ids((await journal.since(41, 10)).events)).toEqual(upTo(42, 51));
      expect(await journal.since(100, 10)).toEqual({ events: [], gap: false });
      const read: number[] = [];
      for (;;) {
        const { events } = await journal.since(read.at(-1) ?? 0, 9);
        if (events.length === 0) break;
        read.push(...ids(events));
      }
      expect(read).toEqual(upTo(1, 100));
    });

    test("J2: since works across a batch larger than one page or transaction", async () => {
      await journal.append(upTo(1, 2_500).map((id) => newEvent(id, { messageId: `m-${id % 700}` })));
      const read: number[] = [];
      for (let page = 0; page < 25; page++) read.push(...ids((await journal.since(read.at(-1) ?? 0, 100)).events));
      expect(read).toEqual(upTo(1, 2_500));
    });

    test("J2: since says whether events after the given one are no longer kept", async () => {
      await fill(50);
      await journal.trim(0, 20);
      expect(await journal.since(10, 100).then(({ events, gap }) => [ids(events), gap])).toEqual([upTo(31, 50), true]);
      expect(await journal.since(29, 1).then(({ gap }) => gap)).toBe(true);
      expect(await journal.since(30, 100).then(({ events, gap }) => [ids(events), gap])).toEqual([upTo(31, 50), false]);
    });

    test("J3: trim keeps the newest of all, to the event", async () => {
      await fill(100);
      expect(await journal.trim(0, 33)).toBe(67);
      expect(ids((await journal.since(0, 1_000)).events)).toEqual(upTo(68, 100));
      expect(ids(await journal.byMessage(a))).toEqual(upTo(68, 100).filter((id) => id % 3 === 1));
      expect(await journal.trim(0, 33)).toBe(0);
    });

    test("J3: trim forgets what is older than a moment, to the event", async () => {
      await fill(100);
      expect(await journal.trim(60_000, FOREVER)).toBe(59);
      expect(ids((await journal.since(0, 1_000)).events)).toEqual(upTo(60, 100));
    });

    test("J3: trim of very many events forgets them all", async () => {
      for (let at = 0; at < 6_000; at += 1_000) {
        await journal.append(upTo(at + 1, at + 1_000).map((id) => newEvent(id, { messageId: `m-${id}` })));
      }
      expect(await journal.trim(FOREVER, FOREVER)).toBe(6_000);
      expect(await journal.since(0, 10)).toEqual({ events: [], gap: true });
      await journal.append([newEvent(6_001)]);
      expect(ids((await journal.since(0, 10)).events)).toEqual([6_001]);
    });

    test("lastId is the largest id kept, and 0 when there is none", async () => {
      expect(await journal.lastId()).toBe(0);
      await fill(10);
      expect(await journal.lastId()).toBe(10);
      await journal.trim(FOREVER, FOREVER);
      expect(await journal.lastId()).toBe(0);
    });

    test("an empty batch is nothing", async () => {
      await journal.append([]);
      expect(await journal.since(0, 10)).toEqual({ events: [], gap: false });
    });

    if (reopen) {
      test("J2: events, and what is known of forgotten ones, survive a clean restart", async () => {
        await fill(50);
        await journal.trim(0, 20);
        journal = await reopen();
        expect(await journal.lastId()).toBe(50);
        expect(await journal.since(0, 100).then(({ events, gap }) => [ids(events), gap])).toEqual([upTo(31, 50), true]);
        expect(await journal.trim(0, 5)).toBe(15);
      });
    }
  });
}
