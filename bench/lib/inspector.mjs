// Speaks to the inspector of the Node runtime in a process that was started with it.
import { WebSocket } from "ws";
import { opened } from "./cork.mjs";

export const inspectable = "--inspect=127.0.0.1:0";

/** `log` is what the process printed so far; the runtime prints where its inspector listens. */
async function ask(log, method, params = {}) {
  const url = /Debugger listening on (ws:\S+)/.exec(log)?.[1];
  if (url === undefined) throw new Error(`the node was not started with ${inspectable}`);
  const ws = new WebSocket(url);
  await opened(ws);
  const answered = new Promise((resolve) => ws.once("message", resolve));
  ws.send(JSON.stringify({ id: 1, method, params }));
  const { result } = JSON.parse(await answered);
  ws.close();
  return result;
}

/** What a process holds after that is what it needs; before, it is also what the collector was too lazy to take. */
export const collectGarbage = (log) => ask(log, "HeapProfiler.collectGarbage");

/** The value of an expression there, which must be plain. */
export async function evaluate(log, expression) {
  const { result, exceptionDetails } = await ask(log, "Runtime.evaluate", { expression, returnByValue: true });
  if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
  return result.value;
}
