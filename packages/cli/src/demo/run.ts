import { AgentReachClient } from "@agent-reach/sdk";
import { Operator } from "@agent-reach/sdk/operator";
import type { Paint } from "../render/paint.js";
import { fillOrders, openOrders } from "./orders.js";
import type { Scene } from "./scene.js";
import { Stage } from "./stage.js";
import { showBusy } from "./story/busy.js";
import { showCalls } from "./story/calls.js";
import { showCrash } from "./story/crash.js";
import { showDeadLetter } from "./story/dead-letter.js";
import { showDrain } from "./story/drain.js";
import { showEnding } from "./story/ending.js";
import { showArrival, showDiscovery } from "./story/opening.js";
import { showRefusals } from "./story/refusals.js";
import { type Counts, Tally } from "./tally.js";
import { Teller } from "./teller.js";

export interface DemoOptions {
  /** Leaves everything running until `signal`, after `onOpen` was told. */
  keep: boolean;
  signal: AbortSignal;
  paint: Paint;
  out(text: string): void;
  onOpen(open: DemoResult): void;
}

export interface DemoResult {
  ok: boolean;
  problems: string[];
  steps: string[];
  counts: Counts | undefined;
  /** A trace through all four agents. */
  traceId: string | undefined;
  tookMs: number;
  wsUrl: string | undefined;
  httpUrl: string | undefined;
  /** Of every process that took part. */
  pids: number[];
}

/** Plays the demo. Whatever happens, no process of it is left and its directory is gone when this resolves or rejects. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { signal, keep } = options;
  const startedAt = performance.now();
  const stage = new Stage();
  const teller = new Teller(options.out, options.paint);
  const result: DemoResult = {
    ok: false,
    problems: teller.problems,
    steps: teller.steps,
    counts: undefined,
    traceId: undefined,
    tookMs: 0,
    wsUrl: undefined,
    httpUrl: undefined,
    pids: stage.pids,
  };
  const interrupted = new Promise<"interrupted">((resolve) => {
    if (signal.aborted) resolve("interrupted");
    else signal.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  let over = false;
  const curtain: (() => Promise<void> | void)[] = [() => stage.end()];
  try {
    const play = tell(stage, teller, result, curtain).catch((error: unknown) => {
      if (!over) teller.fail(`the demo stopped: ${error instanceof Error ? error.message : String(error)}`);
    });
    // Without one of its actors the play would only wait for answers that cannot come.
    const stranded = stage.fallen.then((what) => teller.fail(what));
    if ((await Promise.race([play, stranded, interrupted])) === "interrupted") return result;
    result.ok = teller.problems.length === 0;
    result.tookMs = Math.round(performance.now() - startedAt);
    if (keep) {
      options.onOpen(result);
      await interrupted;
    }
    return result;
  } finally {
    over = true;
    for (const end of curtain.reverse()) await end();
  }
}

async function tell(
  stage: Stage,
  teller: Teller,
  result: DemoResult,
  curtain: (() => Promise<void> | void)[],
): Promise<void> {
  const orders = await openOrders(stage.file("orders.sqlite"));
  curtain.push(() => orders.close());
  fillOrders(orders);

  const args = ["serve", "--port", "0", "--data", stage.file("node"), "--log-level", "warn", "--json"];
  const { actor: node, line } = await stage.start("node", "../../bin/agent-reach.js", args, (each) =>
    each.startsWith('{"event":"listening"'),
  );
  const { url: wsUrl, httpUrl } = JSON.parse(line) as { url: string; httpUrl: string };
  Object.assign(result, { wsUrl, httpUrl });

  const client = new AgentReachClient({ registryUrl: wsUrl, name: "demo" });
  curtain.push(() => client.close());
  const scene: Scene = {
    stage,
    teller,
    tally: new Tally(client),
    client,
    operator: new Operator({ url: httpUrl }),
    orders,
    wsUrl,
    httpUrl,
    cast: new Map(),
  };
  await showArrival(scene, node);
  await showDiscovery(scene);
  result.traceId = await showCalls(scene);
  await showBusy(scene);
  await showCrash(scene);
  await showDrain(scene);
  await showRefusals(scene);
  await showDeadLetter(scene);
  result.counts = await showEnding(scene, result.traceId);
}
