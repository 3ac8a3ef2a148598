import type { DeadLetterSelection, TaskQuery } from "@agent-reach/sdk/operator";
import type { Command } from "commander";
import { parseSince, parseWhole, usageError } from "../arguments.js";
import type { Context } from "../context.js";
import { awaitTask } from "../follow.js";
import { layOutJson, memberText } from "../render/json.js";
import { pagesOf } from "./tasks.js";

interface Filter {
  agent?: string;
  capability?: string;
  group?: string;
  since?: string;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command.addHelpText(
    "after",
    `
A dead letter is a task that nobody could take, or whose agent said no. Its work is kept until it is discarded.

Examples:
  $ agent-reach dead list
  $ agent-reach dead show 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42
  $ agent-reach dead requeue 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42
  $ agent-reach dead requeue --capability query_order
  $ agent-reach dead discard --all`,
  );
  defineList(command, context);
  defineShow(command, context);
  defineChange(command, "requeue", "give dead letters another chance: they are routed anew", context);
  defineChange(command, "discard", "forget dead letters for good", context);
}

function withFilter(command: Command): Command {
  return command
    .option("--agent <id>", "those of this agent")
    .option("--capability <name>", "those for it")
    .option("--group <id>", "those of this group")
    .option("--since <time>", "created since a time (ISO 8601), or in the last 2h");
}

function defineList(parent: Command, context: (command: Command) => Context): void {
  const command = withFilter(parent.command("list").description("List dead letters, the newest first."));
  command
    .option("--limit <n>", "at most so many", "50")
    .action(async ({ limit, ...filter }: Filter & { limit: string }) => {
      const here = context(command);
      const operator = await here.operator();
      const query = queryOf(filter, here.io.now());
      const max = parseWhole(limit, "--limit", 1, 1_000_000);
      const { tasks, more } = await pagesOf((page) => operator.deadLetters({ ...query, ...page }), max);
      const { renderTasks } = await import("../render/tasks.js");
      here.print({ tasks }, () =>
        tasks.length === 0 ? "No dead letters.\n" : renderTasks(tasks, here.io.now(), here.paint),
      );
      if (more) here.remark(here.paint.dim(`there are more than these ${max}; see them with --limit`));
    });
}

function defineShow(parent: Command, context: (command: Command) => Context): void {
  const command = parent
    .command("show")
    .description("Show one dead letter with its input.")
    .argument("<id>", "messageId");
  command.action(async (messageId: string) => {
    const here = context(command);
    const { text, task } = await awaitTask(here, messageId, 0);
    if (here.json) return here.printJsonText(text);
    const { renderTask } = await import("../render/tasks.js");
    here.io.out(renderTask(task, here.io.now(), here.paint));
    const input = memberText(text, "input");
    if (input !== undefined) here.io.out(`\n${here.paint.dim("input")}\n${layOutJson(input)}\n`);
  });
}

function defineChange(
  parent: Command,
  verb: "requeue" | "discard",
  summary: string,
  context: (command: Command) => Context,
): void {
  const command = withFilter(
    parent
      .command(verb)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .argument("[ids...]", "messageIds"),
  );
  command
    .option("--all", "all of them")
    .action(async (ids: string[], { all, ...filter }: Filter & { all?: boolean }) => {
      const here = context(command);
      const selection = selectionOf(ids, all === true, queryOf(filter, here.io.now()));
      const operator = await here.operator();
      const result = await here.waiting(`${verb} dead letters`, () => operator[verb](selection));
      const { renderView } = await import("../render/generic.js");
      here.print(result, () => renderView(result, here.io.now(), here.paint));
    });
}

/** Everything is never meant by saying nothing. */
export function selectionOf(ids: readonly string[], all: boolean, filter: TaskQuery): DeadLetterSelection {
  const filtered = Object.keys(filter).length > 0;
  if (ids.length > 0 && (filtered || all)) throw usageError("name messageIds, or a filter, but not both");
  if (ids.length > 0) return { messageIds: [...ids] };
  if (!filtered && !all) throw usageError("say which: messageIds, a filter like --capability, or --all");
  return { filter };
}

function queryOf({ since, ...filter }: Filter, now: number): TaskQuery {
  return { ...filter, ...(since === undefined ? {} : { since: parseSince(since, now) }) };
}
