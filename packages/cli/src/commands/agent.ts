import type { Command } from "commander";
import { parseWhole } from "../arguments.js";
import type { Context } from "../context.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<id>", "agentId")
    .option("--card <version>", "an older version of its card")
    .addHelpText(
      "after",
      `
Examples:
  $ agent-reach agent order-agent-01
  $ agent-reach agent order-agent-01 --card 3 --json`,
    )
    .action(async (agentId: string, { card }: { card?: string }) => {
      const here = context(command);
      const operator = await here.operator();
      const agent =
        card === undefined
          ? await operator.agent(agentId)
          : await operator.agentVersion(agentId, parseWhole(card, "--card", 1, Number.MAX_SAFE_INTEGER));
      const { renderAgent } = await import("../render/agents.js");
      here.print(agent, () => renderAgent(agent, here.io.now(), here.paint));
    });
}
