import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { HalfOpenProxy, SmallDisk } from "./faults.js";
import { EventStream } from "./http.js";
import { Ledger } from "./ledger.js";
import { Mailbox } from "./mailbox.js";
import { Refusal, Wire, WireError } from "./wire.js";
import { within } from "./within.js";

test("a mailbox gives what came before the question and what comes after it", async () => {
  const box = new Mailbox<number>();
  box.put(1);
  box.put(2);
  expect(await box.next("two", (n) => n === 2)).toBe(2);
  const three = box.next("three", (n) => n === 3);
  box.put(3);
  expect(await three).toBe(3);
  expect(box.untaken).toEqual([1]);
});

test("a wait that fails says what was waited for, and what was there instead", async () => {
  const box = new Mailbox<string>();
  box.put("pear");
  await expect(box.next("an apple", (fruit) => fruit === "apple", 5)).rejects.toThrow(/an apple.*pear/);
});

test("an event stream is read across chunks, with ids, comments and several lines of data", async () => {
  const stream = new EventStream();
  stream.read(": keep-alive\n\nid: 7\nevent: agent.up");
  stream.read('dated\ndata: {"a":\ndata: 1}\n\n');
  expect(await stream.events.next("the event")).toEqual({ id: "7", event: "agent.updated", data: { a: 1 } });
});

test("the bare client pairs answers with requests, and answers the peer's own", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  const answers = new Mailbox<string>();
  server.on("connection", (socket) => {
    socket.send('{"jsonrpc":"2.0","id":"s1","method":"ping","params":{}}');
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data));
      if (frame.method === "good") {
        socket.send('{"jsonrpc":"2.0","id":"s2","method":"deliver","params":{}}');
        socket.send(JSON.stringify({ jsonrpc: "2.0", id: frame.id, result: 5 }));
      } else if (frame.method === "bad")
        socket.send(
          JSON.stringify({
            jsonrpc: "2.0",
            id: frame.id,
            error: { code: -32010, message: "no", data: { code: "NO_ROUTE" } },
          }),
        );
      else answers.put(String(data));
    });
  });
  const { port } = server.address() as { port: number };
  const wire = await Wire.open(`ws://127.0.0.1:${port}/`, { hello: false });
  wire.handle("deliver", () => {
    throw new Refusal("OVERLOADED", -32013, 50);
  });
  expect(await wire.request("good")).toBe(5);
  const refused = await wire.refused("bad");
  expect(refused).toBeInstanceOf(WireError);
  expect([refused.rpc, refused.code]).toEqual([-32010, "NO_ROUTE"]);
  expect(JSON.parse(await answers.next("the pong", (text) => text.includes("s1")))).toMatchObject({
    id: "s1",
    result: {},
  });
  expect(JSON.parse(await answers.next("the refusal", (text) => text.includes("s2")))).toMatchObject({
    error: { data: { code: "OVERLOADED", retryAfterMs: 50 } },
  });
  wire.cut();
  server.close();
});

test("the proxy relays, swallows everything as a black hole without ending anything, and cuts", async () => {
  const received = new Mailbox<string>();
  const server = createServer((socket) => {
    socket.on("data", (chunk) => received.put(String(chunk)));
    socket.on("error", () => received.put("reset"));
    socket.on("close", () => received.put("closed"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy = await HalfOpenProxy.to((server.address() as { port: number }).port);
  const client = connect(proxy.port, "127.0.0.1");
  client.on("error", () => {});
  client.write("hello");
  expect(await received.next("the bytes")).toBe("hello");
  proxy.blackHole();
  await new Promise<void>((resolve) => client.write("lost", () => resolve()));
  await expect(received.next("nothing", () => true, 50)).rejects.toThrow(/nothing/);
  const gone = new Promise<void>((resolve) => client.once("close", () => resolve()));
  proxy.cut();
  await within(gone, "the client's connection to end");
  expect(await received.next("the end")).toBe("reset");
  await proxy.close();
  server.close();
});

test("the proxy stalls without ending anything, and lets what it held back arrive when it is healed", async () => {
  const received = new Mailbox<string>();
  const server = createServer((socket) => {
    socket.on("data", (chunk) => received.put(String(chunk)));
    socket.once("close", () => received.put("closed"));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const proxy = await HalfOpenProxy.to((server.address() as { port: number }).port);
  const client = connect(proxy.port, "127.0.0.1");
  client.write("hello");
  expect(await received.next("the bytes")).toBe("hello");
  proxy.stall();
  client.end("late, and goodbye");
  await expect(received.next("nothing", () => true, 50)).rejects.toThrow(/nothing/);
  proxy.heal();
  expect(await received.next("what was held back")).toBe("late, and goodbye");
  expect(await received.next("the end")).toBe("closed");
  await proxy.close();
  server.close();
});

test("the ledger keeps the order across processes, and finds what was begun after its success was known", () => {
  const ledger = new Ledger();
  ledger.note("begin", "a");
  ledger.note("begin", "b");
  ledger.note("completed", "a");
  ledger.note("begin", "b");
  expect(ledger.begunAfterSuccess()).toEqual([]);
  expect(ledger.byKey("begin").get("b")).toHaveLength(2);
  ledger.note("begin", "a");
  expect(ledger.begunAfterSuccess()).toEqual(["a"]);
  ledger.dispose();
});

test("the small disk fills up to the last byte, and has room again", async () => {
  const disk = new SmallDisk(1);
  try {
    disk.fill();
    expect(() => writeFileSync(`${disk.path}/more`, "more than nothing")).toThrow(/ENOSPC/);
    disk.free();
    writeFileSync(`${disk.path}/more`, "more than nothing");
  } finally {
    disk.dispose();
  }
});

test("the proxy delays and throttles, and lets go when it is healed", async () => {
  const received = new Mailbox<number>();
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      received.put(bytes);
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy = await HalfOpenProxy.to((server.address() as { port: number }).port);
  const client = connect(proxy.port, "127.0.0.1");
  client.on("error", () => {});
  const took = async (size: number): Promise<number> => {
    const [started, until] = [performance.now(), bytes + size];
    client.write(Buffer.alloc(size));
    await received.next(`${until} bytes`, (n) => n >= until);
    return performance.now() - started;
  };
  proxy.delay(60);
  expect(await took(10)).toBeGreaterThanOrEqual(55);
  proxy.heal();
  proxy.throttle(1_000);
  expect(await took(10_000)).toBeGreaterThanOrEqual(95);
  proxy.heal();
  expect(await took(10_000)).toBeLessThan(95);
  await proxy.close();
  server.close();
});
