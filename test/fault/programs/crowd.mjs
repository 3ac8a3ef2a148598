// Many agents on bare sockets, in one process. Each comes back by itself, under its own instance, as often as it is cut
// off; the waits are the SDK's: exponential with full jitter.
import { WebSocket } from "ws";

const { registryUrl, count, prefix, minMs = 20, maxMs = 500 } = JSON.parse(process.argv[2]);
let online = 0;

process.on("disconnect", () => process.exit(0));
process.on("message", ({ type }) => {
  if (type === "count") process.send({ type, online });
});

class Member {
  constructor(number) {
    this.card = { agentId: `${prefix}-${number}`, capabilities: [{ name: `${prefix}_${number}`, idempotent: true }] };
    this.identity = {};
    this.failures = 0;
  }

  connect() {
    const socket = new WebSocket(registryUrl, { perMessageDeflate: false });
    const send = (frame) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));
    let registered = false;
    socket.on("open", () => {
      const client = { name: "crowd", version: "1", language: "javascript" };
      send({ id: 1, method: "hello", params: { protocol: "1", client } });
    });
    socket.on("message", (data) => {
      const { id, method, params, result, error } = JSON.parse(String(data));
      if (method === "deliver") return send({ id, result: { status: "completed", data: params.envelope.input } });
      if (method !== undefined) return id === undefined ? undefined : send({ id, result: {} });
      // Refused for the moment: the connection is given up, and the next one comes later.
      if (error !== undefined) return socket.close();
      if (id === 1) return send({ id: 2, method: "register", params: { card: this.card, ...this.identity } });
      this.identity = { instanceId: result.instanceId, instanceKey: result.instanceKey };
      this.failures = 0;
      registered = true;
      if (++online === count) process.send({ type: "online", online });
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      if (registered) online--;
      const ceiling = Math.min(maxMs, minMs * 2 ** Math.min(this.failures++, 20));
      setTimeout(() => this.connect(), Math.random() * ceiling);
    });
  }
}

for (let number = 0; number < count; number++) new Member(number).connect();
process.send({ type: "up" });
