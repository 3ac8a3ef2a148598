// An agent behind an HTTP endpoint: the node posts to it, and it holds no connection.
// Run it beside a node on this machine: node examples/http-webhook.mjs [http://127.0.0.1:8800]
import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const node = process.argv[2] ?? process.env.AGENT_REACH_URL ?? "http://127.0.0.1:8800";

// The endpoint. The node also asks GET /ping of this server now and then: any answer says that the agent lives.
const server = createServer(async (request, response) => {
  if (request.method !== "POST") return response.end();
  const body = await text(request);
  const { instanceKey } = await registered;
  if (!isSigned(request.headers["agent-reach-signature"], body, instanceKey)) return response.writeHead(401).end();
  const { envelope } = JSON.parse(body);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ status: "completed", data: [...envelope.input].reverse().join("") }));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

/** `t=UNIX,v1=HEX`: HMAC-SHA256 of `t.body`, with the key that the node gave at registration. */
function isSigned(signature, body, key) {
  const [, time, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature ?? "") ?? [];
  const expected = createHmac("sha256", key).update(`${time}.${body}`).digest();
  return hex !== undefined && timingSafeEqual(Buffer.from(hex, "hex"), expected);
}

async function send(method, path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(node + path, { method, headers, body: JSON.stringify(body) });
  return answer.json();
}

const endpoint = `http://127.0.0.1:${server.address().port}/hook`;
const card = { agentId: "mirror", transport: { type: "http", endpoint }, capabilities: [{ name: "reverse" }] };
const registered = send("POST", "/v1/agents", { card });
const { instanceId, instanceKey, epoch } = await registered;

// Anybody may call it now. A stranger, who knows the endpoint and not the key, is turned away.
const { data } = await send("POST", "/v1/call", { capability: "reverse", input: "hcaer" });
assert.equal(data, "reach");
const forged = await fetch(endpoint, { method: "POST", body: JSON.stringify({ envelope: { input: "x" } }) });
assert.equal(forged.status, 401);

await send("DELETE", `/v1/instances/${instanceId}`, { instanceKey, epoch });
server.close();
server.closeAllConnections();
console.log(`ok: ${data}`);
