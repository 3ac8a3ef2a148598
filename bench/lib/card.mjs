/** What the agents of the measurements say of themselves. Their limits are set so high that none of them is met. */
export const orderCard = (agentId, capability = "query_order") => ({
  agentId,
  name: "Order status agent",
  maxConcurrentTasks: 10_000,
  capabilities: [
    {
      name: capability,
      description: "Current status of an order by its number",
      idempotent: true,
      inputSchema: {
        type: "object",
        properties: { order_id: { type: "string" }, note: { type: "string" } },
        required: ["order_id"],
      },
    },
  ],
});

export const orderInput = { order_id: "20250101001" };

/** The input of stored messages is larger, as work that is stored tends to be. */
export const storedInput = { order_id: "20250101001", note: "x".repeat(200) };
