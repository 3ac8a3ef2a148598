import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json } from "../kit/wire.js";
import { within } from "../kit/within.js";

const node = useNode({ settings: { session: { helloTimeoutMs: 700, pingIntervalMs: 200, missedPongsMax: 3 } } });
const { bare } = usePeers(node);

describe("hello", () => {
  test("is answered with the session, the node and its limits", async () => {
    const wire = await bare();
    expect(wire.session).toMatchObject({
      sessionId: expect.stringMatching(/^.{16,}$/),
      nodeId: expect.any(String),
      tenant: expect.any(String),
      resumed: false,
      limits: { maxMessageBytes: expect.any(Number), maxInputBytes: 1_048_576, resumeSec: 60 },
      pingIntervalMs: 200,
    });
    expect(wire.session.limits.maxMessageBytes).toBeGreaterThan(wire.session.limits.maxInputBytes);
    expect(wire.session.serverTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
  });

  test("gives each session a secret of its own", async () => {
    const [one, two] = [await bare(), await bare()];
    expect(one.session.sessionId).not.toBe(two.session.sessionId);
  });

  test("with a protocol version the node does not speak is refused by name, then 4000", async () => {
    const wire = await bare({ hello: false });
    const error = await wire.refused("hello", { protocol: "99", client: { name: "x", version: "1", language: "x" } });
    expect(error).toMatchObject({ code: "INVALID_REQUEST", rpc: -32600 });
    expect(error.data.path).toBe("protocol");
    expect((await within(wire.closed, "the close")).code).toBe(4000);
  });

  test("without a protocol version is refused, then 4000", async () => {
    const wire = await bare({ hello: false });
    expect(await wire.refused("hello", { client: { name: "x" } })).toMatchObject({ code: "INVALID_REQUEST" });
    expect((await within(wire.closed, "the close")).code).toBe(4000);
  });

  test.each([
    ["a request", { jsonrpc: "2.0", id: 7, method: "discover", params: { capability: "x" } }, 7],
    ["a ping", { jsonrpc: "2.0", id: "p", method: "ping", params: {} }, "p"],
    ["an unknown method", { jsonrpc: "2.0", id: 1, method: "sing" }, 1],
  ])("must come first: %s before it is -32600, then 4000", async (_name, frame, id) => {
    const wire = await bare({ hello: false });
    wire.sendText(JSON.stringify(frame));
    const answer = await wire.answers.next("the error");
    expect(answer.json).toMatchObject({
      id,
      error: { code: -32600, data: { code: "INVALID_REQUEST", outcome: "not_executed" } },
    });
    expect((await within(wire.closed, "the close")).code).toBe(4000);
  });

  test("that does not come in time closes with 4008", async () => {
    const wire = await bare({ hello: false });
    expect((await within(wire.closed, "the close")).code).toBe(4008);
  });

  test("with a session that is not known starts a new one", async () => {
    const wire = await bare({ hello: { resume: { sessionId: "f".repeat(32) } } });
    expect(wire.session.resumed).toBe(false);
  });

  test("with fields that the node does not know is a good hello", async () => {
    const wire = await bare({ hello: { future: { a: 1 }, client: { name: "n", mood: "good" } } });
    expect(await wire.request("ping")).toEqual({});
  });
});

describe("LIVE-5: the node's probe", () => {
  test("closes a connection that answers no ping with 4008", async () => {
    const wire = await bare({ deaf: true });
    expect((await within(wire.closed, "the close")).code).toBe(4008);
  });

  test("M03: keeps a connection that only answers pings", async () => {
    const deaf = await bare({ deaf: true });
    const alive = await bare();
    await within(deaf.closed, "the deaf one to be closed");
    expect(await alive.request("ping")).toEqual({});
  });
});

describe("RES-7: half a message and then silence", () => {
  test("before hello ends with the hello timeout, and the node goes on", async () => {
    const { port } = node();
    const tcp = connect(port, "127.0.0.1");
    const ended = new Promise<void>((resolve) => tcp.once("close", () => resolve()));
    tcp.on("error", () => {});
    const key = randomBytes(16).toString("base64");
    tcp.write(
      `GET /registry HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    await new Promise<void>((resolve) => tcp.once("data", () => resolve()));
    tcp.resume();
    // A masked text frame that announces 100 bytes and brings nine.
    tcp.write(Buffer.from([0x81, 0x80 | 100, 1, 2, 3, 4, 0x7a, 0x20, 0x69, 0x73, 0x6e, 0x72, 0x70, 0x63, 0x23]));
    await within(ended, "the node to end the connection");
    expect(await (await bare()).request("ping")).toEqual({});
  });

  test("before the upgrade is complete does not hold the node up", async () => {
    const tcp = connect(node().port, "127.0.0.1");
    tcp.on("error", () => {});
    await new Promise<void>((resolve) => tcp.write("GET /registry HT", () => resolve()));
    expect(await (await bare()).request("ping")).toEqual({});
    tcp.destroy();
  });
});

describe("resume (DLV-11, REG-6)", () => {
  test("restores the session and its watches on a new socket", async () => {
    const first = await bare();
    const { watchId } = await first.request("watch", {});
    first.cut();
    await within(first.closed, "the cut");
    const second = await bare({ hello: { resume: { sessionId: first.session.sessionId } } });
    expect(second.session).toMatchObject({ resumed: true });
    const agent = await bare();
    const card = { agentId: "resumed-watch", capabilities: [{ name: "resumed_watch" }] };
    await agent.request("register", { card });
    const event: Json = await second.waitFor("agent.registered", (e) => e.agentId === "resumed-watch");
    expect(event.watchId).toBe(watchId);
  });
});
