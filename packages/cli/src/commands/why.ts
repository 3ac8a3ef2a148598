import type { Attempt } from "@agent-reach/protocol";
import type { MessageView } from "@agent-reach/sdk/operator";
import type { Command } from "commander";
import type { Context } from "../context.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<id>", "messageId of a call or task")
    .addHelpText(
      "after",
      `
One paragraph per attempt: who was chosen and why, who was left out and why, and how it ended.

Example:
  $ agent-reach why 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42`,
    )
    .action(async (messageId: string) => {
      const here = context(command);
      const view = await (await here.operator()).message(messageId);
      const { renderWhy } = await import("../render/why.js");
      here.print(view, () => renderWhy(view.decisions, outcomesOf(view), here.paint));
    });
}

function outcomesOf(view: MessageView): Map<number, string> {
  const attempts = view.task?.attempts ?? (view.call?.["attempts"] as Attempt[] | undefined) ?? [];
  return new Map(
    attempts.flatMap(({ attempt, outcome }) => (outcome === undefined ? [] : [[attempt, outcome] as const])),
  );
}
