// Yardstick for tasks: the least that durable work over a router can be.
//   caller submits -> router inserts (grouped commit) -> answers the caller and sends to the agent -> agent answers
//   -> router updates the row (grouped commit) -> tells the caller. An operation counts when the caller was told.
import { once } from "node:events";
import { join } from "node:path";
import { WebSocket, WebSocketServer } from "ws";
import { corkedSender, opened } from "../lib/cork.mjs";
import { newId } from "../lib/ids.mjs";
import { closedLoop } from "../lib/load.mjs";
import { servePart } from "../lib/part.mjs";
import { grouped, openDatabase } from "../lib/sqlite.mjs";

const note = "x".repeat(200);

async function dial(port, path, onMessage) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
  ws.on("message", (data) => onMessage(JSON.parse(data.toString())));
  const send = corkedSender(ws, await opened(ws));
  return (message) => send(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

async function openRouter({ dir }) {
  const db = await openDatabase(join(dir, "pipeline.db"));
  db.exec(
    "CREATE TABLE task (seq INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE, state TEXT, body TEXT, data TEXT)",
  );
  const insert = db.prepare("INSERT INTO task (message_id, state, body) VALUES (?, 'queued', ?)");
  const update = db.prepare("UPDATE task SET state = 'completed', data = ? WHERE seq = ?");
  const enqueue = grouped(db);
  const send = {};

  const receive = {
    "/caller": ({ id, params }) => {
      let seq;
      enqueue(
        () => {
          seq = insert.run(params.messageId, JSON.stringify(params)).lastInsertRowid;
        },
        () => {
          send["/caller"]({ id, result: { messageId: params.messageId, state: "queued" } });
          send["/agent"]({ id: Number(seq), method: "deliver", params });
        },
      );
    },
    "/agent": ({ id, result }) => {
      enqueue(
        () => update.run(JSON.stringify(result.data), id),
        () =>
          send["/caller"]({
            method: "task.update",
            params: { messageId: result.messageId, state: "completed", data: result.data },
          }),
      );
    },
  };

  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("connection", (ws, request) => {
    const sendText = corkedSender(ws, request.socket);
    send[request.url] = (message) => sendText(JSON.stringify({ jsonrpc: "2.0", ...message }));
    ws.on("message", (data) => receive[request.url](JSON.parse(data.toString())));
  });
  await once(server, "listening");
  return server.address().port;
}

const roles = {
  router: { open: openRouter },

  agent: {
    async open({ port }) {
      const send = await dial(port, "/agent", ({ id, params }) =>
        send({ id, result: { status: "completed", messageId: params.messageId, data: { status: "shipped" } } }),
      );
    },
  },

  caller: (() => {
    const waiting = new Map();
    let send;
    let lastId = 0;
    return {
      async open({ port }) {
        send = await dial(port, "/caller", ({ method, params }) => {
          if (method !== "task.update") return;
          const done = waiting.get(params.messageId);
          waiting.delete(params.messageId);
          done();
        });
      },
      run: (options) =>
        closedLoop(options, (done) => {
          const messageId = newId();
          waiting.set(messageId, done);
          const params = { messageId, capability: "query_order", input: { order_id: "20250101001", note } };
          send({ id: ++lastId, method: "submit", params });
        }),
    };
  })(),
};

servePart(roles[process.argv[2]]);
