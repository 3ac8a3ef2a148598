import type { JournalEvent } from "@agent-reach/protocol";
import type { Command } from "commander";
import { collect, parseWhole } from "../arguments.js";
import type { Context } from "../context.js";

interface Options {
  agent?: string;
  type?: string[];
  trace?: string;
  after?: string;
  revision?: string;
  count?: string;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .option("--agent <id>", "only what concerns this agent")
    .option("--type <type>", "only events whose type starts so, like instance; repeatable", collect)
    .option("--trace <id>", "only events of this trace")
    .option("--after <id>", "go on after this event")
    .option("--revision <n>", "registry events after this revision")
    .option("--count <n>", "end after so many events")
    .addHelpText(
      "after",
      `
It goes on until Ctrl-C; a node that goes away is awaited.

Examples:
  $ agent-reach watch
  $ agent-reach watch --type instance --type agent
  $ agent-reach watch --json | jq -c 'select(.type | startswith("task"))'`,
    )
    .action(async (options: Options) => {
      const here = context(command);
      const max = options.count === undefined ? Number.POSITIVE_INFINITY : parseWhole(options.count, "--count", 1, 1e9);
      const number = (text: string | undefined, name: string) =>
        text === undefined ? undefined : parseWhole(text, name, 0, Number.MAX_SAFE_INTEGER);
      const operator = await here.operator();
      const events = operator.events({
        after: number(options.after, "--after"),
        revision: number(options.revision, "--revision"),
        signal: here.io.signal,
      });
      const { renderEvent } = await import("../render/event.js");
      let seen = 0;
      for await (const { data, text } of events) {
        if (!fits(data, options)) continue;
        if (here.json) here.printJsonText(text);
        else here.io.out(`${renderEvent(data as unknown as JournalEvent, here.paint)}\n`);
        if (++seen >= max) return;
      }
    });
}

export function fits(event: Readonly<Record<string, unknown>>, { agent, type, trace }: Options): boolean {
  if (agent !== undefined && event["agentId"] !== agent) return false;
  if (trace !== undefined && event["traceId"] !== trace) return false;
  return (
    type === undefined || type.some((start) => typeof event["type"] === "string" && event["type"].startsWith(start))
  );
}
