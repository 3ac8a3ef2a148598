import { describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useBystander } from "../kit/bystander.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { newId } from "../kit/wire.js";

/** Text that is no good unicode. */
const node = useNode();
const { bare, join } = usePeers(node);
const bystander = useBystander(node);

describe("P10: text that is no good unicode", () => {
  const odd = {
    lone: "\ud83d",
    low: "\udc00",
    zero: "a\u0000b",
    bidi: "\u202eevil\u202c\u200f",
    cut: "ab😀".slice(0, 3),
  };

  test("P10: in card, labels, input and session of call and task comes back as it was sent, also after a restart", async () => {
    const card = cardOf({ description: odd.lone, labels: { odd: odd.bidi, lone: odd.low }, name: odd.cut });
    const agent = await join(card);
    let caller = await bare();
    const envelope = { capability: agent.capability, input: odd, sessionRef: odd.lone, labels: { odd: odd.bidi } };
    expect((await caller.request("call", envelope)).data).toEqual(odd);
    const { messageId } = await caller.request("submit", { ...envelope, idempotencyKey: `${odd.cut}${newId()}` });
    expect(await caller.request("task.result", { messageId, waitMs: 5_000 })).toMatchObject({ data: odd, input: odd });
    await node().restart();
    await bystander.comeBack();
    caller = await bare();
    expect(await caller.request("task.get", { messageId })).toMatchObject({
      state: "completed",
      data: odd,
      input: odd,
    });
    const { description, labels, name } = (await caller.request("agents.get", { agentId: agent.agentId })).card;
    expect({ description, labels, name }).toEqual({
      description: odd.lone,
      labels: { odd: odd.bidi, lone: odd.low },
      name: odd.cut,
    });
  });

  test("P10: in an id, a method, a capability and a cursor is echoed or refused, never a crash", async () => {
    const caller = await bare();
    caller.sendText(`{"jsonrpc":"2.0","id":"\\ud83d","method":"ping","params":{}}`);
    expect((await caller.answers.next("the pong")).text).toContain('"id":"\\ud83d"');
    for (const [method, params] of [
      [odd.lone, {}],
      ["discover", { capability: odd.zero }],
      ["discover", { intent: odd.bidi }],
      ["agents.get", { agentId: odd.low }],
      ["agents.list", { cursor: odd.lone }],
      ["call", { capability: odd.lone, input: odd }],
      ["task.get", { messageId: odd.zero }],
    ] as const) {
      const { json } = await caller.exchange(method, JSON.stringify(params));
      expect(json.error?.data.code, method).not.toBe("INTERNAL");
    }
  });
});
