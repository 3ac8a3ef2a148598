import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useBystander } from "../kit/bystander.js";
import { useNode } from "../kit/node.js";
import { call, MB, text } from "../kit/payloads.js";
import { usePeers } from "../kit/peers.js";
import type { Wire } from "../kit/wire.js";
import { eventually, within } from "../kit/within.js";

/** What is no message, what is no frame, and what is no HTTP. */
const node = useNode();
const { bare, join, keep } = usePeers(node);
useBystander(node);

describe("P11: what is JSON but no message", () => {
  const frames = ["null", "true", "0", '""', "[]", "[[]]", "{}", '{"type":null}', "", "{", '{"jsonrpc":"2.0","id":1'];

  test.each(frames)("P11: %j is answered by a typed error, before hello and after it", async (frame) => {
    for (const hello of [false, undefined] as const) {
      const wire = await bare(hello === false ? { hello } : {});
      wire.sendText(frame);
      expect((await wire.answers.next("the error")).json).toMatchObject({
        jsonrpc: "2.0",
        id: null,
        error: { data: { code: "INVALID_REQUEST", outcome: "not_executed" } },
      });
      if (hello === false) await wire.hello();
      expect(await wire.request("ping")).toEqual({});
    }
  });

  test.each([
    ["a binary frame", (wire: Wire) => wire.socket.send(Buffer.from("{}"), { binary: true }), [1003]],
    ["broken UTF-8", (wire: Wire) => wire.tcp.write(masked(0x81, Buffer.from([0xc3, 0x28]))), [1007]],
  ] as const)("P11: %s closes its own connection, before hello and after it", async (_name, send, codes) => {
    for (const hello of [false, undefined] as const) {
      const wire = await bare(hello === false ? { hello } : {});
      send(wire);
      expect(codes).toContain((await within(wire.closed, "the close")).code);
    }
  });
});

/** One frame as a client must send it. */
function masked(first: number, payload: Buffer): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([
    Buffer.from([first, 0x80 | payload.length]),
    mask,
    payload.map((byte, i) => byte ^ mask[i % 4]!),
  ]);
}

describe("P12: a connection that is broken below the protocol", () => {
  const closeCode = (code: number) => masked(0x88, Buffer.from([code >> 8, code & 0xff]));
  const broken: [string, Buffer][] = [
    ["reserved bits", masked(0xf1, Buffer.from("{}"))],
    ["an invalid opcode", masked(0x83, Buffer.from("{}"))],
    ["an invalid control opcode", masked(0x8b, Buffer.from("{}"))],
    ["a close with code 0", closeCode(0)],
    ["a close with code 1006", closeCode(1006)],
    ["a close with one byte", masked(0x88, Buffer.from([3]))],
    ["a fragmented ping", masked(0x09, Buffer.from("x"))],
    ["a continuation of nothing", masked(0x80, Buffer.from("x"))],
    ["a frame without mask", Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
  ];
  const counted = async () =>
    Number(/^agent_reach_connections_broken_total (\d+)/m.exec((await node().http.get("/metrics")).text)?.[1]);

  test.each(broken)("P12: by %s ends alone and is counted, before hello and after it", async (_name, bytes) => {
    for (const hello of [false, undefined] as const) {
      const before = await counted();
      const wire = await bare(hello === false ? { hello } : {});
      wire.tcp.write(bytes);
      await within(wire.closed, "the close");
      expect(await eventually(counted, (n) => n > before, "the count to rise")).toBe(before + 1);
    }
  });

  test("P12: by a reset during the upgrade, or amid a request, harms nobody", async () => {
    const halves = [
      "GET /registry HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
      "GET /registry HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
      "GET /elsewhere HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
      "POST /v1/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
      "nonsense\r\n\r\n",
    ];
    for (let round = 0; round < 20; round++)
      for (const half of halves) {
        const socket = connect(node().port, "127.0.0.1");
        socket.on("error", () => {});
        await new Promise<void>((connected) => socket.once("connect", connected));
        await new Promise<void>((written) => socket.write(half, () => written()));
        socket.resetAndDestroy();
      }
    expect((await node().http.get("/readyz")).status).toBe(200);
  });

  test("P12: by a peer that went while much was being written to it harms nobody", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 100 }), () => undefined);
    const caller = await bare();
    agent.wire.tcp.pause();
    const calls = Array.from({ length: 10 }, () => caller.refused("call", call(agent.capability, text(MB), 1_000)));
    await caller.request("ping");
    agent.wire.tcp.resetAndDestroy();
    for (const { code } of await Promise.all(calls))
      expect(["DELIVERY_TIMEOUT", "TIMEOUT", "UNAVAILABLE"]).toContain(code);
  });
});

describe("P12: an agent behind an endpoint", () => {
  test("P12: that resets, hangs up or talks nonsense ends its own message, and the node lives", async () => {
    const caller = await bare();
    const answers = ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "nonsense\r\n\r\n"];
    let n = 0;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(answers[n++ % answers.length] ?? ""));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    keep({ cut: () => void server.close() });
    const { port } = server.address() as AddressInfo;
    const card = cardOf({ transport: { type: "http", endpoint: `http://127.0.0.1:${port}/hook` } });
    expect((await node().http.post("/v1/agents", { card })).status).toBeLessThan(300);
    for (let round = 0; round < answers.length; round++) {
      const refused = await caller.refused("call", call(card.capabilities[0].name, {}, 300));
      expect(["DELIVERY_TIMEOUT", "TIMEOUT", "UNAVAILABLE"]).toContain(refused.code);
    }
  });
});
