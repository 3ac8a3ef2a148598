import type { Decision } from "@agent-reach/protocol";
import type { Command } from "commander";
import { couldBeName, objectWithRaw, parseDurationMs, readJsonText, usageError } from "../arguments.js";
import type { Context } from "../context.js";
import { exitCodes } from "../exit.js";
import { layOutJson, memberText } from "../render/json.js";
import { formatDuration } from "../render/time.js";

interface Options {
  agent?: string;
  instance?: string;
  timeout?: string;
  trace?: string;
  range?: string;
  key?: string;
  fallback?: string[];
  dryRun?: boolean;
}

/** One HTTP request is given up by the runtime after 5 minutes without an answer; work that long is a task. */
const timeoutMsMax = 290_000;

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<capability>", 'what to call, by name or in words; "-" leaves it to --agent, if that offers only one')
    .argument("[input]", 'JSON, @file, or - for standard input (default: "{}")')
    .option("--agent <id>", "this agent only")
    .option("--instance <id>", "this instance only")
    .option("--timeout <duration>", "how long to wait (default: the node's, 30s)")
    .option("--trace <id>", "make it part of this trace")
    .option("--range <version>", "version of the capability, exact or a range")
    .option("--key <key>", "idempotency key: the same key is done once")
    .option("--fallback <names...>", "who stands in, by capability or agent, in this order")
    .option("--dry-run", "decide who would get it, and send nothing")
    .addHelpText(
      "after",
      `
The answer's data goes to standard output, to the digit; who gave it, and how to learn more, to standard error.

Examples:
  $ agent-reach call query_order '{"order_id": "20250101001"}'
  $ agent-reach call "where is my order" '{"order_id": "20250101001"}'
  $ agent-reach call query_order @order.json --agent order-agent-01 --timeout 5s
  $ echo '{"order_id": "7"}' | agent-reach call query_order - --json
  $ agent-reach call query_order --dry-run`,
    )
    .action(async (capability: string, input: string | undefined, options: Options) => {
      const here = context(command);
      const body = objectWithRaw(membersOf(capability, options), "input", await readJsonText(input, here.io));
      const started = here.io.now();
      const http = (await here.operator()).http;
      const text = await here.waiting(`waiting for ${capability === "-" ? options.agent : capability}`, () =>
        http.text("POST", "/v1/call", { bodyText: body }),
      );
      await say(here, text, here.io.now() - started, options.dryRun === true);
    });
}

/** The envelope without its input. */
export function membersOf(capability: string, options: Options): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  const target = { agentId: options.agent, instanceId: options.instance };
  if (capability !== "-") members[couldBeName(capability) ? "capability" : "intent"] = capability;
  if (target.agentId !== undefined || target.instanceId !== undefined) members["target"] = target;
  if (capability === "-" && members["target"] === undefined)
    throw usageError('a call needs a capability, or with "-" an --agent');
  if (options.timeout !== undefined) {
    const timeoutMs = parseDurationMs(options.timeout);
    if (timeoutMs < 1 || timeoutMs > timeoutMsMax) {
      throw usageError(
        `--timeout must be more than nothing and at most ${formatDuration(timeoutMsMax)}; for longer work use \`agent-reach submit … --wait\``,
      );
    }
    members["timeoutMs"] = timeoutMs;
  }
  if (options.trace !== undefined) members["traceId"] = options.trace;
  if (options.range !== undefined) members["version"] = options.range;
  if (options.key !== undefined) members["idempotencyKey"] = options.key;
  if (options.fallback !== undefined) members["fallback"] = options.fallback;
  if (options.dryRun === true) members["dryRun"] = true;
  return members;
}

interface Answer {
  messageId?: string;
  traceId?: string;
  agentId?: string;
  instanceId?: string;
  degraded?: boolean;
  error?: unknown;
  /** Of a dry run. */
  decision?: Decision;
}

async function say(here: Context, text: string, tookMs: number, dryRun: boolean): Promise<void> {
  const answer = JSON.parse(text) as Answer;
  if (answer.error !== undefined) {
    here.exitWith(exitCodes.refused);
    if (here.json) return here.printJsonText(text);
    const { readError } = await import("@agent-reach/sdk/operator");
    throw readError(answer.error) ?? usageError("the node answered with an error that says nothing");
  }
  if (here.json) return here.printJsonText(text);
  if (dryRun && answer.decision !== undefined) {
    const { renderWhy } = await import("../render/why.js");
    return here.io.out(renderWhy([answer.decision], new Map(), here.paint));
  }
  here.printJsonText(layOutJson(memberText(text, "data") ?? "null"));
  const who = `${here.paint.name(answer.agentId ?? "an agent")} in ${formatDuration(tookMs)}${answer.degraded === true ? ", degraded" : ""}`;
  here.remark(
    `${who}${here.paint.dim(`; see: agent-reach why ${answer.messageId}, agent-reach trace ${answer.traceId}`)}`,
  );
}
