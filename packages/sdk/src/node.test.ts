import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { IdentityFile } from "./node/identity-file.js";
import { AgentReachClient, currentContext } from "./node.js";

/** A node of a few lines on a real socket. */
async function serve(answer: (method: string, params: Record<string, unknown>, socket: WebSocket) => unknown) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const hello = {
    sessionId: "s",
    nodeId: "n",
    tenant: "t",
    resumed: false,
    limits: { maxMessageBytes: 2_000_000, maxInputBytes: 1_900_000 },
  };
  const lease = { heartbeatIntervalSec: 15, ttlSec: 45, graceSec: 30 };
  let chunks = 0;
  server.on("connection", (socket, request) => {
    request.socket.on("data", () => chunks++);
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data));
      if (frame.method === undefined) return socket.emit("answer", frame);
      const built: Record<string, unknown> = {
        hello,
        register: { agentId: "a", instanceId: "i", instanceKey: "k", epoch: 1, lease, warnings: [] },
      };
      const result = built[frame.method] ?? answer(frame.method, frame.params, socket) ?? {};
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: frame.id, result }));
    });
  });
  cleanups.push(() => server.close());
  return { url: `127.0.0.1:${(server.address() as AddressInfo).port}`, server, chunks: () => chunks };
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

describe("node client", () => {
  it("carries texts of every length and script over a real socket, many in one write", async () => {
    const { url, chunks } = await serve((_, params) => ({ data: params["input"] }));
    const client = new AgentReachClient({ registryUrl: url });
    cleanups.push(() => client.close());
    await client.connect();
    const before = chunks();
    const small = await Promise.all(
      Array.from({ length: 160 }, (_, i) => client.callSync({ capability: "echo", input: i })),
    );
    expect(small.map(({ data }) => data)).toEqual(Array.from({ length: 160 }, (_, i) => i));
    expect(chunks() - before).toBeLessThan(40);
    for (const length of [0, 1, 2, 3, 50, 125, 126, 127, 65_000, 65_535, 65_536, 70_000, 1_000_000]) {
      const text = "x".repeat(length);
      expect((await client.callSync({ capability: "echo", input: text })).data).toBe(text);
    }
    const text = "订单 Größe 😀 \ud800 \u0000 \u2028";
    expect((await client.callSync({ capability: "echo", input: { text } })).data).toEqual({ text });
  });

  it("reads messages in fragments, answers pings between them, and learns the code of a close", async () => {
    const { url, server } = await serve((_, params, socket) => {
      const [first, ...others] = JSON.stringify({ jsonrpc: "2.0", method: "progress", params });
      socket.send(first!, { fin: false });
      socket.ping("between");
      socket.send(others.join(""));
      return { data: params["input"] };
    });
    const client = new AgentReachClient({ registryUrl: url });
    cleanups.push(() => client.close());
    await client.connect();
    const [socket] = server.clients;
    const ponged = once(socket!, "pong");
    const progress: unknown[] = [];
    const call = client.callAsync({ capability: "x", input: "größer" }).onProgress(({ messageId }) => {
      progress.push(messageId);
    });
    expect((await call.result).data).toBe("größer");
    expect(progress).toEqual([call.messageId]);
    expect(String((await ponged)[0])).toBe("between");
    const superseded = new Promise((resolve) => client.on("state", resolve));
    socket!.close(4001, "superseded");
    expect(await superseded).toMatchObject({ state: "superseded" });
  });

  it("knows inside a handler, and after what it awaits, which message it is handling (SDK-5)", async () => {
    const { url, server } = await serve(() => undefined);
    const seen: unknown[] = [];
    const lines: unknown[] = [];
    const note = (_: string, fields?: unknown) => void lines.push(fields);
    const client = new AgentReachClient({
      registryUrl: url,
      logger: { debug: note, info: note, warn: note, error: note },
    });
    cleanups.push(() => client.close());
    await client.register({ agentId: "a" });
    client.onCapability("x", async () => {
      await new Promise((resolve) => setImmediate(resolve));
      const context = currentContext();
      seen.push({ traceId: context?.traceId, messageId: context?.messageId, agentId: context?.agentId });
      client.logger.info("from anywhere");
      return 1;
    });
    await client.start();
    const [socket] = server.clients;
    const envelope = {
      messageId: "m1",
      traceId: "t1",
      kind: "call",
      capability: "x",
      input: 1,
      timeoutMs: 1_000,
      idempotencyKey: "m1",
    };
    const answered = once(socket!, "answer");
    socket!.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "deliver", params: { envelope, attempt: 1 } }));
    expect((await answered)[0]).toMatchObject({ id: 1, result: { status: "completed", data: 1 } });
    expect(seen).toEqual([{ traceId: "t1", messageId: "m1", agentId: "a" }]);
    expect(lines).toContainEqual({ traceId: "t1", messageId: "m1", agentId: "a", instanceId: "i" });
    expect(currentContext()).toBeUndefined();
  });

  it("comes back by itself when the node restarts on the same port (LIVE-9)", async () => {
    const first = await serve(() => ({ data: 1 }));
    const client = new AgentReachClient({ registryUrl: first.url, reconnect: { minMs: 5, maxMs: 50 } });
    cleanups.push(() => client.close());
    await client.connect();
    const down = new Promise<void>((resolve) => client.on("state", ({ state }) => state === "waiting" && resolve()));
    for (const socket of first.server.clients) socket.terminate();
    await down;
    expect(await client.callSync({ capability: "x" })).toMatchObject({ data: 1 });
  });

  it("tells in words that nobody listens at the address", async () => {
    const { url, server } = await serve(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    const client = new AgentReachClient({ registryUrl: url });
    cleanups.push(() => client.close());
    await expect(client.connect({ timeoutMs: 50 })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(url),
    });
    const outcome = await client.callSync({ capability: "x", timeoutMs: 50 });
    expect(outcome).toMatchObject({ errorCode: "UNAVAILABLE", outcome: "not_executed" });
  });

  it("refuses an address that is none, with the forms that are", () => {
    for (const registryUrl of ["", "ftp://x", "http://", []])
      expect(() => new AgentReachClient({ registryUrl })).toThrow("registryUrl");
  });
});

