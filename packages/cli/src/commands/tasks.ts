import type { Task, TaskState } from "@agent-reach/protocol";
import type { TaskQuery } from "@agent-reach/sdk/operator";
import type { Command } from "commander";
import { parseSince, parseWhole } from "../arguments.js";
import type { Context } from "../context.js";

interface Options {
  state?: TaskState;
  agent?: string;
  capability?: string;
  group?: string;
  since?: string;
  limit: string;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .option("--state <state>", "queued, delivered, working, completed, failed, canceled, dead or stalled")
    .option("--agent <id>", "only those of this agent")
    .option("--capability <name>", "only those for it")
    .option("--group <id>", "only those of this group")
    .option("--since <time>", "created since a time (ISO 8601), or in the last 2h")
    .option("--limit <n>", "at most so many, the newest first", "50")
    .addHelpText(
      "after",
      `
Examples:
  $ agent-reach tasks
  $ agent-reach tasks --state queued --capability query_order
  $ agent-reach tasks --since 2h --json | jq -r '.tasks[].messageId'`,
    )
    .action(async ({ limit, since, ...filter }: Options) => {
      const here = context(command);
      const max = parseWhole(limit, "--limit", 1, 1_000_000);
      const query: TaskQuery = {
        ...filter,
        ...(since === undefined ? {} : { since: parseSince(since, here.io.now()) }),
      };
      const operator = await here.operator();
      const { tasks, more } = await pagesOf((page) => operator.tasks({ ...query, ...page }), max);
      const { renderTasks } = await import("../render/tasks.js");
      here.print({ tasks }, () => renderTasks(tasks, here.io.now(), here.paint));
      if (more) here.remark(here.paint.dim(`there are more than these ${max}; see them with --limit`));
    });
}

/** All pages of a list of tasks, up to `max`. */
export async function pagesOf(
  list: (page: { limit: number; cursor?: string }) => Promise<{ tasks: Task[]; cursor?: string }>,
  max: number,
): Promise<{ tasks: Task[]; more: boolean }> {
  const tasks: Task[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ limit: Math.min(500, max - tasks.length), ...(cursor === undefined ? {} : { cursor }) });
    tasks.push(...page.tasks);
    cursor = page.cursor;
  } while (cursor !== undefined && tasks.length < max);
  return { tasks, more: cursor !== undefined };
}
