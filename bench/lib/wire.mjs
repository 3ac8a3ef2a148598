// A client of the node written from the protocol alone: JSON-RPC 2.0 over one WebSocket, no SDK. It corks its
// writes as any careful client does, and answers the node's `ping` and `task.update`.
import { WebSocket } from "ws";
import { corkedSender, opened } from "./cork.mjs";

/**
 * Connects and says hello. `onRequest[method](params, answer)` gets the node's requests; `answer(result)` replies.
 * `request(method, params, done)` calls `done(error, result)`; `ask` is the same as a promise.
 */
export async function connect(url, { onRequest = {}, hello = true } = {}) {
  const ws = new WebSocket(url, { perMessageDeflate: false });
  const waiting = new Map();
  let lastId = 0;
  let closing = false;
  let send;

  const handlers = { ping: (_params, answer) => answer({}), ...onRequest };
  ws.on("message", (data) => {
    const message = JSON.parse(data.toString());
    if (message.method === undefined) {
      const done = waiting.get(message.id);
      waiting.delete(message.id);
      done?.(message.error, message.result);
    } else if (message.id !== undefined) {
      const { id } = message;
      handlers[message.method]?.(message.params, (result) => send(JSON.stringify({ jsonrpc: "2.0", id, result })));
    }
  });
  // A measurement over a lost connection means nothing, so the part ends and the bench says which.
  ws.on("close", (code) => {
    if (closing) return;
    console.error(`the connection to ${url} was closed by the other side (${code})`);
    process.exit(1);
  });

  send = corkedSender(ws, await opened(ws));
  const request = (method, params, done) => {
    const id = ++lastId;
    waiting.set(id, done);
    send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  };
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      request(method, params, (error, result) => {
        if (error) reject(new Error(`${method}: ${JSON.stringify(error)}`));
        else resolve(result);
      });
    });
  if (hello) await ask("hello", { protocol: "1", client: { name: "bench", version: "0", language: "javascript" } });
  return {
    request,
    ask,
    close() {
      closing = true;
      ws.close();
    },
  };
}

/** Registers a card and keeps its lease; returns what `register` answered. */
export async function enlist(client, card, { heartbeatMs = 5_000 } = {}) {
  const registered = await client.ask("register", { card });
  const { instanceId } = registered;
  if (heartbeatMs > 0) setInterval(() => client.request("heartbeat", { instanceId }, () => {}), heartbeatMs).unref();
  return registered;
}
