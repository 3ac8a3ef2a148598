import type { Command } from "commander";
import { parseDurationMs, usageError } from "../arguments.js";
import type { Context } from "../context.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command.addHelpText(
    "after",
    `
For test environments: the node makes faults only if it was started with --chaos. Faults end by themselves, after a
minute if nothing else is said. They are for agents on a socket.

Examples:
  $ agent-reach serve --chaos
  $ agent-reach chaos cut order-agent-01
  $ agent-reach chaos delay order-agent-01 2s --for 5m
  $ agent-reach chaos drop-acks order-agent-01 0.5
  $ agent-reach chaos list
  $ agent-reach chaos clear`,
  );
  const cut = command
    .command("cut")
    .description("End the connections of an agent without a word; it may connect again at once.")
    .argument("<agent>", "agentId");
  cut.action(async (agentId: string) => {
    const here = context(cut);
    const done = await (await here.operator()).cut(agentId);
    here.print(done, () => `Cut ${connections(done.connections)} of ${agentId}.\n`);
  });

  const delay = withDuration(
    command
      .command("delay")
      .description("Hold back what goes to an agent.")
      .argument("<agent>", "agentId")
      .argument("<duration>", "how long, like 500ms or 2s"),
  );
  delay.action(async (agentId: string, duration: string, options: { for: string }) => {
    const here = context(delay);
    await spoil(here, agentId, { delayMs: parseDurationMs(duration) }, options.for, `is ${duration} late`);
  });

  const dropAcks = withDuration(
    command
      .command("drop-acks")
      .description("Miss the acknowledgements of an agent, so that it gets its work again.")
      .argument("<agent>", "agentId")
      .argument("<share>", "of them, from 0 to 1"),
  );
  dropAcks.action(async (agentId: string, share: string, options: { for: string }) => {
    const here = context(dropAcks);
    const part = Number(share);
    if (!(part >= 0 && part <= 1)) throw usageError(`the share must be a number from 0 to 1, but is "${share}"`);
    await spoil(
      here,
      agentId,
      { dropAcks: part },
      options.for,
      `loses ${Math.round(part * 100)} % of acknowledgements`,
    );
  });

  const list = command.command("list").description("List the faults in force.");
  list.action(async () => {
    const here = context(list);
    const found = await (await here.operator()).faults();
    const { renderView } = await import("../render/generic.js");
    here.print(found, () =>
      found.faults.length === 0 ? "No faults.\n" : renderView({ ...found }, here.io.now(), here.paint),
    );
  });

  const clear = command
    .command("clear")
    .description("End the faults of an agent, or all.")
    .argument("[agent]", "agentId");
  clear.action(async (agentId: string | undefined) => {
    const here = context(clear);
    const done = await (await here.operator()).clearFaults(agentId);
    here.print(done, () => (done.cleared === 0 ? "There were no faults.\n" : "Cleared.\n"));
  });
}

function withDuration(command: Command): Command {
  return command.option("--for <duration>", "when it ends by itself", "60s");
}

async function spoil(
  here: Context,
  agentId: string,
  faults: { delayMs: number } | { dropAcks: number },
  lasting: string,
  what: string,
): Promise<void> {
  const done = await (await here.operator()).spoil(agentId, { ...faults, forMs: parseDurationMs(lasting) });
  here.print(done, () => `For ${lasting} the way to ${agentId} ${what}: ${connections(done.connections)} now.\n`);
}

function connections(count: number): string {
  return count === 1 ? "1 connection" : `${count} connections`;
}
