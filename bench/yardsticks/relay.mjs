// Yardstick for calls: what two WebSocket hops cost when nobody thinks in between.
//   caller -> router -> agent -> router -> caller, small JSON frames of the size of ours, each part a process.
// Caller and agent build and parse JSON as any client must; the router passes bytes on without looking at them.
// All three write corked with an early flush (lib/cork.mjs).
import { once } from "node:events";
import { WebSocket, WebSocketServer } from "ws";
import { corkedSender, opened } from "../lib/cork.mjs";
import { newId } from "../lib/ids.mjs";
import { closedLoop } from "../lib/load.mjs";
import { servePart } from "../lib/part.mjs";

async function dial(port, path, onMessage) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
  ws.on("message", onMessage);
  return corkedSender(ws, await opened(ws));
}

const roles = {
  router: {
    async open() {
      const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
      const send = {};
      server.on("connection", (ws, request) => {
        const other = request.url === "/caller" ? "/agent" : "/caller";
        send[request.url] = corkedSender(ws, request.socket);
        ws.on("message", (data) => send[other](data));
      });
      await once(server, "listening");
      return server.address().port;
    },
  },

  agent: {
    async open({ port }) {
      const send = await dial(port, "/agent", (data) => {
        const { id, params } = JSON.parse(data.toString());
        const result = {
          status: "completed",
          messageId: params.messageId,
          data: { status: "shipped", ...params.input },
        };
        send(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    },
  },

  caller: (() => {
    const waiting = new Map();
    let send;
    let lastId = 0;
    return {
      async open({ port }) {
        send = await dial(port, "/caller", (data) => {
          const { id } = JSON.parse(data.toString());
          const done = waiting.get(id);
          waiting.delete(id);
          done();
        });
      },
      run: (options) =>
        closedLoop(options, (done) => {
          const id = ++lastId;
          waiting.set(id, done);
          const params = {
            messageId: newId(),
            traceId: "8f3a1c2e9b7d4f1a8f3a1c2e9b7d4f1a",
            capability: "query_order",
            input: { order_id: "20250101001" },
            timeoutMs: 30_000,
          };
          send(JSON.stringify({ jsonrpc: "2.0", id, method: "call", params }));
        }),
    };
  })(),
};

servePart(roles[process.argv[2]]);
