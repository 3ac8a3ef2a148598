import type { JournalEvent } from "@agent-reach/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { packEvents, unpackEvents } from "./journal-content.js";
import { journalKey, journalKeys } from "./journal-keys.js";

const name = fc.option(fc.string(), { nil: undefined });
const event = fc
  .record({
    id: fc.integer({ min: 1, max: 2 ** 52 }),
    at: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    type: fc.string(),
    messageId: name,
    traceId: name,
    agentId: name,
    attempt: fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }),
    details: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  .map(({ details, ...known }) => ({ ...details, ...known }) as JournalEvent);

test("J1: events come back as JSON keeps them, whatever they are called and hold", () => {
  fc.assert(
    fc.property(fc.array(event), (events) => {
      expect(unpackEvents(packEvents(events))).toEqual(JSON.parse(JSON.stringify(events)));
    }),
  );
});

test("a chunk has one key for each message and trace, and one for a message with the trace that is named after it", () => {
  const own = "0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42";
  const events = [
    { messageId: "m-1", traceId: "t-1" },
    { messageId: "m-2", traceId: "t-1" },
    { messageId: "m-1", traceId: "t-1" },
    { messageId: own, traceId: own.replaceAll("-", "") },
  ];
  const keys = journalKeys(events.map((event, i) => ({ id: i, at: "", type: "t", ...event })) as JournalEvent[]);
  expect(keys).toEqual(new Set(["m-1", "m-2", "t-1", own].map(journalKey)));
});
