import { describe, expect, test } from "vitest";
import { accepted, cardOf, completed } from "../kit/agents.js";
import { ReachNode, useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { within } from "../kit/within.js";

const node = useNode({
  settings: { chaos: { enabled: true }, delivery: { ackTimeoutMs: 1_000, backoffMs: [1, 1, 1] } },
});
const { bare, join } = usePeers(node);
const fault = (body: object) => node().http.post("/v1/chaos", body);

describe("chaos", () => {
  test("cuts the connections of an agent, which is seen as lost at once", async () => {
    const agent = await join();
    const caller = await bare();
    const { watchId } = await caller.request("watch", { agentId: agent.agentId });
    expect((await fault({ agentId: agent.agentId, cut: true })).body).toEqual({
      agentId: agent.agentId,
      connections: 1,
    });
    await within(agent.wire.closed, "the connection to end");
    const event = await caller.nextNotification("event", (e) => e.watchId === watchId && e.type === "instance.suspect");
    expect(event).toMatchObject({ agentId: agent.agentId });
  });

  test("holds back what goes to an agent, and to nobody else", async () => {
    const [slow, quick] = [await join(), await join()];
    const caller = await bare();
    await fault({ agentId: slow.agentId, delayMs: 400 });
    const startedAt = performance.now();
    const late = caller.request("call", { capability: slow.capability, input: 1 });
    await caller.request("call", { capability: quick.capability, input: 2 });
    expect(await late).toMatchObject({ data: 1 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(399);
  });

  test("loses acknowledgements, so that work comes again, also over a new connection, until it is cleared", async () => {
    const card = cardOf();
    const agent = await join(card, () => accepted);
    const caller = await bare();
    await fault({ agentId: agent.agentId, dropAcks: 1 });
    expect((await node().http.get("/v1/chaos")).body.faults).toContainEqual({
      agentId: agent.agentId,
      delayMs: 0,
      dropAcks: 1,
      until: expect.stringMatching(/T/),
    });
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: 1 });
    expect((await agent.next()).attempt).toBe(1);
    expect((await agent.next()).attempt).toBe(2);
    agent.cut();
    const again = await join(card, () => accepted, agent.identity);
    const attempt = (await again.next()).attempt;
    expect((await again.next()).attempt).toBe(attempt + 1);
    const cleared = await node().http.delete(`/v1/chaos?agent=${agent.agentId}`);
    expect(cleared.body).toEqual({ cleared: 1 });
    const last = await again.next(({ envelope }) => envelope.messageId === messageId).catch(() => undefined);
    if (last !== undefined) await again.complete(last, completed(1));
  });

  test("ends by itself", async () => {
    const agent = await join();
    await fault({ agentId: agent.agentId, delayMs: 1, forMs: 1 });
    const caller = await bare();
    await caller.request("call", { capability: agent.capability, input: 1 });
    const { faults } = (await node().http.get("/v1/chaos")).body;
    expect(faults.filter((f: { agentId: string }) => f.agentId === agent.agentId)).toEqual([]);
  });

  test("needs a known agent on a socket, and a fault", async () => {
    expect(await fault({ agentId: "nobody-here", cut: true })).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    const agent = await join();
    expect(await fault({ agentId: agent.agentId })).toMatchObject({ status: 400, body: { path: "delayMs" } });
    expect(await fault({ agentId: agent.agentId, dropAcks: 2 })).toMatchObject({
      status: 400,
      body: { path: "dropAcks" },
    });
  });

  test("is refused by a node that was not started for it, with the remedy", async () => {
    const careful = await ReachNode.start();
    try {
      const refused = await careful.http.post("/v1/chaos", { agentId: "a", cut: true });
      expect(refused).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
      expect(refused.body.message).toContain("--chaos");
    } finally {
      await careful.dispose();
    }
  });
});
