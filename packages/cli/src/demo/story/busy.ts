import type { JournalEvent } from "@agent-reach/sdk";
import type { Scene } from "../scene.js";

/** More callers than an agent can serve: they wait in line at the node. */
export async function showBusy({ teller, tally, operator }: Scene): Promise<void> {
  teller.step(
    "A busy agent, and callers who wait",
    "The batch agent is slow and does one thing at a time. Two callers ask at once: nobody is sent away, and the agent " +
      "is never asked for more than it said it can do.",
  );
  const cities = ["Beijing", "Chengdu"];
  const startedAt = performance.now();
  const served: string[] = [];
  const calls = await Promise.all(
    cities.map(async (city) => {
      const call = await tally.call<{ city: string; orders: number; revenue: number }>({
        capability: "sales_report",
        input: { city },
      });
      served.push(`${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      return call;
    }),
  );
  for (const { data } of calls)
    if (data) teller.tell(`${data.city}: ${data.orders} orders, ${Math.round(data.revenue)} in revenue`);
  teller.check(
    calls.every((call) => call.ok),
    `both were answered, after ${served.join(" and ")}`,
  );
  const views = await Promise.all(calls.map(({ messageId }) => operator.message(messageId)));
  const waited = views.filter(({ events }) => events.some(({ type }) => type === "waiting"));
  teller.check(waited.length >= 1, `${waited.length} of them stood in line at the node: no error, no asking again`);
  const most = mostAtOnce(views.flatMap(({ events }) => events));
  teller.check(most === 1, `the agent had ${most} at a time`);
}

/** The most messages that were in the agent's hands at one moment. */
function mostAtOnce(events: JournalEvent[]): number {
  let now = 0;
  let most = 0;
  for (const { type } of [...events].sort((a, b) => a.id - b.id)) {
    if (type === "delivered") most = Math.max(most, ++now);
    if (type === "completed") now--;
  }
  return most;
}
