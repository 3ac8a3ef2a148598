import { type Agent, AgentReachClient } from "@agent-reach/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { useNode } from "../kit/node.js";
import { within } from "../kit/within.js";

const node = useNode();
const clients: AgentReachClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

const cancel = {
  name: "cancel_order",
  idempotent: true,
  description: "Cancels an order that has not been sent",
  operation: "cancel",
  objectType: "order",
  examples: ["cancel the order of yesterday", "stop it, nobody wants these shoes any more", "call off my order"],
};
const voided = {
  name: "void_purchase",
  idempotent: true,
  description: "撤销还没有发货的订单",
  operation: "cancel",
  objectType: "order",
  examples: ["取消昨天下的订单", "别发了，这双鞋没人要了", "把我的订单撤掉吧"],
};

/** An agent as a process of its own would be, and what its log said. */
async function start(agentId: string, capability: typeof cancel) {
  const warned: string[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (text: string) => void warned.push(text), error: () => {} };
  const client = new AgentReachClient({ registryUrl: node().url, logger });
  clients.push(client);
  client.register({ agentId, capabilities: [capability] });
  client.onCapability(capability.name, () => ({}));
  await client.start();
  return { client, warned };
}

/** What an agent is told about its card, once there is something that says this. */
async function told(client: AgentReachClient, agentId: string, text: string): Promise<string[]> {
  const ask = async (): Promise<string[]> => {
    for (;;) {
      const { warnings = [] }: Agent = await client.agent(agentId);
      if (warnings.some((warning) => warning.includes(text))) return warnings;
    }
  };
  return within(ask(), `a warning of ${agentId} that says ${text}`, 30_000);
}

describe("REG-12: near duplicates are pointed out to the registrant", { timeout: 60_000 }, () => {
  test("soon after the registration by the directory and the node's log, and to whoever comes back at once", async () => {
    const first = await start("canceler", cancel);
    expect(first.warned).toEqual([]);
    const second = await start("voider", voided);
    const warnings = await told(second.client, "voider", 'seems to mean the same as "cancel_order"');
    expect((await node().http.get("/v1/agents/voider")).body.warnings).toEqual(warnings);

    await second.client.close();
    const again = await start("voider", voided);
    expect(again.warned).toEqual(warnings);
    // What is learnt later is looked into later: by then nothing of the two is left to be said.
    const painter = { ...cancel, name: "paint", description: "Paints portraits", operation: "paint", examples: [] };
    await start("painter", painter);
    for (let found: string[] = []; !found.includes("paint"); ) {
      const { candidates, misses } = await first.client.discover({ intent: "paint a portrait" });
      found = [...candidates, ...misses].map(({ capability }) => capability);
    }
    const lines = () => node().stderr.match(/"(cancel_order|void_purchase) may not be found as it is meant"/g) ?? [];
    while (lines().length === 0) await first.client.agents();
    expect(lines()).toHaveLength(1);
  });
});
