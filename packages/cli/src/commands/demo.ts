import type { Command } from "commander";
import type { Context } from "../context.js";
import type { DemoResult } from "../demo/run.js";
import { exitCodes } from "../exit.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .option("--keep", "leave everything running afterwards, to play with")
    .addHelpText(
      "after",
      `
It starts a node and four agents on four stacks, each in a process of its own, lets them work and fail,
and counts what became of every message. It ends by itself, with 0 if everything was as it should be and 1 if not;
everything it made is in a temporary directory, which is gone afterwards.

Examples:
  $ agent-reach demo
  $ agent-reach demo --keep`,
    )
    .action(({ keep }: { keep?: boolean }) => demo(context(command), keep === true));
}

async function demo(here: Context, keep: boolean): Promise<void> {
  const { runDemo } = await import("../demo/run.js");
  const { signal } = here.io;
  const said = (result: DemoResult) => here.print(result, () => closing(here, result));
  const result = await runDemo({
    keep,
    signal,
    paint: here.paint,
    out: here.json ? () => undefined : here.io.out,
    onOpen: (open) => {
      said(open);
      here.remark(invitation(here, open));
    },
  });
  if (keep && signal.aborted && result.tookMs > 0) return here.exitWith(result.ok ? exitCodes.fine : exitCodes.refused);
  if (signal.aborted) {
    here.remark("\ninterrupted; everything that was started has ended");
    return here.exitWith(exitCodes.interrupted);
  }
  said(result);
  if (!result.ok) here.exitWith(exitCodes.refused);
}

function closing({ paint }: Context, { ok, problems, tookMs }: DemoResult): string {
  const seconds = `${(tookMs / 1000).toFixed(1)} s`;
  if (ok) return `\n${paint.good("Everything was as it should be.")} ${paint.dim(`It took ${seconds}.`)}\n`;
  const list = problems.map((problem) => `  ${paint.bad("✗")} ${problem}\n`).join("");
  return `\n${paint.bad(`Not everything was as it should be (${seconds}):`)}\n${list}`;
}

function invitation({ paint }: Context, { httpUrl, wsUrl, traceId }: DemoResult): string {
  const example = `call query_order '{"order_id": "20250100017"}'`;
  const lines = ["agents", example, 'submit sales_report \'{"city": "Chengdu"}\' --wait', `trace ${traceId}`, "watch"];
  return (
    `\nIt goes on running. Agents connect to ${paint.name(String(wsUrl))}. In another terminal:\n\n` +
    `  export AGENT_REACH_URL=${httpUrl}\n` +
    `${lines.map((line) => `  agent-reach ${line}\n`).join("")}\n` +
    `Press Ctrl-C to end it.`
  );
}
