import type { Command } from "commander";
import { usageError } from "../arguments.js";
import type { Context } from "../context.js";

interface Options {
  requeue?: boolean;
  cancel?: boolean;
  reason?: string;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<id>", "groupId")
    .option("--requeue", "try again what failed or is dead")
    .option("--cancel", "cancel what has not ended")
    .option("--reason <text>", "why it is cancelled")
    .addHelpText(
      "after",
      `
How many of a group's tasks are in which state. The tasks themselves: agent-reach tasks --group ID

Examples:
  $ agent-reach group friday
  $ agent-reach group friday --requeue
  $ agent-reach group friday --cancel --reason "ordered twice"`,
    )
    .action(async (groupId: string, { requeue, cancel, reason }: Options) => {
      if (requeue === true && cancel === true) throw usageError("--requeue or --cancel, not both");
      const here = context(command);
      const operator = await here.operator();
      const changed =
        requeue === true
          ? await operator.requeueGroup(groupId)
          : cancel === true && (await operator.cancelGroup(groupId, reason));
      const group = { ...changed, ...(await operator.group(groupId)) };
      const { renderView } = await import("../render/generic.js");
      here.print(group, () => renderView(group, here.io.now(), here.paint));
    });
}
