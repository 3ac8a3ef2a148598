import { renderTrace } from "../../render/timeline.js";
import { auditPoints } from "../orders.js";
import type { Scene } from "../scene.js";
import type { Counts } from "../tally.js";
import { points } from "./crash.js";

/** What became of everything, as the node and the database say it, and one request from beginning to end. */
export async function showEnding({ teller, tally, operator, orders }: Scene, traceId: string): Promise<Counts> {
  const { paint } = teller;
  teller.step(
    "One request, from beginning to end",
    "What the pre-sale agent did for the customer above, as `agent-reach trace` shows it.",
  );
  teller.show(`\n${renderTrace(await operator.trace(traceId), paint)}`);

  teller.step(
    "The counts",
    "Not what the agents believe: tasks as the node has them, effects as the database of orders has them.",
  );
  const counts = await tally.count(operator, auditPoints(orders, points).twice);
  const line = (label: string, value: number, holds = true) =>
    teller.check(holds, `${label.padEnd(24)} ${String(value).padStart(6)}`);
  line("sent", counts.sent);
  line("done", counts.done, counts.done === counts.sent - 2);
  line("refused, as they should", counts.refused, counts.refused === 2);
  line("redelivered", counts.redelivered);
  line("lost", counts.lost, counts.lost === 0);
  line("effects applied twice", counts.effectsTwice, counts.effectsTwice === 0);
  return counts;
}
