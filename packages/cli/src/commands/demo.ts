import type { Command } from "commander";
import type { Context } from "../context.js";

interface Demo {
  runDemo(options: { keep: boolean; quick?: boolean; signal: AbortSignal }): Promise<unknown>;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .option("--keep", "leave everything running afterwards, to play with")
    .option("--quick", "fewer tasks")
    .addHelpText(
      "after",
      `
It starts a node and four agents on four stacks, each in a process of its own, lets them work and fail,
and counts what became of every message. It ends by itself.

Example:
  $ agent-reach demo --keep`,
    )
    .action(async ({ keep, quick }: { keep?: boolean; quick?: boolean }) => {
      // Loaded by a name that only the run knows: the demo starts processes of its own and is no part of the types here.
      const where = "../demo/run.js";
      const { runDemo } = (await import(where)) as Demo;
      await runDemo({ keep: keep === true, quick: quick === true, signal: context(command).io.signal });
    });
}
