// Collects a node's garbage through the inspector of the Node runtime. What a process holds after that is what it
// needs; before, it is also what the collector was too lazy to take.
import { WebSocket } from "ws";
import { opened } from "./cork.mjs";

export const inspectable = "--inspect=127.0.0.1:0";

/** `log` is what the process printed so far; the runtime prints where its inspector listens. */
export async function collectGarbage(log) {
  const url = /Debugger listening on (ws:\S+)/.exec(log)?.[1];
  if (url === undefined) throw new Error(`the node was not started with ${inspectable}`);
  const ws = new WebSocket(url);
  await opened(ws);
  const collected = new Promise((resolve) => ws.once("message", resolve));
  ws.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
  await collected;
  ws.close();
}
