import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { localOperator } from "../access/access.js";
import { MessageLog } from "../journal/journal.js";
import type { Offer } from "../registry/instance.js";
import { type Considered, Decision } from "./decision.js";
import { SettledCall } from "./settled.js";
import { MessageShelf } from "./shelf.js";

const hex32 = fc.uuid().map((id) => id.replaceAll("-", ""));
const offersOfTwo = async (): Promise<Offer[]> => {
  const rooms = await FakeRooms.open();
  await rooms.join(card("one", [{ name: "query" }]));
  await rooms.join(card("two", [{ name: "query" }]));
  const resolution = rooms.catalog.resolve({ tenant: "default", capability: "query" });
  return resolution.ok ? [...resolution.resolved.offers] : [];
};
const offers = await offersOfTwo();

const small = fc.nat(100_000);
const considered = fc.record({
  offer: fc.constantFrom(...offers),
  verdict: fc.constantFrom("chosen", "full", "lower_score"),
  match: fc.constantFrom(0.95),
  score: fc.integer({ min: -1000, max: 1000 }),
  p50: fc.option(small, { nil: undefined }),
  success: fc.option(fc.nat(1000), { nil: undefined }),
  load: fc.nat(1000),
  health: fc.nat(1000),
  running: small,
  queued: small,
  state: fc.constantFrom("online", "suspect"),
}) as fc.Arbitrary<Considered>;

const decided = fc.record({
  full: fc.boolean(),
  chosen: fc.boolean(),
  omitted: small,
  took: small,
  after: small,
  considered: fc.array(considered, { minLength: 1, maxLength: 16 }),
});

const settled = fc
  .record({
    id: fc.uuid(),
    kind: fc.constantFrom("call" as const, "task" as const),
    trace: hex32,
    parent: fc.option(fc.uuid(), { nil: undefined }),
    startedAt: fc.integer({ min: 1.7e12, max: 1.9e12 }),
    firstEvent: fc.integer({ min: 1, max: 2 ** 40 }),
    gaps: fc.array(small, { minLength: 3, maxLength: 6 }),
    decisions: fc.array(decided, { minLength: 1, maxLength: 3 }),
    data: fc.json(),
    receipt: fc.option(fc.json(), { nil: undefined }),
    contentHash: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    settledAt: fc.double({ min: 0, max: 1e12, noNaN: true }),
    request: fc.option(fc.constant({ capability: "query", sessionRef: "s" }), { nil: undefined }),
  })
  .map((given) => {
    const log = new MessageLog(given.id, given.trace, given.kind, "query", given.parent, given.startedAt);
    let event = given.firstEvent;
    let since = 0;
    const reasons = ["name"];
    const first = given.kind === "call" ? "received" : "submitted";
    const types = [first, ...given.decisions.map((d) => (d.chosen ? "decision" : "waiting")), "completed"];
    const isTaken = given.kind === "call" || given.decisions.at(-1)!.chosen;
    for (const [i, type] of types.entries()) {
      event += given.gaps[i % given.gaps.length]!;
      since += given.gaps[(i + 1) % given.gaps.length]!;
      const shape = given.decisions[i - 1];
      let decision: Decision | undefined;
      if (shape !== undefined) {
        decision = new Decision(log, 1, shape.after, given.request, reasons);
        const { full, omitted, took } = shape;
        Object.assign(decision, { full, omitted, took, considered: shape.considered });
        if (shape.chosen) decision.chosen = offers[0];
      }
      log.add(event, since, type, i > 0 && isTaken ? offers[0]!.instance : undefined, i === 0 ? 0 : 1, decision);
    }
    if (given.kind === "task") {
      if (!isTaken) for (const i of types.keys()) unchoose(log.detailAt(i));
      log.durable = true;
      log.flushed = log.size;
      return log;
    }
    const { contentHash, data, receipt, settledAt } = given;
    log.subject = new SettledCall(
      log,
      localOperator,
      contentHash,
      undefined,
      1,
      30_000,
      offers[0],
      data,
      receipt,
      undefined,
      settledAt,
      false,
    );
    return log;
  });

/** Of a task that nobody has, no decision chose anybody. */
function unchoose(decision: object | undefined): void {
  if (decision instanceof Decision) decision.chosen = undefined;
}

/** All that anybody can learn of it. */
function told(log: MessageLog): unknown {
  const events = Array.from({ length: log.size }, (_, i) => [
    log.idAt(i),
    log.sinceStartAt(i),
    log.typeAt(i),
    log.instanceAt(i),
    log.attemptAt(i),
    (log.detailAt(i) as Decision | undefined)?.toShape(),
  ]);
  const { messageId, traceId, parentId, capability, startedAt, kind, durable, flushed, subject } = log;
  const about = { messageId, traceId, parentId, capability, startedAt, kind, durable, flushed, events };
  if (subject === undefined) return about;
  const { caller, contentHash, alias, attempt, timeoutMs, offer, settledAt } = subject as SettledCall;
  const answer = (subject as SettledCall).answer();
  return { ...about, call: { caller, contentHash, alias, attempt, timeoutMs, offer, settledAt, answer } };
}

