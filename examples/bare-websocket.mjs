// An agent without the SDK: a WebSocket and JSON-RPC frames, as any language with a WebSocket can send them.
// Run it beside a node: node examples/bare-websocket.mjs [http://127.0.0.1:8800]
import assert from "node:assert/strict";
import { once } from "node:events";
import WebSocket from "ws";

const httpUrl = process.argv[2] ?? process.env.AGENT_REACH_URL ?? "http://127.0.0.1:8800";
const socket = new WebSocket(`${httpUrl.replace(/^http/, "ws")}/registry`);
const waiting = new Map();
let lastId = 0;

function send(frame) {
  socket.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));
}

function request(method, params) {
  return new Promise((resolve, reject) => {
    waiting.set(++lastId, { resolve, reject });
    send({ id: lastId, method, params });
  });
}

// The node's own requests: work to do, and whether we are there.
const handlers = {
  deliver: ({ envelope }) => ({ status: "completed", data: { sum: envelope.input.a + envelope.input.b } }),
  ping: () => ({}),
};

socket.on("message", (text) => {
  const { id, method, params, result, error } = JSON.parse(String(text));
  if (method !== undefined) {
    if (id !== undefined) send({ id, result: handlers[method]?.(params) ?? {} });
    return;
  }
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error) reject(new Error(error.message));
  else resolve(result);
});

await once(socket, "open");
await request("hello", { protocol: "1", client: { name: "adder", version: "1", language: "javascript" } });
const card = {
  agentId: "adder",
  capabilities: [{ name: "add", inputSchema: { type: "object", required: ["a", "b"] } }],
};
const { instanceId, lease } = await request("register", { card });
const heartbeat = setInterval(() => request("heartbeat", { instanceId }), lease.heartbeatIntervalSec * 1000);

// Whoever registers may call as well; here it calls itself.
const { data, agentId } = await request("call", { capability: "add", input: { a: 2, b: 40 } });
assert.deepEqual({ data, agentId }, { data: { sum: 42 }, agentId: "adder" });
await assert.rejects(request("call", { capability: "add", input: { a: 2 } }), /INVALID_INPUT/);

clearInterval(heartbeat);
await request("deregister", { instanceId });
socket.close();
console.log(`ok: ${data.sum}`);
