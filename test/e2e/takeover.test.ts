import { describe, expect, test } from "vitest";
import { accepted, cardOf, completed } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId } from "../kit/wire.js";
import { within } from "../kit/within.js";

/** REG-2: who may speak for an instance, and that an older voice no longer counts. */
const node = useNode();
const { bare, join } = usePeers(node);
const instanceOf = async (agentId: string, instanceId: string): Promise<Json> => {
  const wire = await bare();
  const { instances } = await wire.request("agents.get", { agentId });
  return instances.find((i: Json) => i.instanceId === instanceId);
};

describe("REG-2: taking over an instance", () => {
  test("with its instanceKey raises the epoch and closes the older socket with 4001", async () => {
    const first = await join();
    const second = await join(first.card, undefined, first.identity);
    expect(second.registered).toMatchObject({ instanceId: first.instanceId, epoch: 2, version: 1 });
    const closed = await within(first.wire.closed, "the older socket to be closed");
    expect(closed.code).toBe(4001);
    expect(closed.reason).not.toBe("");
    expect(await instanceOf(first.agentId, first.instanceId)).toMatchObject({ epoch: 2, state: "online" });
  });

  test("that is connected, without its key, is FORBIDDEN and changes nothing", async () => {
    const first = await join();
    const wire = await bare();
    for (const instanceKey of [undefined, "wrong", ""]) {
      const params = {
        card: first.card,
        instanceId: first.instanceId,
        ...(instanceKey === undefined ? {} : { instanceKey }),
      };
      expect(await wire.refused("register", params)).toMatchObject({
        code: "FORBIDDEN",
        rpc: -32003,
        data: { retryable: false },
      });
    }
    expect((await first.heartbeat()).state).toBe("online");
    expect(await instanceOf(first.agentId, first.instanceId)).toMatchObject({ epoch: 1, state: "online" });
  });

  test("that is not connected is open to the same agentId without the key", async () => {
    const watcher = await bare();
    const first = await join();
    await watcher.request("watch", { agentId: first.agentId });
    first.cut();
    await watcher.waitFor("instance.suspect", (e) => e.instanceId === first.instanceId);
    const second = await join(first.card, undefined, { instanceId: first.instanceId });
    expect(second.registered).toMatchObject({ instanceId: first.instanceId, epoch: 2 });
  });

  test("under another agentId is FORBIDDEN, connected or not", async () => {
    const watcher = await bare();
    const first = await join();
    await watcher.request("watch", { agentId: first.agentId });
    const wire = await bare();
    const other = { ...first.card, agentId: `other-${newId()}` };
    expect(await wire.refused("register", { card: other, ...first.identity })).toMatchObject({ code: "FORBIDDEN" });
    first.cut();
    await watcher.waitFor("instance.suspect");
    expect(await wire.refused("register", { card: other, ...first.identity })).toMatchObject({ code: "FORBIDDEN" });
  });

  test("never restarts the epoch, not even after a goodbye", async () => {
    const first = await join();
    await first.deregister();
    const second = await join(first.card, undefined, first.identity);
    expect(second.registered.epoch).toBe(2);
    const third = await join(first.card, undefined, second.identity);
    expect(third.registered.epoch).toBe(3);
  });
});

describe("REG-2, L12: an older epoch", () => {
  test("cannot heartbeat, drain or deregister over HTTP", async () => {
    const card = cardOf();
    const first = (await node().http.post("/v1/agents", { card })).body;
    const again = { card, instanceId: first.instanceId, instanceKey: first.instanceKey };
    const second = (await node().http.post("/v1/agents", again)).body;
    expect(second).toMatchObject({ instanceId: first.instanceId, epoch: 2 });
    const old = { instanceKey: first.instanceKey, epoch: first.epoch };
    const route = `/v1/instances/${first.instanceId}`;
    const beaten = await node().http.post(`${route}/heartbeat`, old);
    expect(beaten.status === 200 ? beaten.body.state : beaten.body.code).toMatch(/^(unknown|FORBIDDEN|CONFLICT)$/);
    expect((await node().http.delete(route, old)).status).toBeGreaterThanOrEqual(400);
    expect(await instanceOf(card.agentId, first.instanceId)).toMatchObject({ state: "online", epoch: 2 });
  });

  test("its failure changes nothing: the task is done by the newer one", async () => {
    const first = await join(cardOf(), () => accepted);
    const caller = await bare();
    const { messageId } = await caller.request("submit", { capability: first.capability, input: "x" });
    const delivery = await first.next();
    const second = await join(first.card, () => undefined, first.identity);
    const stale = {
      messageId,
      instanceId: first.instanceId,
      epoch: 1,
      attempt: delivery.attempt,
      status: "failed",
      error: { code: "late" },
    };
    const answer = await second.wire.request("complete", stale);
    expect(answer.recorded).toBe(false);
    expect(["STALE_EPOCH", "STALE_ATTEMPT"]).toContain(answer.reason);
    const again = await second.next((d) => d.envelope.messageId === messageId);
    expect(again.attempt).toBeGreaterThan(delivery.attempt);
    second.wire.respond(again.id, completed("by the newer"));
    const task = await caller.request("task.result", { messageId, waitMs: 5_000 });
    expect(task).toMatchObject({ state: "completed", data: "by the newer" });
  });
});
