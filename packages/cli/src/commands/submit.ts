import type { SubmitResult } from "@agent-reach/protocol";
import type { Command } from "commander";
import { couldBeName, objectWithRaw, parseDurationMs, parseSince, readJsonText, usageError } from "../arguments.js";
import type { Context } from "../context.js";
import { followTask, parseWait } from "../follow.js";

interface Options {
  agent?: string;
  group?: string;
  key?: string;
  trace?: string;
  at?: string;
  deadline?: string;
  completion?: string;
  onStalled?: string;
  atMostOnce?: boolean;
  wait?: string | boolean;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<capability>", "what is to be done, by a capability's name or in words")
    .argument("[input]", 'JSON, @file, or - for standard input (default: "{}")')
    .option("--agent <id>", "this agent only")
    .option("--group <id>", "a name under which to find it again with others")
    .option("--key <key>", "idempotency key: submitted twice, it is one task")
    .option("--trace <id>", "make it part of this trace")
    .option("--at <time>", "not before this time (ISO 8601)")
    .option("--deadline <duration>", "how long it may wait in all (default: 24h)")
    .option("--completion <duration>", "how long the work may take once delivered (default: 10m)")
    .option("--on-stalled <what>", "review, redeliver or fail when no receipt comes")
    .option("--at-most-once", "rather lose it than do it twice")
    .option("--wait [duration]", "wait for the result")
    .addHelpText(
      "after",
      `
The answer comes when the task is on disk: from then on it is not lost. Without --wait its id goes to standard output,
with it the result's data.

Examples:
  $ agent-reach submit query_order '{"order_id": "20250101001"}'
  $ agent-reach submit query_order @order.json --wait 30s
  $ agent-reach submit ship_order '{"order_id": "7"}' --key ship-7 --group friday
  $ agent-reach task "$(agent-reach submit query_order)" --wait`,
    )
    .action(async (capability: string, input: string | undefined, options: Options) => {
      const here = context(command);
      const waitMs = parseWait(options.wait);
      const body = objectWithRaw(
        membersOf(capability, options, here.io.now()),
        "input",
        await readJsonText(input, here.io),
      );
      const text = await (await here.operator()).http.text("POST", "/v1/tasks", { bodyText: body });
      const submitted = JSON.parse(text) as SubmitResult;
      if (waitMs !== undefined) return followTask(here, submitted.messageId, waitMs);
      if (here.json) return here.printJsonText(text);
      here.io.out(`${submitted.messageId}\n`);
      const state = submitted.duplicate ? `it was submitted before, and is ${submitted.state}` : submitted.state;
      here.remark(`${state}${here.paint.dim(`; see: agent-reach task ${submitted.messageId}`)}`);
    });
}

const stalledActions = ["review", "redeliver", "fail"];

export function membersOf(capability: string, options: Options, now: number): Record<string, unknown> {
  const members: Record<string, unknown> = { [couldBeName(capability) ? "capability" : "intent"]: capability };
  if (options.agent !== undefined) members["target"] = { agentId: options.agent };
  if (options.group !== undefined) members["groupId"] = options.group;
  if (options.key !== undefined) members["idempotencyKey"] = options.key;
  if (options.trace !== undefined) members["traceId"] = options.trace;
  if (options.at !== undefined) members["notBefore"] = parseSince(options.at, now);
  if (options.deadline !== undefined) members["deadlineMs"] = parseDurationMs(options.deadline);
  if (options.completion !== undefined) members["completionTimeoutMs"] = parseDurationMs(options.completion);
  if (options.onStalled !== undefined) {
    if (!stalledActions.includes(options.onStalled))
      throw usageError(`--on-stalled must be ${stalledActions.join(", ")}, but is ${options.onStalled}`);
    members["onStalled"] = options.onStalled;
  }
  if (options.atMostOnce === true) members["delivery"] = "atMostOnce";
  return members;
}
