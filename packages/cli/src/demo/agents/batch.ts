/**
 * The batch agent: plain HTTP, no socket, no endpoint. It asks the node for work when it has time, one piece at once, as
 * a job behind a firewall or a cron script would. It is slow.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openOrders } from "../orders.js";

interface Delivery {
  envelope: { messageId: string; input: { city: string } };
  attempt: number;
}

interface Registered {
  instanceId: string;
  instanceKey: string;
  epoch: number;
}

const [node = "http://127.0.0.1:8800", file = "orders.sqlite"] = process.argv.slice(2);
const db = await openOrders(file);
const totals = db.prepare("SELECT count(*) AS orders, sum(cents) / 100.0 AS revenue FROM orders WHERE city = ?");

const send = async <T>(method: string, path: string, body: object): Promise<T> => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${node}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
};

const { instanceId, instanceKey, epoch } = await send<Registered>("POST", "/v1/agents", {
  card: {
    agentId: "batch-agent",
    description: "Reports from the old system, one at a time",
    labels: { stack: "HTTP pull" },
    maxConcurrentTasks: 1,
    capabilities: [
      {
        name: "sales_report",
        description: "Orders and revenue of a city",
        tags: ["commerce/report/sales"],
        idempotent: true,
      },
    ],
  },
});
const proof = { instanceId, instanceKey, epoch };
process.once("SIGTERM", async () => {
  await send("DELETE", `/v1/instances/${instanceId}`, proof);
  process.exit(0);
});
console.log("ready");

for (;;) {
  const pull = { ...proof, max: 1, waitMs: 20_000 };
  const { deliveries } = await send<{ deliveries: Delivery[] }>("POST", `/v1/instances/${instanceId}/pull`, pull);
  for (const { envelope, attempt } of deliveries) {
    const { messageId, input } = envelope;
    await send("POST", `/v1/deliveries/${messageId}/ack`, { ...proof, attempt });
    await pause(700);
    const data = { city: input.city, ...totals.get(input.city) };
    await send("POST", `/v1/deliveries/${messageId}/complete`, { ...proof, attempt, status: "completed", data });
  }
}
