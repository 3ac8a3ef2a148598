import { describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePrograms } from "../kit/program.js";
import { type Json, Wire } from "../kit/wire.js";
import { Load, told, useClients } from "./load.js";

const node = useNode();
const program = usePrograms();
const client = useClients();

/** Everybody the directory knows, by agentId. */
async function directory(): Promise<Map<string, Json>> {
  const reader = await Wire.open(node().url);
  const found = new Map<string, Json>();
  for (let cursor: string | undefined; ; ) {
    const page = await reader.request("agents.list", { limit: 500, ...(cursor && { cursor }) });
    for (const agent of page.agents) found.set(agent.agentId, agent);
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  reader.cut();
  return found;
}

describe("LIVE-9: a thousand agents that lose their node at the same moment", () => {
  test("are all online again after its restart, each once and under its own instance, and calls go on meanwhile", async () => {
    const count = 1_000;
    const crowd = await program("crowd.mjs", { registryUrl: node().url, count, prefix: "crowd" });
    await crowd.next("online", 60_000);
    const before = await directory();
    expect(before.size).toBe(count);

    const card = cardOf({ capability: { idempotent: true } });
    const capability: string = card.capabilities[0].name;
    const steady = client(node().url);
    steady.register(card);
    steady.onCapability(capability, (input) => input);
    await steady.start();
    const calls = Load.calls(client(node().url), capability, 4);
    await calls.more(20);
    await node().restart("SIGKILL");
    await crowd.next("online", 60_000);
    await calls.more(20);
    await calls.stop();

    const after = await directory();
    expect(after.size).toBe(count + 1);
    after.delete(card.agentId);
    for (const [agentId, agent] of after) {
      const [{ instanceId, epoch }] = before.get(agentId).instances;
      const now = { instanceId, epoch: epoch + 1, state: "online" };
      expect(agent).toMatchObject({ state: "online", instances: [now] });
      expect(agent.instances).toHaveLength(1);
    }
    // The calls that the dead node had in hand say so; nobody was turned away because others came back.
    const failures = calls.failures.map((one) => ({ known: one.outcome.outcome, code: one.outcome.errorCode, one }));
    const other = failures.filter(({ known, code }) => known !== "unknown" || code !== "DELIVERY_TIMEOUT");
    expect(other.map(({ one }) => told(one))).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(4);
    const caller = client(node().url);
    for (let n = 0; n < count; n += 50)
      expect(await caller.callSync({ capability: `crowd_${n}`, input: n })).toMatchObject({ ok: true, data: n });
  }, 120_000);
});
