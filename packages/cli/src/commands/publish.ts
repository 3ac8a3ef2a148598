import type { Published } from "@agent-reach/protocol";
import type { Command } from "commander";
import { objectWithRaw, readJsonText } from "../arguments.js";
import type { Context } from "../context.js";

interface Options {
  capability?: boolean;
  group?: string;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<topic>", "to whose subscribers it goes")
    .argument("[input]", 'JSON, @file, or - for standard input (default: "{}")')
    .option("--capability", "the name is a capability: it goes to all who offer it")
    .option("--group <id>", "a name for it; published twice under one name, it is published once")
    .addHelpText(
      "after",
      `
One durable task for each agent, on disk when the answer comes. The id of their group goes to standard output.

Examples:
  $ agent-reach publish orders.shipped '{"order_id": "20250101001"}'
  $ agent-reach publish reload_prices --capability
  $ agent-reach group "$(agent-reach publish orders.shipped @order.json)"`,
    )
    .action(async (name: string, input: string | undefined, { capability, group }: Options) => {
      const here = context(command);
      const members = {
        ...(capability === true ? { capability: name } : { topic: name }),
        ...(group !== undefined && { groupId: group }),
      };
      const body = objectWithRaw(members, "input", await readJsonText(input, here.io));
      const text = await (await here.operator()).http.text("POST", "/v1/publish", { bodyText: body });
      if (here.json) return here.printJsonText(text);
      const { groupId, deliveries } = JSON.parse(text) as Published;
      here.io.out(`${groupId}\n`);
      if (deliveries === 0)
        return here.remark(`for nobody: no agent ${capability === true ? "offers" : "subscribes to"} ${name}`);
      here.remark(
        `for ${deliveries} ${deliveries === 1 ? "agent" : "agents"}${here.paint.dim(`; see: agent-reach group ${groupId}`)}`,
      );
    });
}
