import { orderIdOf } from "../orders.js";
import type { Scene } from "../scene.js";

/** A call, and a call within a call. Answers the trace of the second. */
export async function showCalls({ teller, tally, operator }: Scene): Promise<string> {
  teller.step(
    "A call",
    "Somebody asks for an order. The node finds the agent, checks the input, and brings the answer back.",
  );
  const startedAt = performance.now();
  const call = await tally.call<{ item: string; status: string; city: string }>({
    capability: "query_order",
    input: { order_id: orderIdOf(17) },
  });
  const tookMs = performance.now() - startedAt;
  teller.check(
    call.data?.item !== undefined,
    call.ok
      ? `order ${orderIdOf(17)}: ${call.data?.item} for ${call.data?.city}, ${call.data?.status} (${call.agentId}, ${tookMs.toFixed(1)} ms)`
      : `${call.errorMessage}`,
  );

  teller.step(
    "A call within a call",
    "A customer asks the pre-sale agent. It asks the order agent and the after-sale agent, and leaves a report as a task with the " +
      "batch agent: four stacks, one trace.",
  );
  const nested = await tally.call<{ answer: string }>({
    capability: "answer_customer",
    input: { order_id: orderIdOf(42), report: true },
  });
  teller.check(nested.ok, nested.ok ? `"${nested.data?.answer}"` : `${nested.errorMessage}`);
  const { messages } = await operator.trace(nested.traceId);
  teller.check(
    messages.length === 4,
    `trace ${nested.traceId} holds ${messages.length} messages; its timeline is at the end`,
  );
  return nested.traceId;
}
