import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";

import { Operator } from "@agent-reach/sdk/operator";
import { describe, expect, onTestFinished, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { newId, Wire } from "../kit/wire.js";
import { eventually, gate, within } from "../kit/within.js";

/** Area M of the cases: what is bounded, whoever is slow, gone or talkative. */
const node = useNode({
  settings: { session: { slowReaderBytes: 1_048_576, resumeSec: 2, watchesMax: 1_000 }, journal: { messagesMax: 300 } },
});
const { bare, join } = usePeers(node);
const MB = 1_048_576;
const metric = async (name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\d+)`, "m").exec((await node().http.get("/metrics")).text)?.[1]);

describe("M01: a reader that is slower than the events", () => {
  test("M01: of a watch is closed with 4009, memory stays flat, and others and the one who comes back miss nothing", async () => {
    const [slow, quick] = [await bare(), await bare()];
    const { revision } = await quick.request("watch", {});
    for (let n = 0; n < 300; n++) await slow.request("watch", {});
    slow.tcp.pause();
    const before = node().residentBytes;
    const churner = await bare();
    const rounds = 100;
    const churn = (n: number) => `churn-${n}`;
    // Each registration makes 300 events and more for the slow one, of some 300 bytes.
    for (let n = 0; n < rounds; n++) {
      const { instanceId } = await churner.request("register", { card: cardOf({ agentId: churn(n) }) });
      await churner.request("deregister", { instanceId });
    }
    const seenBy = async (wire: Wire): Promise<{ revisions: number[]; agents: string[] }> => {
      const last = await wire.waitFor("instance.offline", (e) => e.agentId === churn(rounds - 1));
      const events = [...wire.notifications.untaken.map(({ params }) => params), last];
      const ours = events.filter(({ type }) => type === "instance.offline");
      return { revisions: events.map((e) => e.revision), agents: ours.map((e) => e.agentId) };
    };
    const seen = await seenBy(quick);
    expect(seen.agents).toEqual(Array.from({ length: rounds }, (_, n) => churn(n)));
    expect(node().residentBytes - before).toBeLessThan(100 * MB);
    slow.tcp.resume();
    expect((await within(slow.closed, "the slow reader to be closed", 15_000)).code).toBe(4009);
    // What it missed is still to be had, by the revision that it knows.
    const again = await bare();
    await again.request("watch", { revision });
    expect(await seenBy(again)).toEqual(seen);
  }, 40_000);

  test("M01: of an event stream is cut off, and memory stays flat", async () => {
    const streaming = request({ host: "127.0.0.1", port: node().port, path: "/v1/events" });
    onTestFinished(() => void streaming.destroy());
    const ended = gate();
    let answered: IncomingMessage | undefined;
    streaming.on("error", () => {});
    streaming.on("response", (answer) => {
      answer.once("close", () => ended.open());
      answer.once("error", () => {});
      answer.pause();
      answered = answer;
      started.open();
    });
    const started = gate();
    streaming.end();
    await within(started.opened, "the stream to begin");
    const agent = await join(cardOf({ maxConcurrentTasks: 100 }), () => ({ status: "accepted" }));
    const caller = await bare();
    const before = node().residentBytes;
    const tasks = Array.from({ length: 40 }, () =>
      caller.request("submit", { capability: agent.capability, input: {} }),
    );
    await Promise.all(tasks);
    for (let n = 0; n < tasks.length; n++) {
      const { envelope, attempt } = await agent.next();
      agent.wire.notify("progress", {
        messageId: envelope.messageId,
        instanceId: agent.instanceId,
        attempt,
        data: "x".repeat(MB - 1_000),
      });
      await agent.heartbeat();
    }
    expect(node().residentBytes - before).toBeLessThan(250 * MB);
    // It finds the end behind what the network still held, which is less than was said.
    let bytes = 0;
    answered!.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    answered!.resume();
    await within(ended.opened, "the stream to be cut off");
    expect(bytes).toBeLessThan(40 * MB);
  }, 30_000);

  test("M01: of the operator's stream is waited for: no more is read ahead than it takes", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++;
          controller.enqueue(new TextEncoder().encode(`id: ${pulled}\nevent: e\ndata: {"n":${pulled}}\n\n`));
        },
      },
      { highWaterMark: 0 },
    );
    const operator = new Operator({ url: "http://127.0.0.1:1", fetch: async () => new Response(body) });
    let taken = 0;
    for await (const event of operator.events()) {
      expect(event.data).toEqual({ n: ++taken });
      for (let turn = 0; turn < 10; turn++) await new Promise((next) => setImmediate(next));
      expect(pulled - taken).toBeLessThanOrEqual(1);
      if (taken === 20) break;
    }
    expect(taken).toBe(20);
  });
});

describe("M03: sessions", () => {
  /** Opens a session, hears its id, and goes without a word. */
  const visit = async (): Promise<string> => {
    const wire = await Wire.open(node().url);
    wire.cut();
    return wire.session.sessionId;
  };

  test("M03: that were left are reclaimed, and those that are there are not", async () => {
    const waiting = await bare();
    const before = await metric("agent_reach_sessions");
    const ids: string[] = [];
    for (let n = 0; n < 100; n++) ids.push(await visit());
    await eventually(
      () => metric("agent_reach_sessions"),
      (n) => n === before,
      "the sessions to be over",
    );
    // Within its time one can be resumed; afterwards none.
    const resumed = await bare({ hello: { resume: { sessionId: ids.at(-1)! } } });
    expect(resumed.session.resumed).toBe(true);
    await eventually(
      async () => {
        for (let n = 0; n < 300; n++) await waiting.request("ping");
        const late = await Wire.open(node().url, { hello: { resume: { sessionId: ids.shift()! } } });
        late.cut();
        return late.session.resumed as boolean;
      },
      (known) => !known,
      "the sessions to be forgotten",
    );
    expect(await waiting.request("ping")).toEqual({});
  }, 20_000);
});

describe("M03: very many sessions", () => {
  const crowded = useNode();

  test("M03: of very many that were left the oldest are forgotten before their time", async () => {
    const first = await Wire.open(crowded().url);
    first.cut();
    const { port } = crowded();
    const key =
      "GET /registry HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    const hello = Buffer.from(
      '{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":"1","client":{"name":"x"}}}',
    );
    // A mask of zeros leaves the text as it is.
    const frame = Buffer.concat([Buffer.from([0x81, 0x80 | hello.length, 0, 0, 0, 0]), hello]);
    const opening = Buffer.concat([Buffer.from(key), frame]);
    const leave = () =>
      new Promise<void>((left, failed) => {
        const socket = connect(port, "127.0.0.1", () => socket.write(opening));
        socket.on("error", failed);
        let said = "";
        socket.on("data", (chunk) => {
          said += chunk.toString("latin1");
          if (!said.includes("serverTime")) return;
          socket.destroy();
          left();
        });
      });
    let left = 0;
    const visitors = Array.from({ length: 32 }, async () => {
      while (left++ < 10_000) await leave();
    });
    await Promise.all(visitors);
    const late = await Wire.open(crowded().url, { hello: { resume: { sessionId: first.session.sessionId } } });
    late.cut();
    expect(late.session.resumed).toBe(false);
  }, 60_000);
});

describe("M05: what is kept of messages that are over", () => {
  test("M05: metrics have as many lines after thousands of messages, agents and traces as before", async () => {
    const lines = async () => (await node().http.get("/metrics")).text.split("\n").length;
    const before = await lines();
    const caller = await bare();
    for (let n = 0; n < 20; n++) {
      const agent = await join();
      const calls = Array.from({ length: 50 }, () => {
        const messageId = newId();
        return caller.request("call", { messageId, traceId: messageId, capability: agent.capability, input: n });
      });
      calls.push(caller.refused("call", { capability: `nobody_${n}`, input: n }));
      await Promise.all(calls);
    }
    expect(await lines()).toBe(before);
  });

  test("M05: the newest messages are kept, as many as the node is told, and older ones are forgotten with their traces", async () => {
    const agent = await join();
    const caller = await bare();
    const ids: { messageId: string; traceId: string }[] = [];
    for (let n = 0; n < 400; n++) {
      const { messageId, traceId } = await caller.request("call", { capability: agent.capability, input: n });
      ids.push({ messageId, traceId });
    }
    const status = async (path: string) => (await node().http.get(path)).status;
    expect(await status(`/v1/messages/${ids[0]!.messageId}`)).toBe(404);
    expect(await status(`/v1/traces/${ids[0]!.traceId}`)).toBe(404);
    expect(await status(`/v1/messages/${ids.at(-200)!.messageId}`)).toBe(200);
    expect(await status(`/v1/traces/${ids.at(-200)!.traceId}`)).toBe(200);
  });

  test("M05: of one task that reports without end only so many bytes are kept, in memory and on disk", async () => {
    const agent = await join(cardOf(), () => ({ status: "accepted" }));
    const caller = await bare();
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: {} });
    const delivery = await agent.next();
    const before = node().residentBytes;
    const report = (percent: number, data: string) => {
      const { attempt } = delivery;
      agent.wire.notify("progress", { messageId, instanceId: agent.instanceId, attempt, percent, data });
      return caller.nextNotification("progress", (p) => p.percent === percent);
    };
    // Each one reaches the submitter in full; the story keeps that there were so many, and the data of the first.
    for (let n = 1; n <= 100; n++) expect((await report(n, "x".repeat(500_000))).data.length).toBe(500_000);
    await agent.complete(delivery, { status: "completed", data: "done" });
    const { events } = await caller.request("task.events", { messageId });
    const kept = events.filter(({ type }: { type: string }) => type === "progress");
    expect(kept).toHaveLength(100);
    expect(kept[0].data.length).toBe(500_000);
    expect(kept.at(-1)).toMatchObject({ percent: 100, omittedBytes: expect.any(Number) });
    expect(JSON.stringify(events).length).toBeLessThan(2 * MB);
    expect(node().residentBytes - before).toBeLessThan(150 * MB);
  }, 30_000);
});