describe("identity file", () => {
  it("is read by its owner alone, written whole, and a damaged one means a fresh instance", () => {
    const folder = mkdtempSync(join(tmpdir(), "identity-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "deep", "agent.json");
    const file = new IdentityFile(path);
    expect(file.load()).toBeUndefined();
    const identity = { agentId: "a", instanceId: "i", instanceKey: "k" };
    file.save(identity);
    expect(file.load()).toEqual(identity);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(readFileSync(path, "utf8").endsWith("\n")).toBe(true);
    writeFileSync(path, '{"agentId":');
    expect(file.load()).toBeUndefined();
  });

  it("W03: is that of the process that wrote it for as long as that lives", () => {
    const folder = mkdtempSync(join(tmpdir(), "identity-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "agent.json");
    const file = new IdentityFile(path);
    const of = (instanceId: string, pid?: number) =>
      JSON.stringify({ agentId: "a", instanceId, instanceKey: "k", ...(pid !== undefined && { pid }) });
    writeFileSync(path, of("of my parent", process.ppid));
    expect(file.load()).toBeUndefined();
    file.save({ agentId: "a", instanceId: "mine", instanceKey: "k" });
    expect(readFileSync(path, "utf8")).toBe(of("of my parent", process.ppid));
    // One that is over, and one from before files said whose they are.
    for (const pid of [2 ** 22 + 1, undefined]) {
      writeFileSync(path, of("of the dead", pid));
      expect(file.load()).toMatchObject({ instanceId: "of the dead" });
      file.save({ agentId: "a", instanceId: "of the dead", instanceKey: "k" });
      expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ instanceId: "of the dead", pid: process.pid });
    }
  });
});
