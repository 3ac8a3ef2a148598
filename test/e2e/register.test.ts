import { beforeAll, describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";

const node = useNode();
const { bare, join } = usePeers(node);
const throughout = usePeers(node, "file");
let reader: Wire;
beforeAll(async () => {
  reader = await throughout.bare();
});
const agentOf = (agentId: string, version?: number) =>
  reader.request("agents.get", version === undefined ? { agentId } : { agentId, version });

describe("REG-1: a card joins in one round trip", () => {
  test("and the answer says who it is, its lease and its fencing number", async () => {
    const agent = await join(cardOf({ heartbeatIntervalSec: 5 }));
    expect(agent.registered).toMatchObject({
      agentId: agent.card.agentId,
      instanceId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      instanceKey: expect.stringMatching(/^.{16,}$/),
      epoch: 1,
      version: 1,
      revision: expect.any(Number),
      lease: { heartbeatIntervalSec: 5, ttlSec: 15, graceSec: 10 },
    });
    expect(Array.isArray(agent.registered.warnings)).toBe(true);
  });

  test("with its own instanceId, and keeps it", async () => {
    const wire = await bare();
    const instanceId = newId();
    expect((await wire.request("register", { card: cardOf(), instanceId })).instanceId).toBe(instanceId);
  });

  test("with nothing but an agentId and a capability's name gets the defaults", async () => {
    const agent = await join({ agentId: "plain-agent", capabilities: [{ name: "plain_work" }] });
    expect(agent.registered.lease).toMatchObject({ heartbeatIntervalSec: 15, ttlSec: 45, graceSec: 30 });
    const { card } = await agentOf("plain-agent");
    expect(card).toMatchObject({
      agentId: "plain-agent",
      name: "plain-agent",
      maxConcurrentTasks: 10,
      transport: { type: "ws" },
    });
    expect(agent.registered.warnings.join(" ")).toContain("idempotent");
  });
});

describe("CAT-1: a capability is a contract, kept as it was given", () => {
  test("with every field of the card", async () => {
    const card = {
      agentId: "order-agent-01",
      name: "Order status agent",
      description: "Knows orders",
      maxConcurrentTasks: 7,
      heartbeatIntervalSec: 20,
      labels: { region: "cn-beijing", domain: "commerce" },
      resources: { cpu: 4, gpu: "L4" },
      capabilities: [
        {
          name: "query_order",
          description: "Current status of an order by its number",
          operation: "query",
          objectType: "order",
          tags: ["commerce/order/query"],
          inputSchema: { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] },
          outputSchema: { type: "object" },
          examples: ["where is my order 20250101001?"],
          idempotent: true,
          costTier: "low",
          timeoutHintMs: 5000,
          version: "1.2.0",
          weight: 100,
        },
      ],
    };
    await join(card);
    expect((await agentOf("order-agent-01")).card).toMatchObject(card);
  });
});

describe("REG-3: the version counts content", () => {
  test("stays when the same card comes again, goes up by one when it changed, and old ones stay readable", async () => {
    const agent = await join(cardOf({ description: "first" }));
    const again = await agent.wire.request("register", { card: agent.card, ...agent.identity });
    expect(again).toMatchObject({ version: 1, epoch: 1, instanceId: agent.instanceId });
    const changed = await agent.wire.request("register", {
      card: { ...agent.card, description: "second" },
      ...agent.identity,
    });
    expect(changed).toMatchObject({ version: 2, epoch: 1 });
    expect((await agentOf(agent.agentId)).card.description).toBe("second");
    expect(await agentOf(agent.agentId, 1)).toMatchObject({ version: 1, card: { description: "first" } });
  });

  test("does not count hints: version, status, load, healthy at the top", async () => {
    const agent = await join();
    const hinted = { ...agent.card, version: "9.9", status: "online", load: 0.5, healthy: true };
    expect((await agent.wire.request("register", { card: hinted, ...agent.identity })).version).toBe(1);
    expect((await agentOf(agent.agentId)).version).toBe(1);
  });

  test("does not depend on the order of keys", async () => {
    const agent = await join(cardOf({ name: "n", description: "d" }));
    const reversed = Object.fromEntries(Object.entries(agent.card).reverse());
    expect((await agent.wire.request("register", { card: reversed, ...agent.identity })).version).toBe(1);
  });

  test("a version that never was is NOT_FOUND", async () => {
    const agent = await join();
    expect(await reader.refused("agents.get", { agentId: agent.agentId, version: 77 })).toMatchObject({
      code: "NOT_FOUND",
      rpc: -32024,
    });
  });
});

describe("REG-2: agent and instance", () => {
  test("a second instance joins its group and does not evict the first", async () => {
    const card = cardOf();
    const [first, second] = [await join(card), await join(card)];
    expect(second.instanceId).not.toBe(first.instanceId);
    const { instances } = await agentOf(card.agentId);
    expect(instances.map((i: Json) => [i.instanceId, i.state])).toEqual(
      expect.arrayContaining([
        [first.instanceId, "online"],
        [second.instanceId, "online"],
      ]),
    );
    expect((await first.heartbeat()).state).toBe("online");
  });

  test("registering on the same socket is an update: same epoch, nothing fenced", async () => {
    const agent = await join();
    const card = { ...agent.card, capabilities: [...agent.card.capabilities, { name: `${agent.capability}_more` }] };
    const updated = await agent.wire.request("register", { card, instanceId: agent.instanceId });
    expect(updated).toMatchObject({ epoch: 1, instanceId: agent.instanceId, agentId: agent.agentId });
    expect((await agentOf(agent.agentId)).instances).toHaveLength(1);
    const { data } = await reader.request("call", { capability: `${agent.capability}_more`, input: "new" });
    expect(data).toBe("new");
  });
});

describe("REG-4: consistent before available", () => {
  test("nothing is handed to an instance that is known to be gone, however quick the caller is", async () => {
    const card = cardOf({ maxConcurrentTasks: 200 });
    const [staying, leaving] = [await join(card), await join(card)];
    await leaving.deregister();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, input) => reader.request("call", { capability: staying.capability, input })),
    );
    expect(new Set(answers.map((a: Json) => a.instanceId))).toEqual(new Set([staying.instanceId]));
    await leaving.wire.request("ping");
    expect(leaving.deliveries.untaken).toEqual([]);
  });

  test("a registration that was answered is found by everybody at once", async () => {
    for (let n = 0; n < 20; n++) {
      const agent = await join();
      expect((await reader.request("discover", { capability: agent.capability })).candidates).toHaveLength(1);
    }
  });
});

describe("REG-5: calls and the registry", () => {
  test("however many calls pass, the registry's records and revisions do not change", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 500 }));
    const watch = await reader.request("watch", {});
    const before = await agentOf(agent.agentId);
    await Promise.all(
      Array.from({ length: 250 }, (_, input) => reader.request("call", { capability: agent.capability, input })),
    );
    const again = await reader.request("watch", {});
    expect(again.revision).toBe(watch.revision);
    const after = await agentOf(agent.agentId);
    expect([after.version, after.card]).toEqual([before.version, before.card]);
    expect(reader.notifications.untaken.filter((n) => n.params.agentId === agent.agentId)).toEqual([]);
    for (const { watchId } of [watch, again]) await reader.request("unwatch", { watchId });
  });
});
