import type { Agent, InstanceState } from "@agent-reach/protocol";
import type { Command } from "commander";
import { parseWhole } from "../arguments.js";
import type { Context } from "../context.js";

interface Options {
  state?: InstanceState;
  capability?: string;
  label?: string;
  limit?: string;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .option("--state <state>", "only online, suspect, draining or offline ones")
    .option("--capability <name>", "only those that offer it")
    .option("--label <key=value>", "only those with this label")
    .option("--limit <n>", "at most so many (default: all)")
    .addHelpText(
      "after",
      `
Examples:
  $ agent-reach agents
  $ agent-reach agents --state online --capability query_order
  $ agent-reach agents --json | jq -r '.agents[].agentId'`,
    )
    .action(async ({ limit, ...query }: Options) => {
      const here = context(command);
      const agents = await list(
        here,
        query,
        limit === undefined ? Number.POSITIVE_INFINITY : parseWhole(limit, "--limit", 1, 1_000_000),
      );
      const { renderAgents } = await import("../render/agents.js");
      here.print({ agents }, () => renderAgents(agents, here.io.now(), here.paint));
    });
}

/** All pages, up to `max`. */
async function list(here: Context, query: Omit<Options, "limit">, max: number): Promise<Agent[]> {
  const operator = await here.operator();
  const agents: Agent[] = [];
  let cursor: string | undefined;
  do {
    const page = await operator.agents({
      ...query,
      limit: Math.min(500, max - agents.length),
      ...(cursor === undefined ? {} : { cursor }),
    });
    agents.push(...page.agents);
    cursor = page.cursor;
  } while (cursor !== undefined && agents.length < max);
  return agents;
}
