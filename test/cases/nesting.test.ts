import { describe, expect, test } from "vitest";
import { cardOf, completed, type Handler } from "../kit/agents.js";
import { useBystander } from "../kit/bystander.js";
import { useNode } from "../kit/node.js";
import { call } from "../kit/payloads.js";
import { usePeers } from "../kit/peers.js";
import { WebhookAgent } from "../kit/webhook.js";
import { newId } from "../kit/wire.js";

/** Cards and results that nest too deep; inputs are in test/e2e/framing.test.ts. */
const node = useNode();
const { bare, join, keep } = usePeers(node);
useBystander(node);

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("P08: nesting", () => {
  const depths = [65, 10_000, 100_000];
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

  test.each(depths)(
    "P08: a card or a schema of %i levels is refused over socket and HTTP, and the node goes on",
    async (depth) => {
      for (const deep of [nested(depth), objects(depth)])
        for (const card of [
          `{"agentId":"deep","extra":${deep},"capabilities":[]}`,
          `{"agentId":"deep","capabilities":[{"name":"x","inputSchema":{"const":${deep}}}]}`,
        ]) {
          const { json } = await (await bare()).exchange("register", `{"card":${card}}`);
          expect(["INVALID_REQUEST", "INVALID_CARD", "PAYLOAD_TOO_LARGE"]).toContain(json.error.data.code);
          const { status, body } = await node().http.send("POST", "/v1/agents", `{"card":${card}}`);
          expect([400, 413, 422]).toContain(status);
          expect(body.code).toBe(json.error.data.code);
        }
    },
  );

  test.each(depths)(
    "P08: a result of %i levels fails its own message at once, is not done again, and the agent works on",
    async (depth) => {
      const caller = await bare();
      const data = nested(depth);
      const answer: Handler = ({ id, envelope }) => {
        if (envelope.input === "fine") return completed("fine");
        agent.wire.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"status":"completed","data":${data}}}`);
        return undefined;
      };
      const agent = await join(cardOf(), answer);
      const webhook = keep(await WebhookAgent.answering(node(), completed(JSON.parse(nested(Math.min(depth, 1_000))))));
      for (const { capability } of [agent, webhook]) {
        expect(await caller.refused("call", call(capability))).toMatchObject({
          code: "AGENT_ERROR",
          data: { outcome: "executed", details: { code: "INVALID_ANSWER" } },
        });
        const { messageId } = await caller.request("submit", { capability, input: {} });
        expect(await caller.request("task.result", { messageId, waitMs: 5_000 })).toMatchObject({
          state: "failed",
          attempt: 1,
        });
      }
      expect((await caller.request("call", call(agent.capability, "fine"))).data).toBe("fine");
    },
  );

  test("P08: a result by complete or progress that is too deep is refused by its id", async () => {
    const agent = await join();
    const deep = `{"messageId":"${newId()}","instanceId":"${agent.instanceId}","attempt":1,"status":"completed","data":${nested(10_000)}}`;
    expect((await agent.wire.exchange("complete", deep)).json.error.data.code).toBe("INVALID_REQUEST");
    agent.wire.sendText(`{"jsonrpc":"2.0","method":"progress","params":${deep}}`);
    expect(await agent.heartbeat()).toEqual({ state: "online" });
  });
});
