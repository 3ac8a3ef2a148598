import type { Task } from "@agent-reach/protocol";
import type { Command } from "commander";
import type { Context } from "../context.js";
import { awaitTask, exitByState, parseWait } from "../follow.js";
import { layOutJson, memberText } from "../render/json.js";

interface Options {
  wait?: string | boolean;
  cancel?: boolean;
  reason?: string;
  events?: boolean;
}

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<id>", "messageId")
    .option("--wait [duration]", "wait until it is settled; exit code 0 if it completed, 1 if not, 5 if it goes on")
    .option("--cancel", "cancel it")
    .option("--reason <text>", "why it is cancelled")
    .option("--events", "what happened to it so far")
    .addHelpText(
      "after",
      `
Examples:
  $ agent-reach task 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42
  $ agent-reach task 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42 --wait 1m
  $ agent-reach task 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42 --cancel --reason "ordered twice"`,
    )
    .action(async (messageId: string, options: Options) => {
      const here = context(command);
      if (options.cancel === true) await cancel(here, messageId, options.reason);
      if (options.events === true) return events(here, messageId);
      const waitMs = parseWait(options.wait);
      const { text, task } = await awaitTask(here, messageId, waitMs ?? 0);
      if (waitMs !== undefined) exitByState(here, task);
      await show(here, text, task);
    });
}

async function cancel(here: Context, messageId: string, reason: string | undefined): Promise<void> {
  await (await here.operator()).cancel(messageId, reason);
  here.remark("cancelled");
}

async function events(here: Context, messageId: string): Promise<void> {
  const page = await (await here.operator()).taskEvents(messageId);
  const { renderEvents } = await import("../render/timeline.js");
  here.print(page, () => (page.events.length === 0 ? "No events are kept.\n" : renderEvents(page.events, here.paint)));
}

async function show(here: Context, text: string, task: Task): Promise<void> {
  if (here.json) return here.printJsonText(text);
  const { renderTask } = await import("../render/tasks.js");
  here.io.out(renderTask(task, here.io.now(), here.paint));
  for (const key of ["input", "data"]) {
    const member = memberText(text, key);
    if (member !== undefined) here.io.out(`\n${here.paint.dim(key)}\n${layOutJson(member)}\n`);
  }
}
