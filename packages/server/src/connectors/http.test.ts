import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BlackHole } from "../../../../test/kit/black-hole.js";
import { FakeSystem } from "../../../../test/kit/fake-system.js";
import { Mailbox } from "../../../../test/kit/mailbox.js";
import { within } from "../../../../test/kit/within.js";
import type { Expiry, Receiver } from "../ports/delivery.js";
import { firstByteWithinMs } from "./endpoint.js";
import { WebhookLink } from "./http.js";

/** What the link said of one message, in order. */
class Listener implements Receiver {
  readonly heard = new Mailbox<unknown[]>();
  accepted(): void {
    this.heard.put(["accepted"]);
  }
  completed(data: string): void {
    this.heard.put(["completed", data]);
  }
  failed(error: { code?: string }): void {
    this.heard.put(["failed", error.code]);
  }
  refused(code: string, _message: string, retryAfterMs: number | undefined, expiry?: Expiry): void {
    this.heard.put(["refused", code, retryAfterMs, expiry]);
  }
  lost(expiry?: Expiry): void {
    this.heard.put(["lost", expiry]);
  }
}

const CONNECT_MS = 500;
const FIRST_BYTE_MS = 1000;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const done = (status: string, body: string) =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** The total is kept on fake time, which moves only when a test says so; the times of the HTTP library are real. */
let system: FakeSystem;
let server: Server;
let sockets: Mailbox<Socket>;
/** What the endpoint does with a request. */
let answer: (socket: Socket) => void;
const links: WebhookLink[] = [];
beforeEach(async () => {
  system = new FakeSystem();
  sockets = new Mailbox();
  answer = () => {};
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      // Requests of these tests are small and come whole.
      if (!chunk.toString().startsWith("POST")) return;
      sockets.put(socket);
      answer(socket);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterEach(async () => {
  for (const link of links.splice(0)) link.close();
  for (const socket of sockets.drain()) socket.destroy();
  await new Promise((closed) => server.close(closed));
});

const port = () => (server.address() as AddressInfo).port;
const deliver = (more: { url?: string; timeoutMs?: number; hintMs?: number } = {}): Listener => {
  const { url = `http://127.0.0.1:${port()}/hook`, timeoutMs = 60_000, hintMs } = more;
  const link = new WebhookLink(url, () => "key", system, {
    connectTimeoutMs: CONNECT_MS,
    firstByteTimeoutMs: FIRST_BYTE_MS,
    answerBytesMax: 10_000,
    dataBytesMax: 1_000,
  });
  links.push(link);
  const listener = new Listener();
  expect(link.deliver({ messageId: "m1", attempt: 1, envelope: "{}", timeoutMs, hintMs }, listener)).toBe(true);
  return listener;
};
const heard = (listener: Listener) => listener.heard.next("the link's word");

describe("RES-10: the times of a request to an endpoint", () => {
  test("connect: where no connection comes about nothing was executed, and the phase is named", async () => {
    const hole = await BlackHole.open();
    try {
      const startedAt = performance.now();
      const listener = deliver({ url: `http://127.0.0.1:${hole.port}/hook` });
      expect(await heard(listener)).toEqual([
        "refused",
        "UNAVAILABLE",
        undefined,
        { phase: "connect", limitMs: CONNECT_MS },
      ]);
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(CONNECT_MS - 1);
    } finally {
      await hole.close();
    }
  });

  test("connect: a TLS handshake that is never answered is part of it", async () => {
    const listener = deliver({ url: `https://127.0.0.1:${port()}/hook` });
    expect(await heard(listener)).toMatchObject(["refused", "UNAVAILABLE", undefined, { phase: "connect" }]);
  });

  test("one that is refused, or breaks in the handshake, is not executed either, and no time expired", async () => {
    const hangsUp = createServer((socket) => socket.on("error", () => {}).destroy());
    await new Promise<void>((listening) => hangsUp.listen(0, "127.0.0.1", listening));
    const at = `127.0.0.1:${(hangsUp.address() as AddressInfo).port}/hook`;
    expect(await heard(deliver({ url: `https://${at}` }))).toEqual(["refused", "UNAVAILABLE", undefined, undefined]);
    await new Promise((closed) => hangsUp.close(closed));
    expect(await heard(deliver({ url: `http://${at}` }))).toEqual(["refused", "UNAVAILABLE", undefined, undefined]);
  });

  test("first byte: a server that takes the message and says nothing leaves the outcome unknown", async () => {
    const startedAt = performance.now();
    const listener = deliver();
    const socket = await sockets.next("the message");
    const closed = new Promise((over) => socket.once("close", over));
    expect(await heard(listener)).toEqual(["lost", { phase: "first byte", limitMs: FIRST_BYTE_MS }]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(FIRST_BYTE_MS - 1);
    await within(closed, "the end of the connection that nobody waits for any more");
  });

  test("first byte: a 202 counts, though its body never comes", async () => {
    answer = (socket) => socket.write("HTTP/1.1 202 Accepted\r\ncontent-length: 5\r\n\r\n");
    expect(await heard(deliver())).toEqual(["accepted"]);
  });

  test("first byte: none for a capability that by its card works for longer before it answers", async () => {
    answer = (socket) => setTimeout(() => socket.write(done("200 OK", '{"status":"completed","data":7}')), 2_000);
    expect(await heard(deliver({ hintMs: 5_000 }))).toEqual(["completed", "7"]);
  });

  test("first byte: the card's hint takes the limit away where it is longer, and never sets it", () => {
    expect(firstByteWithinMs(1000, undefined)).toBe(1000);
    expect(firstByteWithinMs(1000, 200)).toBe(1000);
    expect(firstByteWithinMs(1000, 1000)).toBe(1000);
    expect(firstByteWithinMs(1000, 1001)).toBe(0);
    expect(firstByteWithinMs(0, 10)).toBe(0);
  });

  test("total: an answer that begins and stalls ends with the sender's time, unknown", async () => {
    answer = (socket) => socket.write(`${HEAD}content-length: 100\r\n\r\n{"status":`);
    const listener = deliver({ timeoutMs: 4_000 });
    const socket = await sockets.next("the message");
    const closed = new Promise((over) => socket.once("close", over));
    system.advance(3_999);
    expect(listener.heard.untaken).toEqual([]);
    system.advance(1);
    expect(await heard(listener)).toEqual(["lost", { phase: "total", limitMs: 4_000 }]);
    await within(closed, "the end of the connection");
  });

  test("total: it holds as well while the first byte may take as long as it likes, and for a body that drips", async () => {
    let drip: NodeJS.Timeout | undefined;
    answer = (socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
      drip = setInterval(() => socket.write("1\r\n{\r\n"), 5);
    };
    const dripping = deliver({ timeoutMs: 4_000 });
    await sockets.next("the first message");
    answer = () => {};
    const silent = deliver({ timeoutMs: 4_000, hintMs: 60_000 });
    await sockets.next("the second message");
    system.advance(4_000);
    for (const listener of [dripping, silent])
      expect(await heard(listener)).toEqual(["lost", { phase: "total", limitMs: 4_000 }]);
    clearInterval(drip);
  });

  test("total: the rest of an answer that needs no reading holds its connection no longer than that", async () => {
    answer = (socket) => socket.write("HTTP/1.1 503 Busy\r\nretry-after: 2\r\ncontent-length: 5\r\n\r\n");
    const listener = deliver({ timeoutMs: 4_000 });
    const socket = await sockets.next("the message");
    const closed = new Promise((over) => socket.once("close", over));
    expect(await heard(listener)).toEqual(["refused", "OVERLOADED", 2_000, undefined]);
    system.advance(4_000);
    await within(closed, "the end of the connection");
  });

  test("no timer is left once the answer is there, and each message has one word", async () => {
    answer = (socket) => socket.write(done("200 OK", '{"status":"completed","data":1}'));
    const listener = deliver();
    expect(await heard(listener)).toEqual(["completed", "1"]);
    expect(system.pending).toBe(0);
    system.advance(60_000);
    expect(listener.heard.untaken).toEqual([]);
  });
});
