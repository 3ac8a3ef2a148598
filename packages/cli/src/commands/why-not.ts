import { type Decision, ReachError } from "@agent-reach/protocol";
import type { Command } from "commander";
import { isMessageId } from "../arguments.js";
import type { Context } from "../context.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<agent>", "agentId")
    .argument("<what>", "a messageId: why it did not get that one; or a capability: why it would not get it now")
    .addHelpText(
      "after",
      `
Examples:
  $ agent-reach why-not order-agent-02 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42
  $ agent-reach why-not order-agent-02 query_order`,
    )
    .action(async (agentId: string, what: string) => {
      const here = context(command);
      const sentence = isMessageId(what)
        ? await ofMessage(here, agentId, what)
        : await ofCapability(here, agentId, what);
      here.print({ agentId, answer: sentence }, () => `${sentence}\n`);
    });
}

async function ofMessage(here: Context, agentId: string, messageId: string): Promise<string> {
  const { decisions } = await (await here.operator()).message(messageId);
  const { explainWhyNot } = await import("../render/why.js");
  return explainWhyNot(agentId, decisions) ?? neverConsidered(agentId, decisions);
}

function neverConsidered(agentId: string, decisions: readonly Decision[]): string {
  if (decisions.length === 0)
    throw new ReachError(
      "NOT_FOUND",
      "no decision about this message is kept: it was never routed, or it is too long ago",
    );
  return `${agentId} was not considered: when the message was routed it did not offer what was asked for, or was not registered.`;
}

/** Asked without the agent's name, so that it stands among its rivals. */
async function ofCapability(here: Context, agentId: string, capability: string): Promise<string> {
  const operator = await here.operator();
  const { candidates, misses } = await operator.discover({ capability, topK: 500 });
  const { explainVerdict } = await import("../render/verdict.js");
  const rank = candidates.findIndex((each) => each.agentId === agentId);
  if (rank === 0) return `${agentId} would get ${capability} now: it has the best score.`;
  if (rank > 0) {
    const own = candidates[rank]!;
    const best = candidates[0]!;
    return `${agentId} is able, but ${best.agentId} scores higher for ${capability}: ${best.score.toFixed(3)} against ${own.score.toFixed(3)}.`;
  }
  const miss = misses.find((each) => each.agentId === agentId);
  if (miss?.why !== undefined) return `${agentId} would not get ${capability} now: it ${explainVerdict(miss.why)}.`;
  const { card } = await operator.agent(agentId);
  const offers = (card.capabilities ?? []).map((each) => each.name).join(", ");
  return `${agentId} does not offer ${capability}; it offers ${offers === "" ? "nothing" : offers}.`;
}
