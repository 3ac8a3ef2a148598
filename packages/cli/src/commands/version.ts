import type { Command } from "commander";
import type { Context } from "../context.js";
import { ownVersion, protocolVersion } from "../version.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .addHelpText(
      "after",
      `
Example:
  $ agent-reach version`,
    )
    .action(() => {
      const here = context(command);
      const versions = { agentReach: ownVersion(), protocol: protocolVersion, node: process.version };
      here.print(
        versions,
        () => `agent-reach ${versions.agentReach} (protocol ${versions.protocol}, Node ${versions.node})\n`,
      );
    });
}
