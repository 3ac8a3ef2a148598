import { inTurns, ratioFigure } from "../lib/figure.mjs";
import { startNode } from "../lib/node.mjs";
import { startPart } from "../lib/processes.mjs";

/** Calls while somebody else submits tasks, against the same calls alone: they should not wait for the disk. */
export async function beside(context) {
  const { url } = await startNode(context);
  const part = async (role, options) => {
    const started = startPart("clients/bare.mjs", role);
    await started.ask("open", { url, ...options });
    return started;
  };
  await part("agent", { agentId: "order-agent-01" });
  await part("absent-agent", { agentId: "archive-agent-01", capability: "archive_order" });
  const [caller, archivist] = [await part("caller"), await part("caller", { capability: "archive_order" })];
  const call = (seconds) => caller.ask("run", { operation: "call", seconds, inFlight: 1 });
  const results = await inTurns(context, {
    alone: call,
    beside: async (seconds) => {
      const submitting = archivist.ask("run", { operation: "submit", seconds, inFlight: 16 });
      const [calls] = await Promise.all([call(seconds), submitting]);
      return calls;
    },
  });
  return [
    ratioFigure({
      name: "beside",
      title: "calls, 1 in flight, beside 16 submits in flight, p50",
      against: "the calls alone",
      unit: "ms",
      ours: results.beside.map(({ p50Ms }) => p50Ms),
      yardstick: results.alone.map(({ p50Ms }) => p50Ms),
      wanted: { atMost: 5 },
    }),
  ];
}
