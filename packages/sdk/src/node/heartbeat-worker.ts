/** Runs in a thread of its own, started by `heartbeat-thread`. It shares with the loop a count, and nothing else. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { parentPort, workerData } from "node:worker_threads";
import { type Charge, looksPerInterval } from "./heartbeat-thread.js";
import { Vigil } from "./vigil.js";

const turns = workerData as Int32Array;
const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
let looking: NodeJS.Timeout | undefined;
let address = 0;
let warned = false;

parentPort!.on("message", (charge: Charge) => {
  clearInterval(looking);
  const vigil = new Vigil(charge.intervalMs, Atomics.load(turns, 0), performance.now());
  looking = setInterval(() => {
    const blockedMs = vigil.look(Atomics.load(turns, 0), performance.now());
    if (blockedMs !== undefined) beat(charge, blockedMs);
  }, charge.intervalMs / looksPerInterval);
});

function beat(charge: Charge, blockedMs: number): void {
  const { urls, token, instanceId, instanceKey, epoch, intervalMs, report } = charge;
  const url = new URL(`${urls[address % urls.length]!}/v1/instances/${instanceId}/heartbeat`);
  const facts = { ...report.facts, loopBlockedMs: Math.round(blockedMs) };
  const body = JSON.stringify({ instanceKey, epoch, health: 0, facts });
  const secure = url.protocol === "https:";
  const request = (secure ? httpsRequest : httpRequest)(url, {
    method: "POST",
    agent: secure ? agents.https : agents.http,
    timeout: intervalMs,
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  });
  request.on("response", (response) => {
    response.resume();
    if (response.statusCode === 200) warned = false;
    else failed(`${url.origin} answered ${response.statusCode}`);
  });
  request.on("timeout", () => request.destroy(new Error(`no answer within ${intervalMs} ms`)));
  request.on("error", (error) => failed(error.message));
  request.end(body);
}

/** Said once per trouble; the next heartbeat goes to the next address. */
function failed(why: string): void {
  address++;
  if (warned) return;
  warned = true;
  parentPort!.postMessage(`a heartbeat for the blocked event loop failed: ${why}`);
}
