import { describe, expect, test } from "vitest";
import { cardOf, completed } from "../kit/agents.js";
import { useBystander } from "../kit/bystander.js";
import { useNode } from "../kit/node.js";
import { call } from "../kit/payloads.js";
import { usePeers } from "../kit/peers.js";

/** Numbers that JSON does not have, and those that no double can hold. */
const node = useNode();
const { bare, join } = usePeers(node);
useBystander(node);

describe("P06: numbers that JSON does not have", () => {
  const odd = ["NaN", "Infinity", "-Infinity"];

  test.each(odd)("P06: %s in a request is refused, and the session goes on", async (number) => {
    const agent = await join();
    const caller = await bare();
    const params = `{"capability":"${agent.capability}","input":{"score":${number}}}`;
    for (const [method, body] of [
      ["call", params],
      ["submit", params],
      ["heartbeat", `{"instanceId":"${agent.instanceId}","health":${number}}`],
    ]) {
      caller.sendText(`{"jsonrpc":"2.0","id":7,"method":"${method}","params":${body}}`);
      const { json } = await caller.answers.next("the refusal");
      expect(json).toMatchObject({ id: null, error: { code: -32700, data: { code: "INVALID_REQUEST" } } });
    }
    expect(await node().http.send("POST", "/v1/call", params)).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST", outcome: "not_executed" },
    });
    expect((await caller.request("call", call(agent.capability, 1))).data).toBe(1);
    expect(agent.deliveries.untaken).toHaveLength(1);
  });

  test.each(odd)(
    "P06: a result with %s fails its own message at once, is not done again, and the agent works on",
    async (number) => {
      const caller = await bare();
      const agent = await join(cardOf(), ({ id, envelope }) => {
        if (envelope.input === "fine") return completed("fine");
        agent.wire.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"status":"completed","data":{"x":${number}}}}`);
        return undefined;
      });
      const refused = await caller.refused("call", call(agent.capability));
      expect(refused).toMatchObject({ code: "AGENT_ERROR", data: { outcome: "executed" } });
      expect(refused.message).toMatch(/not JSON/);
      const { messageId } = await caller.request("submit", { capability: agent.capability, input: {} });
      const task = await caller.request("task.result", { messageId, waitMs: 5_000 });
      expect(task).toMatchObject({ state: "failed", attempt: 1 });
      expect((await caller.request("call", call(agent.capability, "fine"))).data).toBe("fine");
      expect(agent.deliveries.untaken).toHaveLength(3);
    },
  );
});

describe("P05: numbers", () => {
  test("P05: 1e400 passes to the digit where any input is taken, and is refused where the schema wants a number", async () => {
    const agent = await join(cardOf(), () => undefined);
    const caller = await bare();
    const answer = caller.exchange("call", `{"capability":"${agent.capability}","input":{"f":1e400}}`);
    const delivery = await agent.next();
    expect(delivery.text).toContain('"input":{"f":1e400}');
    agent.wire.sendText(`{"jsonrpc":"2.0","id":${delivery.id},"result":{"status":"completed","data":{"f":-1e400}}}`);
    expect((await answer).text).toContain('"data":{"f":-1e400}');
    const strict = await join(
      cardOf({ capability: { inputSchema: { type: "object", properties: { f: { type: "number" } } } } }),
    );
    const { json } = await caller.exchange("call", `{"capability":"${strict.capability}","input":{"f":1e400}}`);
    expect(json.error.data).toMatchObject({ code: "INVALID_INPUT", path: "f" });
  });
});
