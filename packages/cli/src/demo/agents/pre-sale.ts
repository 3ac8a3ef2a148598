/**
 * The pre-sale agent, on the SDK. It answers customers, and asks other agents by what they can do: it knows no address.
 * It is told to end by a signal, and then leaves without losing anything.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AgentReachClient } from "@agent-reach/sdk";

const [url = "http://127.0.0.1:8800"] = process.argv.slice(2);
const client = new AgentReachClient({ registryUrl: url });

await client.register({
  agentId: "pre-sale-agent",
  description: "Answers what customers ask before and after they buy",
  labels: { stack: "TypeScript SDK" },
  maxConcurrentTasks: 50,
  heartbeatIntervalSec: 5,
  capabilities: [
    {
      name: "answer_customer",
      description: "Where an order is, and until when it can be sent back",
      tags: ["commerce/customer/answer"],
      inputSchema: {
        type: "object",
        properties: { order_id: { type: "string" }, report: { type: "boolean" } },
        required: ["order_id"],
      },
    },
  ],
});

client.onCapability<{ order_id: string; report?: boolean }>("answer_customer", async (input, context) => {
  const { order_id } = input;
  // Calls made through the context belong to the same trace, and never take longer than the customer waits.
  const asked = await context.call<{ item: string; status: string; city: string; placed_at: string }>({
    capability: "query_order",
    input: { order_id },
  });
  const order = asked.orThrow();
  const terms = await context.call<{ until: string }>({
    capability: "return_terms",
    input: { item: order.item, placed_at: order.placed_at },
  });
  // What takes long is a task: it is on disk once it is accepted, and the customer need not wait for it.
  if (input.report) await context.submit({ capability: "sales_report", input: { city: order.city } }).accepted;
  await pause(20);
  return { answer: `Your ${order.item} is ${order.status}; you can send it back until ${terms.orThrow().until}.` };
});

await client.start();
client.drainOnSignals();
console.log("ready");
