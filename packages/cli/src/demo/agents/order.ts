/**
 * The order agent: a WebSocket and the protocol's frames, no SDK. It may be killed at any moment, so it writes the
 * idempotencyKey of a message and the message's effect in ONE transaction. What comes again is answered from that record.
 */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import WebSocket from "ws";
import { openOrders } from "../orders.js";

interface Envelope {
  capability: string;
  input: { order_id: string; points: number };
  idempotencyKey: string;
}

const [url = "ws://127.0.0.1:8800/registry", file = "orders.sqlite"] = process.argv.slice(2);
const db = await openOrders(file);
const order = db.prepare(
  "SELECT order_id, customer, city, item, status, placed_at, points FROM orders WHERE order_id = ?",
);
const earlier = db.prepare("SELECT result FROM effects WHERE idempotency_key = ?");
const repeated = db.prepare("UPDATE effects SET repeats = repeats + 1 WHERE idempotency_key = ?");
const credit = db.prepare("UPDATE orders SET points = points + ? WHERE order_id = ? RETURNING points");
const remember = db.prepare("INSERT INTO effects (idempotency_key, order_id, result) VALUES (?, ?, ?)");

function addPoints({ input, idempotencyKey }: Envelope): unknown {
  db.exec("BEGIN IMMEDIATE");
  try {
    const known = earlier.get(idempotencyKey);
    const result =
      known?.["result"] ?? JSON.stringify({ ...input, total: credit.get(input.points, input.order_id)?.["points"] });
    if (known === undefined) remember.run(idempotencyKey, input.order_id, result);
    else repeated.run(idempotencyKey);
    db.exec("COMMIT");
    return JSON.parse(String(result));
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

/** The answer to `deliver`: done, or a business error. */
async function work(envelope: Envelope): Promise<object> {
  const { order_id } = envelope.input;
  const found = order.get(order_id);
  if (found === undefined) {
    return { status: "failed", error: { code: "ORDER_NOT_FOUND", message: `there is no order ${order_id}` } };
  }
  if (envelope.capability === "query_order") return { status: "completed", data: found };
  const data = addPoints(envelope);
  // Something takes a while. It is the worst time to be killed: the effect is there, and nobody has been told.
  await pause(5 + Math.random() * 20);
  return { status: "completed", data };
}

const socket = new WebSocket(url);
const waiting = new Map<number, (result: Record<string, unknown>) => void>();
let lastId = 0;
const send = (frame: object) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));
const request = (method: string, params: object) =>
  new Promise<Record<string, unknown>>((resolve) => {
    waiting.set(++lastId, resolve);
    send({ id: lastId, method, params });
  });

socket.on("message", async (text) => {
  const { id, method, params, result, error } = JSON.parse(String(text));
  if (method === "deliver") send({ id, result: await work(params.envelope) });
  else if (method === "ping") send({ id, result: {} });
  else if (error !== undefined) throw new Error(`the node refused: ${error.message}`);
  else if (method === undefined) {
    waiting.get(id)?.(result);
    waiting.delete(id);
  }
});
// Without a connection there is nothing to do; whoever watches over this process starts it again.
socket.on("close", () => process.exit(1));

const orderInput = { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] };
const pointsInput = {
  type: "object",
  properties: { ...orderInput.properties, points: { type: "integer", minimum: 1 } },
  required: ["order_id", "points"],
};

await once(socket, "open");
await request("hello", { protocol: "1", client: { name: "order-agent", version: "1", language: "typescript" } });
const { instanceId } = await request("register", {
  card: {
    agentId: "order-agent",
    description: "Knows every order, and keeps the customers' points",
    labels: { stack: "bare WebSocket" },
    maxConcurrentTasks: 20,
    heartbeatIntervalSec: 5,
    capabilities: [
      {
        name: "query_order",
        description: "One order by its number",
        tags: ["commerce/order/query"],
        inputSchema: orderInput,
        idempotent: true,
      },
      {
        name: "add_points",
        description: "Credits points to an order",
        tags: ["commerce/order/points"],
        inputSchema: pointsInput,
      },
    ],
  },
});
setInterval(() => void request("heartbeat", { instanceId }), 5000);
process.once("SIGTERM", async () => {
  await request("deregister", { instanceId });
  process.exit(0);
});
console.log("ready");
