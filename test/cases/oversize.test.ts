import { describe, expect, test } from "vitest";
import { cardOf, completed } from "../kit/agents.js";
import { useBystander } from "../kit/bystander.js";
import { useNode } from "../kit/node.js";
import { call, MB, text } from "../kit/payloads.js";
import { usePeers } from "../kit/peers.js";
import { newId } from "../kit/wire.js";
import { gate, within } from "../kit/within.js";

/** A message over the limit, and what else is on its connection. */
const node = useNode();
const { bare, join } = usePeers(node);
useBystander(node);

describe("P01: a message over the limit", () => {
  /** An agent with five calls in its hands, which end when `release` says so. */
  const busy = async () => {
    const released = gate();
    const agent = await join(cardOf({ maxConcurrentTasks: 20 }), async ({ envelope }) => {
      if (envelope.input === "held") await released.opened;
      return completed(envelope.input === "held" ? "done" : envelope.input.length);
    });
    const caller = await bare();
    const held = Array.from({ length: 5 }, () => caller.request("call", call(agent.capability, "held", 15_000)));
    for (let n = 0; n < 5; n++) await agent.next();
    return { agent, caller, held, release: released.open };
  };

  test("P01: ends alone, with limit and size, and the five in flight on its connection finish", async () => {
    const { agent, caller, held, release } = await busy();
    for (const bytes of [MB - 1, MB])
      expect((await caller.request("call", call(agent.capability, text(bytes)))).data).toBe(bytes - 2);
    for (const bytes of [MB + 1, MB + 500_000]) {
      const refused = await caller.refused("call", call(agent.capability, text(bytes)));
      expect(refused).toMatchObject({ code: "PAYLOAD_TOO_LARGE", data: { retryable: false, outcome: "not_executed" } });
      expect(refused.data.details.bytes).toBeGreaterThanOrEqual(bytes);
      expect(refused.data.details.bytesMax).toBeGreaterThanOrEqual(MB);
      expect(refused.message).toContain(String(refused.data.details.bytesMax));
    }
    release();
    for (const { data } of await Promise.all(held)) expect(data).toBe("done");
  });

  test("P01: of 50 MB closes with 1009, and who resumes gets the answers of the five that were in flight", async () => {
    const { agent, caller, release } = await busy();
    const messageId = newId();
    caller.request("call", { ...call(agent.capability, "held", 15_000), messageId });
    await agent.next();
    caller.sendText(`{"jsonrpc":"2.0","id":1,"method":"call","params":{"input":"${text(50 * MB)}"}}`);
    expect((await within(caller.closed, "the close")).code).toBe(1009);
    const again = await bare({ hello: { resume: { sessionId: caller.session.sessionId } } });
    const answer = again.request("call", { ...call(agent.capability, "held", 15_000), messageId });
    release();
    expect((await answer).data).toBe("done");
    expect(agent.deliveries.untaken.filter(({ envelope }) => envelope.messageId === messageId)).toEqual([]);
  });

  test("P01: a result over the limit fails its own call, and the five that the agent has in hand finish", async () => {
    const { agent, caller, held, release } = await busy();
    agent.wire.handle("deliver", ({ envelope }) => completed(text(envelope.input.bytes)));
    expect((await caller.request("call", call(agent.capability, { bytes: MB }))).data.length).toBe(MB - 2);
    for (const bytes of [MB + 1, MB + 500_000])
      expect(await caller.refused("call", call(agent.capability, { bytes }))).toMatchObject({
        code: "PAYLOAD_TOO_LARGE",
        data: { retryable: false, outcome: "executed" },
      });
    release();
    for (const { data } of await Promise.all(held)) expect(data).toBe("done");
  });
});
