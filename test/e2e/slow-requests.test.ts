import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json } from "../kit/wire.js";
import { within } from "../kit/within.js";

const HEAD_MS = 700;
const REQUEST_MS = 1_500;
const node = useNode({
  settings: { server: { requestTimeoutMs: REQUEST_MS }, session: { helloTimeoutMs: HEAD_MS } },
});
const { join, bare } = usePeers(node);
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends the text, then drips if there is something to drip, and reads until the node ends the connection. */
async function say(text: string, drip?: string): Promise<{ status: number; body: Json; tookMs: number }> {
  const startedAt = performance.now();
  const socket = connect(node().port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    answer += chunk;
  });
  socket.write(text);
  const dripping = drip === undefined ? undefined : setInterval(() => socket.writable && socket.write(drip), 50);
  try {
    await within(new Promise((over) => socket.once("close", over)), "the node to end the connection");
  } finally {
    clearInterval(dripping);
  }
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    body: body === "" ? undefined : JSON.parse(body),
    tookMs: performance.now() - startedAt,
  };
}

const POST = "POST /v1/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
const tooSlow = {
  status: 400,
  body: {
    code: "INVALID_REQUEST",
    outcome: "not_executed",
    retryable: false,
    message: expect.stringMatching(/took too long to come in.*700 ms.*1500 ms/),
  },
};

describe("RES-7: what never comes in whole", () => {
  test.each([
    ["silence", ""],
    ["half a request line", "POST /v1/ca"],
    ["a head without its end", `${POST}X-More:`],
  ])("a head that never ends is answered and ended in its time: %s", async (_name, text) => {
    const answer = await say(text);
    expect(answer).toMatchObject(tooSlow);
    expect(answer.tookMs).toBeGreaterThan(HEAD_MS - 50);
  });

  test("a head that drips, byte by byte, has no more time", async () => {
    expect(await say(POST, "X-More: 1\r\n")).toMatchObject(tooSlow);
  });

  test.each([
    ["stops", "Content-Length: 1000\r\n\r\n{", undefined],
    ["drips", 'Content-Length: 1000000\r\n\r\n{"input":"', "x"],
    ["drips in chunks", "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"],
  ])("a body that %s is answered and ended in its time", async (_name, rest, drip) => {
    const answer = await say(POST + rest, drip);
    expect(answer).toMatchObject(tooSlow);
    expect(answer.tookMs).toBeGreaterThan(REQUEST_MS - 50);
  });

  test("no HTTP, and a head that is too large, are answered in the words of the table", async () => {
    expect(await say("nonsense\r\n\r\n")).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
    expect(await say(`${POST}X-Long: ${"x".repeat(100_000)}\r\n\r\n`)).toMatchObject({
      status: 413,
      body: { code: "PAYLOAD_TOO_LARGE", outcome: "not_executed" },
    });
  });

  test("whoever waits for an answer, a stream or a socket is not cut off, and keep-alive goes on", async () => {
    const agent = await join(cardOf(), () => undefined);
    const caller = await bare();
    const events = await node().http.events("/v1/events");
    try {
      const { messageId } = await caller.request("submit", { capability: agent.capability, input: 1 });
      const { status, body } = await node().http.get(`/v1/tasks/${messageId}?waitMs=${REQUEST_MS * 2}`);
      expect([status, body.state]).toEqual([200, "delivered"]);
      expect((await node().http.get("/ping")).status).toBe(200);
      expect(await caller.request("ping")).toEqual({});
      const newcomer = await join();
      await events.events.next("the newcomer's event", (e) => e.data?.agentId === newcomer.agentId);
    } finally {
      events.close();
    }
  });
});