const sampleOf = (kind: "call" | "task", seed: number): MessageLog =>
  fc.sample(
    settled.filter((log) => log.kind === kind),
    { numRuns: 1, seed },
  )[0]!;

describe("a message on the shelf", () => {
  test("is read as it was put there, to the digit, however many lie beside it", () => {
    fc.assert(
      fc.property(fc.array(settled, { minLength: 1, maxLength: 40 }), (logs) => {
        const shelf = new MessageShelf(logs.length);
        const isUsual = logs.map((log, slot) => shelf.put(slot, log));
        for (const [slot, log] of logs.entries()) {
          expect(shelf.has(slot)).toBe(isUsual[slot]);
          const data = (log.subject as SettledCall | undefined)?.data ?? "";
          if (data.length <= 1024) expect(isUsual[slot]).toBe(true);
          if (!isUsual[slot]) continue;
          expect(told(shelf.read(slot))).toEqual(told(log));
          expect(shelf.lastEvent(slot)).toBe(log.lastEvent);
          expect(shelf.isOf(slot, log.messageId)).toBe(true);
          expect(shelf.ofTrace(log.traceId)(slot)).toBe(true);
          for (const { messageId, traceId } of logs) {
            expect(shelf.isOf(slot, messageId)).toBe(messageId === log.messageId);
            expect(shelf.ofTrace(traceId)(slot)).toBe(traceId === log.traceId);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test("RES-5: gives its room back: a shelf on which calls come and go for ever stays as large as what lies on it", () => {
    const log = sampleOf("call", 7);
    const places = 500;
    const shelf = new MessageShelf(places);
    let afterOneRound = 0;
    for (let i = 0; i < 20 * places; i++) {
      if (i === places) afterOneRound = shelf.bytes;
      const slot = i % places;
      if (shelf.has(slot)) shelf.clear(slot);
      expect(shelf.put(slot, log)).toBe(true);
    }
    // The oldest chunk is free only when its last record is gone.
    expect(shelf.bytes).toBeLessThanOrEqual(afterOneRound + 256 * 1024);
  });

  test.each([
    ["an idempotency key", { alias: "default/a/k" }],
    ["a second attempt", { attempt: 2 }],
    ["an error", { data: undefined, error: { code: "TIMEOUT" } }],
    ["a large answer", { data: JSON.stringify("x".repeat(1100)) }],
  ])("with %s stays off it", (_, unusual) => {
    const log = sampleOf("call", 8);
    Object.assign(log.subject!, unusual);
    expect(new MessageShelf(1).put(0, log)).toBe(false);
  });

  test("and one that goes to disk, or of which more is told than decisions, stays off it too", () => {
    const durable = sampleOf("call", 9);
    durable.durable = true;
    expect(new MessageShelf(1).put(0, durable)).toBe(false);
    const detailed = sampleOf("call", 10);
    detailed.add(detailed.lastEvent + 1, 5, "output_invalid", undefined, 1, { path: "a" });
    expect(new MessageShelf(1).put(0, detailed)).toBe(false);
  });

  test("and a task that has waited for weeks", () => {
    const old = sampleOf("task", 13);
    old.add(old.lastEvent + 1, 2 ** 31, "waiting", undefined, 0, undefined);
    old.flushed = old.size;
    expect(new MessageShelf(1).put(0, old)).toBe(false);
    const busy = sampleOf("task", 14);
    busy.add(busy.lastEvent + 2 ** 31, 1, "waiting", undefined, 0, undefined);
    busy.flushed = busy.size;
    expect(new MessageShelf(1).put(0, busy)).toBe(false);
  });

  test("and a call to somebody who says strange things of his queue", () => {
    for (const queued of [0.5, 2 ** 40]) {
      const strange = sampleOf("call", 15);
      (strange.detailAt(1) as { considered: Considered[] }).considered[0]!.queued = queued;
      expect(new MessageShelf(1).put(0, strange)).toBe(false);
    }
  });

  test("and a task that somebody works on, or whose events are not all on disk", () => {
    const running = sampleOf("task", 11);
    running.add(running.lastEvent + 1, 5, "delivered", undefined, 1, undefined);
    expect(new MessageShelf(1).put(0, running)).toBe(false);
    running.flushed = running.size;
    expect(new MessageShelf(1).put(0, running)).toBe(false);
    const unsaved = sampleOf("task", 12);
    unsaved.flushed--;
    expect(new MessageShelf(1).put(0, unsaved)).toBe(false);
  });
});
