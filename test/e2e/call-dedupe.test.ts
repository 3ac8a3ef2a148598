import { beforeEach, describe, expect, test } from "vitest";
import { accepted, cardOf, completed, failed, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { newId, type Wire } from "../kit/wire.js";

/** DLV-7 and "Resume", "Dedupe" of the protocol: a request that is repeated is one request. */
const node = useNode();
const { bare, join } = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await bare();
});
/** Deliveries which the agent got besides those a test took, once a fence has passed. */
const others = async (agent: SocketAgent): Promise<number> => {
  const fence = newId();
  void caller.request("call", { capability: agent.capability, input: fence }).catch(() => {});
  const delivery = await agent.next((d) => d.envelope.input === fence);
  agent.wire.respond(delivery.id, completed());
  return agent.deliveries.untaken.length;
};

describe("DLV-7: a repeated call", () => {
  test("that runs attaches: one execution, the same answer to both", async () => {
    const agent = await join(cardOf(), () => undefined);
    const params = { messageId: newId(), capability: agent.capability, input: { a: 1, b: 2 } };
    const first = caller.request("call", params);
    const delivery = await agent.next();
    const second = (await bare()).request("call", { ...params, input: { b: 2, a: 1 } });
    expect(await others(agent)).toBe(0);
    agent.wire.respond(delivery.id, completed("once"));
    expect((await first).data).toBe("once");
    expect((await second).data).toBe("once");
  });

  test("DLV-11: from a caller that reconnected gets the result of the first", async () => {
    const agent = await join(cardOf(), () => accepted);
    const gone = await bare();
    const params = { messageId: newId(), capability: agent.capability, input: 1 };
    gone.request("call", params).catch(() => {});
    const delivery = await agent.next();
    gone.cut();
    const again = caller.request("call", params);
    await agent.complete(delivery, completed("kept"));
    expect((await again).data).toBe("kept");
  });

  test("that is settled gets the same answer without another execution", async () => {
    const agent = await join();
    const params = { messageId: newId(), capability: agent.capability, input: 1 };
    const first = await caller.request("call", params);
    const second = await (await bare()).request("call", params);
    expect(second).toEqual(first);
    await agent.next();
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("by idempotencyKey is the same request under another messageId", async () => {
    const agent = await join();
    const params = { idempotencyKey: `key-${newId()}`, capability: agent.capability, input: 1 };
    const first = await caller.request("call", { ...params, messageId: newId() });
    const second = await caller.request("call", { ...params, messageId: newId() });
    expect(second.data).toEqual(first.data);
    await agent.next();
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("that ended with the agent's no gets the same no without another execution, over another connection too", async () => {
    const agent = await join(cardOf(), () => failed("FIRST"));
    const params = { messageId: newId(), capability: agent.capability, input: 1 };
    const first = await caller.refused("call", params);
    const second = await (await bare()).refused("call", params);
    expect(second).toEqual(first);
    expect(second).toMatchObject({ code: "AGENT_ERROR", data: { outcome: "executed", details: { code: "FIRST" } } });
    await agent.next();
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("with other content is CONFLICT: input, capability or target", async () => {
    const [agent, other] = [await join(), await join()];
    const params = { messageId: newId(), capability: agent.capability, input: 1 };
    await caller.request("call", params);
    for (const change of [
      { input: 2 },
      { input: "1" },
      { capability: other.capability },
      { target: { agentId: agent.agentId } },
    ]) {
      expect(await caller.refused("call", { ...params, ...change })).toMatchObject({
        code: "CONFLICT",
        rpc: -32023,
        data: { retryable: false, outcome: "not_executed" },
      });
    }
  });

  test("of another principal: a messageId is FORBIDDEN, a key is simply theirs", async () => {
    const agent = await join();
    const [one, two] = [await join(), await join()];
    const params = { messageId: newId(), capability: agent.capability, input: 1 };
    await one.wire.request("call", params);
    expect(await two.wire.refused("call", params)).toMatchObject({ code: "FORBIDDEN", rpc: -32003 });
    const keyed = { idempotencyKey: `k-${newId()}`, capability: agent.capability, input: 2 };
    await one.wire.request("call", keyed);
    await two.wire.request("call", keyed);
    expect(agent.deliveries.untaken.filter((d) => d.envelope.input === 2)).toHaveLength(2);
  });

  test("after a business error may run again under an id of its own: only success counts", async () => {
    let n = 0;
    const agent = await join(cardOf(), () => (n++ === 0 ? failed("FIRST") : completed("second")));
    const params = { idempotencyKey: `k-${newId()}`, capability: agent.capability, input: 1 };
    expect(await caller.refused("call", { ...params, messageId: newId() })).toMatchObject({ code: "AGENT_ERROR" });
    expect((await caller.request("call", { ...params, messageId: newId() })).data).toBe("second");
  });

  test("numbers that differ only beyond 2^53 are other content", async () => {
    const agent = await join();
    const messageId = newId();
    const params = (n: string) => `{"messageId":"${messageId}","capability":"${agent.capability}","input":${n}}`;
    expect((await caller.exchange("call", params("9007199254740993"))).json.error).toBeUndefined();
    expect((await caller.exchange("call", params("9007199254740992"))).json.error?.data.code).toBe("CONFLICT");
  });
});
