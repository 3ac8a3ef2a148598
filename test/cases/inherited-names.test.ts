import { describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useBystander } from "../kit/bystander.js";
import { useNode } from "../kit/node.js";
import { call } from "../kit/payloads.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId } from "../kit/wire.js";

/** Names that objects inherit, as keys of data. */
const node = useNode();
const { bare, join } = usePeers(node);
useBystander(node);

describe("P07: names that objects inherit", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

  test.each(names)(
    "P07: %s as label, tag and unknown field of a card is kept as plain data and found",
    async (name) => {
      const caller = await bare();
      const capability = `odd_${newId()}`;
      const body = `{"agentId":"odd-${newId()}","labels":{"${name}":"yes"},"${name}x":{"${name}":{"deep":1}},"capabilities":[{"name":"${capability}","tags":["${name}"]}]}`;
      const agent = await join(JSON.parse(body));
      const shown = await caller.exchange("agents.get", JSON.stringify({ agentId: agent.agentId }));
      expect(shown.text).toContain(`"labels":{"${name}":"yes"}`);
      expect(shown.text).toContain(`"${name}x":{"${name}":{"deep":1}}`);
      for (const asked of [`{"tags":["${name}"]}`, `{"capability":"${capability}","labels":{"${name}":"yes"}}`]) {
        const { json } = await caller.exchange("discover", asked);
        expect(
          json.result.candidates.map((c: Json) => c.agentId),
          asked,
        ).toContain(agent.agentId);
      }
      const { json: none } = await caller.exchange(
        "discover",
        `{"capability":"${capability}","labels":{"${name}":"no"}}`,
      );
      expect(none.result.candidates).toEqual([]);
    },
  );

  test("P07: an agentId of __proto__ is refused by its path, and labels that nobody set are nobody's", async () => {
    const caller = await bare();
    expect(await caller.refused("register", { card: { agentId: "__proto__", capabilities: [] } })).toMatchObject({
      code: "INVALID_CARD",
      data: { path: "agentId" },
    });
    const agent = await join();
    for (const name of ["constructor", "toString", "__proto__"]) {
      const asked = `{"capability":"${agent.capability}","labels":{"${name}":"x"}}`;
      expect((await caller.exchange("discover", asked)).json.result.candidates).toEqual([]);
    }
  });

  /** Values that throw when somebody takes them for text. */
  const hostile = '{"toString":1,"valueOf":1,"toJSON":1}';
  test.each([
    `"result":{"status":"failed","error":{"code":${hostile},"message":${hostile}}}`,
    `"result":{"status":"failed","error":${hostile}}`,
    `"result":{"status":"completed","data":${hostile},"receipt":${hostile}}`,
    `"result":{"status":${hostile}}`,
    `"result":${hostile}`,
    `"error":{"code":${hostile},"message":${hostile},"data":${hostile}}`,
    `"error":${hostile}`,
  ])("P07: an agent whose answer is {%s} ends its own message, and the node lives", async (answer) => {
    const caller = await bare();
    const agent = await join(cardOf(), ({ id }) => {
      agent.wire.sendText(`{"jsonrpc":"2.0","id":${id},${answer}}`);
      return undefined;
    });
    const { json } = await caller.exchange("call", JSON.stringify(call(agent.capability, {}, 3_000)));
    expect("result" in json !== "error" in json).toBe(true);
    expect(json.error?.data.code).not.toBe("DELIVERY_TIMEOUT");
    expect(await agent.heartbeat()).toEqual({ state: "online" });
  });
});
