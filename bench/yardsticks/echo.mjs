// Yardstick for what is between one client and the node: a bare `ws` server which parses each request and answers
// it with a constant of the usual size. It holds sockets, but nothing about whoever is behind them.
import { once } from "node:events";
import { WebSocketServer } from "ws";
import { corkedSender } from "../lib/cork.mjs";
import { servePart } from "../lib/part.mjs";

const result = {
  instanceId: "0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42",
  agentId: "order-agent-01",
  state: "online",
  lease: { heartbeatIntervalSec: 15, ttlSec: 45, graceSec: 30 },
  warnings: [],
};

servePart({
  async open() {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false, backlog: 1024 });
    server.on("connection", (ws, request) => {
      const send = corkedSender(ws, request.socket);
      ws.on("message", (data) => {
        const { id } = JSON.parse(data.toString());
        if (id !== undefined) send(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    });
    await once(server, "listening");
    return server.address().port;
  },
});
