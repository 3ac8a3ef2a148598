import { afterEach, describe, expect, test } from "vitest";
import type { EventStream } from "../kit/http.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json } from "../kit/wire.js";

/** OBS-6, REG-6: what happens is an event that others may follow over HTTP, and resume. */
const node = useNode();
const { bare, join } = usePeers(node);
const streams: EventStream[] = [];
afterEach(() => {
  for (const one of streams.splice(0)) one.close();
});
const follow = async (path: string, headers = {}): Promise<EventStream> => {
  const stream = await node().http.events(path, headers);
  streams.push(stream);
  expect(stream.status).toBe(200);
  expect(stream.contentType).toMatch(/^text\/event-stream/);
  return stream;
};
const next = (stream: EventStream, what: string, fits: (data: Json) => boolean) =>
  stream.events.next(what, (e) => fits(e.data ?? {}));

describe("OBS-6: GET /v1/events", () => {
  test("streams what happens to a message, with ids that rise", async () => {
    const agent = await join();
    const stream = await follow("/v1/events");
    const { body } = await node().http.post("/v1/call", { capability: agent.capability, input: 1 });
    const first = await next(stream, "an event of the call", (d) => d.messageId === body.messageId);
    const second = await next(stream, "another event of the call", (d) => d.messageId === body.messageId);
    expect(first.data).toMatchObject({
      type: expect.any(String),
      at: expect.stringMatching(/T/),
      traceId: body.traceId,
    });
    expect(Number(second.id)).toBeGreaterThan(Number(first.id));
  });

  test("resumes after Last-Event-ID without a loss and without repeating", async () => {
    const agent = await join();
    const stream = await follow("/v1/events");
    const { body: one } = await node().http.post("/v1/call", { capability: agent.capability, input: 1 });
    const seen = await next(stream, "an event", (d) => d.messageId === one.messageId);
    stream.close();
    const { body: two } = await node().http.post("/v1/call", { capability: agent.capability, input: 2 });
    const resumed = await follow("/v1/events", { "last-event-id": seen.id! });
    const missed = await next(resumed, "the event that was missed", (d) => d.messageId === two.messageId);
    expect(Number(missed.id)).toBeGreaterThan(Number(seen.id));
    expect(resumed.events.untaken.filter((e) => Number(e.id) <= Number(seen.id))).toEqual([]);
  });

  test("from a registry revision streams registry events, as watch does", async () => {
    const wire = await bare();
    const { revision } = await wire.request("watch", {});
    const agent = await join();
    const stream = await follow(`/v1/events?revision=${revision}`);
    const event = await next(
      stream,
      "the agent's registration",
      (d) => d.type === "agent.registered" && d.agentId === agent.agentId,
    );
    expect(event.data.revision).toBeGreaterThan(revision);
    const later = await join();
    await next(stream, "a later registration", (d) => d.type === "instance.online" && d.agentId === later.agentId);
  });

  test("from a revision that is gone is 410", async () => {
    const { status, body } = await node().http.get("/v1/events?revision=9000000000");
    expect(status).toBe(410);
    expect(body).toMatchObject({ code: "REVISION_GONE", retryable: false });
  });
});
