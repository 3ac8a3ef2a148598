import type { Command } from "commander";
import { isMessageId } from "../arguments.js";
import type { Context } from "../context.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<id>", "traceId, or the messageId of any of its messages")
    .addHelpText(
      "after",
      `
Times count from the start of the trace; a hop of more than 3 s is marked.

Examples:
  $ agent-reach trace 8f3a1c2e9b7d4f1a8f3a1c2e9b7d4f1a
  $ agent-reach trace 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42 --json`,
    )
    .action(async (id: string) => {
      const here = context(command);
      const operator = await here.operator();
      const trace = await operator.trace(isMessageId(id) ? await traceOf(here, id) : id);
      const { renderTrace } = await import("../render/timeline.js");
      here.print(trace, () => renderTrace(trace, here.paint));
    });
}

/** A trace's own id looks different from a message's, so both may be given. */
async function traceOf(here: Context, messageId: string): Promise<string> {
  const view = await (await here.operator()).message(messageId);
  const traceId =
    view.task?.traceId ??
    view.call?.["traceId"] ??
    view.decisions[0]?.traceId ??
    view.events.find((event) => event.traceId)?.traceId;
  return typeof traceId === "string" ? traceId : messageId;
}
