/**
 * The after-sale agent: an HTTP endpoint which the node posts to. It holds no connection; the node asks now and then
 * whether it is there. What is posted bears a signature made with a key that only the node and this agent know.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { openOrders } from "../orders.js";

interface Envelope {
  capability: string;
  input: { order_id: string; reason: string; placed_at: string };
  idempotencyKey: string;
}

interface Registered {
  instanceId: string;
  instanceKey: string;
  epoch: number;
}

const [node = "http://127.0.0.1:8800", file = "orders.sqlite"] = process.argv.slice(2);
const db = await openOrders(file);
// One statement is one transaction: the return and the key of the message that asked for it, once.
const open = db.prepare("INSERT OR IGNORE INTO returns (idempotency_key, order_id, reason) VALUES (?, ?, ?)");
const returnDays = 30;

function work({ capability, input, idempotencyKey }: Envelope): object {
  if (capability === "return_terms") {
    const until = new Date(Date.parse(input.placed_at) + returnDays * 86_400_000);
    return { until: until.toISOString().slice(0, 10) };
  }
  open.run(idempotencyKey, input.order_id, input.reason);
  return { return_id: `R-${input.order_id}`, label: "printed" };
}

/** `t=UNIX,v1=HEX`, the HMAC-SHA256 of `t.body`. */
function isFromNode(signature: string | string[] | undefined, body: string, key: string): boolean {
  const [, time, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(signature)) ?? [];
  if (time === undefined || given === undefined) return false;
  const expected = createHmac("sha256", key).update(`${time}.${body}`).digest();
  return timingSafeEqual(expected, Buffer.from(given, "hex"));
}

const server = createServer(async (request, response) => {
  if (request.method !== "POST") return void response.writeHead(200).end();
  const body = await text(request);
  const { instanceKey } = await registered;
  if (!isFromNode(request.headers["agent-reach-signature"], body, instanceKey))
    return void response.writeHead(401).end();
  const data = work(JSON.parse(body).envelope);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ status: "completed", data }));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

const send = async <T>(method: string, path: string, body: object): Promise<T> => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${node}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
};
const registered = send<Registered>("POST", "/v1/agents", {
  card: {
    agentId: "after-sale-agent",
    description: "Takes goods back",
    labels: { stack: "HTTP webhook" },
    heartbeatIntervalSec: 5,
    transport: { type: "http", endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` },
    capabilities: [
      {
        name: "return_terms",
        description: "Until when something may be sent back",
        tags: ["commerce/return/terms"],
        idempotent: true,
      },
      { name: "open_return", description: "Takes an order back", tags: ["commerce/return/open"] },
    ],
  },
});

const { instanceId, instanceKey, epoch } = await registered;
process.once("SIGTERM", async () => {
  await send("DELETE", `/v1/instances/${instanceId}`, { instanceKey, epoch });
  process.exit(0);
});
console.log("ready");
