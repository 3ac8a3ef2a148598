import { setTimeout as wait } from "node:timers/promises";
import { valueFigure } from "../lib/figure.mjs";
import { startNode } from "../lib/node.mjs";
import { startPart } from "../lib/processes.mjs";
import { median } from "../lib/stats.mjs";

const count = 1_000;

/** A thousand agents lose their node at the same moment: until all are online again, and what that costs calls meanwhile. */
export async function reconnect(context) {
  const node = await startNode(context);
  const part = async (role, options) => {
    const started = startPart("clients/reconnect.mjs", role);
    await started.ask("open", { url: node.url, ...options });
    return started;
  };
  await part("agent");
  const caller = await part("caller");
  const crowd = await part("crowd", { count });
  const rounds = [];
  for (let round = 0; round < context.rounds; round++) {
    await caller.ask("begin");
    await wait(context.seconds * 1000);
    const calm = await caller.ask("end");
    await node.kill();
    await crowd.ask("until", { online: 0 });
    await node.start();
    const readyAt = performance.now();
    await caller.ask("begin");
    await crowd.ask("until", { online: count });
    const allBackSec = (performance.now() - readyAt) / 1000;
    rounds.push({ calm, allBackSec, ...(await caller.ask("end")) });
  }
  return [
    valueFigure({
      name: "reconnect",
      title: `${count.toLocaleString("en")} agents lose their node: from its start until all are online again`,
      unit: "s",
      ours: rounds.map(({ allBackSec }) => allBackSec),
      wanted: { atMost: 10 },
    }),
    valueFigure({
      name: "reconnect-calls",
      title: "the slowest call meanwhile",
      unit: "ms",
      ours: rounds.map(({ maxMs }) => maxMs),
      wanted: { atMost: 250 },
      detail: {
        calls: median(rounds.map(({ count: calls }) => calls)),
        p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
        calmP99Ms: median(rounds.map(({ calm }) => calm.p99Ms)),
        calmMaxMs: median(rounds.map(({ calm }) => calm.maxMs)),
        errors: rounds.flatMap(({ errors }) => errors),
      },
    }),
  ];
}
