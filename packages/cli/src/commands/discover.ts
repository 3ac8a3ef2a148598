import type { Params } from "@agent-reach/protocol";
import type { Command } from "commander";
import { collect, couldBeName, parseDurationMs, parseWhole, usageError } from "../arguments.js";
import type { Context } from "../context.js";
import { exitCodes } from "../exit.js";

interface Options {
  capability?: string;
  intent?: string;
  tag?: string[];
  label?: string[];
  within?: string;
  top?: string;
  explain?: boolean;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("[words...]", "the name of a capability, or what is wanted in your own words")
    .option("--capability <name>", "by name")
    .option("--intent <text>", "by what is wanted")
    .option("--tag <tag>", "by tag; repeatable", collect)
    .option("--label <key=value>", "only instances with this label; repeatable", collect)
    .option("--within <duration>", "only those that usually answer in this time")
    .option("--top <n>", "at most so many candidates")
    .option("--explain", "show the facts behind the scores, and who was left out and why")
    .addHelpText(
      "after",
      `
One word that could be a name is looked up as one; anything else is an intent. Exit code 4 says that nobody was found.

Examples:
  $ agent-reach discover query_order
  $ agent-reach discover where is my order
  $ agent-reach discover --tag commerce/order --explain`,
    )
    .action(async (words: string[], options: Options) => {
      const here = context(command);
      const discovery = await (await here.operator()).discover(queryOf(words, options));
      const { renderDiscovery } = await import("../render/discovery.js");
      here.print(discovery, () => renderDiscovery(discovery, { explain: options.explain === true }, here.paint));
      if (discovery.candidates.length === 0) here.exitWith(exitCodes.notFound);
    });
}

export function queryOf(words: readonly string[], options: Options): Params<"discover"> {
  const query: Params<"discover"> = {};
  const text = words.join(" ").trim();
  if (couldBeName(text)) query.capability = text;
  else if (text !== "") query.intent = text;
  if (options.capability !== undefined) query.capability = options.capability;
  if (options.intent !== undefined) query.intent = options.intent;
  if (options.tag !== undefined) query.tags = options.tag;
  if (options.label !== undefined) query.labels = Object.fromEntries(options.label.map(labelOf));
  if (options.within !== undefined) query.maxLatencyMs = parseDurationMs(options.within);
  if (options.top !== undefined) query.topK = parseWhole(options.top, "--top", 1, 500);
  if (query.capability === undefined && query.intent === undefined && query.tags === undefined) {
    throw usageError("say what to look for: a capability's name, --tag, or what is wanted in your own words");
  }
  return query;
}

function labelOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`--label must be key=value, but is ${JSON.stringify(text)}`);
  return [text.slice(0, at), text.slice(at + 1)];
}
