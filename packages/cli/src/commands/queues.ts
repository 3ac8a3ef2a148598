import type { Command } from "commander";
import type { Context } from "../context.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .addHelpText(
      "after",
      `
Examples:
  $ agent-reach queues
  $ agent-reach queues --json`,
    )
    .action(async () => {
      const here = context(command);
      const queues = await (await here.operator()).queues();
      const { renderView } = await import("../render/generic.js");
      here.print(queues, () => renderView(queues, here.io.now(), here.paint));
    });
}
