import { AgentReachClient, type HandlerContext } from "@agent-reach/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { accepted } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { newId } from "../kit/wire.js";
import { gate, within } from "../kit/within.js";

const node = useNode();
const peers = usePeers(node);

describe("DLV-14: cancel goes down the chain", () => {
  const clients: AgentReachClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const client = () => {
    const made = new AgentReachClient({ registryUrl: node().url, logger: quiet });
    clients.push(made);
    return made;
  };
  const agent = async (capability: string, handler: (context: HandlerContext) => unknown) => {
    const made = client();
    made.register({ agentId: `${capability}-agent`, capabilities: [{ name: capability, idempotent: true }] });
    made.onCapability(capability, (_, context) => handler(context));
    await made.start();
  };

  test("over bare sockets: each agent hears it of its own message, and each caller that it was canceled", async () => {
    const [middle, leaf] = [await peers.join(undefined, () => accepted), await peers.join(undefined, () => accepted)];
    const caller = await peers.bare();
    const messageId = newId();
    const asked = caller.refused("call", { messageId, capability: middle.capability, input: {} });
    await middle.next();
    const nestedId = newId();
    const nested = middle.wire.refused("call", {
      messageId: nestedId,
      parentId: messageId,
      capability: leaf.capability,
      input: {},
    });
    await leaf.next();
    await caller.request("task.cancel", { messageId, reason: "never mind" });
    expect(await asked).toMatchObject({ code: "CANCELED", data: { outcome: "unknown" } });
    expect(await nested).toMatchObject({
      code: "CANCELED",
      rpc: -32022,
      data: { outcome: "unknown", retryable: false, details: { parentId: messageId, parentCode: "CANCELED" } },
    });
    for (const [of, id] of [
      [middle, messageId],
      [leaf, nestedId],
    ] as const)
      expect(await of.wire.notifications.next("a cancel")).toMatchObject({
        method: "cancel",
        params: { messageId: id, attempt: 1 },
      });
    const late = await middle.wire.refused("call", { parentId: messageId, capability: leaf.capability, input: {} });
    expect(late).toMatchObject({ code: "CANCELED", data: { outcome: "not_executed" } });
  });

  test.each(["call", "task"])(
    "of a %s through agents of the SDK: their handlers are aborted down to the last",
    async (kind) => {
      const begun = gate();
      const stopped: string[] = [];
      const ended = gate();
      const untilAborted = (name: string, { signal }: HandlerContext) =>
        new Promise<void>((done) =>
          signal.addEventListener("abort", () => {
            stopped.push(`${name}: ${signal.reason.reason}`);
            if (stopped.length === 3) ended.open();
            done();
          }),
        );
      await agent(`leaf_of_${kind}`, (context) => {
        begun.open();
        return untilAborted("leaf", context);
      });
      await agent(`middle_of_${kind}`, (context) => {
        void context.call({ capability: `leaf_of_${kind}`, input: {} });
        return untilAborted("middle", context);
      });
      await agent(`top_of_${kind}`, (context) => {
        void context.call({ capability: `middle_of_${kind}`, input: {} });
        return untilAborted("top", context);
      });
      const caller = client();
      const asked = { capability: `top_of_${kind}`, input: {} };
      const call = kind === "call" ? caller.callAsync(asked) : undefined;
      const task = kind === "task" ? caller.submit(asked) : undefined;
      await within(begun.opened, "the leaf");
      await (call ?? task)!.cancel("never mind");
      expect(await (call?.result ?? task!.result())).toMatchObject({ errorCode: "CANCELED" });
      await within(ended.opened, "all handlers to be aborted");
      expect(stopped.sort()).toEqual(["leaf: cancel", "middle: cancel", "top: cancel"]);
    },
  );
});
