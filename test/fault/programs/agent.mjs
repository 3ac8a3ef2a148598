// An SDK agent as users write one: it drains on SIGTERM, and notes in the ledger when it begins and ends a piece of work.
import { appendFileSync } from "node:fs";
import { setTimeout as work } from "node:timers/promises";
import { AgentReachClient } from "@agent-reach/sdk";

const { registryUrl, card, ledger, workMs = 0, stateFile, tells = false } = JSON.parse(process.argv[2]);
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
/** `tells`: the test hears of it as well. */
const note = (word, key) => {
  appendFileSync(ledger, `${word} ${key} ${process.pid}\n`);
  if (tells) process.send({ type: word, key });
};

process.on("disconnect", () => process.exit(0));
const agent = new AgentReachClient({ registryUrl, stateFile, logger: quiet, reconnect: { minMs: 20, maxMs: 200 } });
agent.register(card);
for (const { name } of card.capabilities) {
  agent.onCapability(name, async (input, { idempotencyKey }) => {
    note("begin", idempotencyKey);
    await work(input?.workMs ?? workMs);
    note("end", idempotencyKey);
    return { done: input, by: process.pid };
  });
}
agent.drainOnSignals();
const { instanceId, epoch } = await agent.start();
process.send({ type: "up", instanceId, epoch });
