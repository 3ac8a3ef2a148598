import { describe, expect, test } from "vitest";
import { accepted, cardOf, completed } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { newId } from "../kit/wire.js";
import { eventually, within } from "../kit/within.js";

const mebibyte = 1_048_576;
const node = useNode({ settings: { session: { slowReaderBytes: 16 * mebibyte } } });
const { bare, join } = usePeers(node);

describe("RES-5: somebody who asks much and reads nothing", () => {
  test("is closed with 4009 before the node's memory grows by what it asked for; others do not notice", async () => {
    const [slow, other] = [await bare(), await bare()];
    const answer = "x".repeat(900_000);
    const agent = await join(cardOf({ maxConcurrentTasks: 50 }), () => completed(answer));
    const quick = await join();
    const before = node().residentBytes;
    slow.tcp.pause();
    let most = 0;
    // 360 MB of answers. What is asked after the node closed the connection is not read any more.
    for (let wave = 0; wave < 20; wave++) {
      for (let n = 0; n < 20; n++) {
        const params = { capability: agent.capability, input: n };
        slow.sendText(JSON.stringify({ jsonrpc: "2.0", id: newId(), method: "call", params }));
      }
      expect((await other.request("call", { capability: quick.capability, input: wave })).data).toBe(wave);
      // The agent has answered everything of this wave before its own heartbeat is answered.
      await agent.heartbeat();
      most = Math.max(most, node().residentBytes);
    }
    await eventually(
      async () => /^agent_reach_sessions (\d+)$/m.exec((await node().http.get("/metrics")).text)?.[1],
      (open) => open === "3",
      "the node to end the session of who does not read",
    );
    expect(most - before).toBeLessThan(200 * mebibyte);
    slow.tcp.resume();
    expect((await within(slow.closed, "the slow reader to be closed", 30_000)).code).toBe(4009);
    expect((await other.request("call", { capability: quick.capability, input: "after" })).data).toBe("after");
  }, 60_000);

  test("is closed the same way when it is progress that it does not read", async () => {
    const [slow, other] = [await bare(), await bare()];
    const agent = await join(cardOf(), () => accepted);
    const quick = await join();
    slow.request("call", { capability: agent.capability, input: "tell me all" }, 60_000);
    const { envelope, attempt } = await agent.next();
    slow.tcp.pause();
    const before = node().residentBytes;
    const data = "x".repeat(200_000);
    let most = 0;
    // 80 MB of partial output.
    for (let wave = 0; wave < 20; wave++) {
      for (let n = 0; n < 20; n++) agent.wire.notify("progress", { messageId: envelope.messageId, attempt, data });
      await agent.heartbeat();
      expect((await other.request("call", { capability: quick.capability, input: wave })).data).toBe(wave);
      most = Math.max(most, node().residentBytes);
    }
    expect(most - before).toBeLessThan(200 * mebibyte);
    slow.tcp.resume();
    expect((await within(slow.closed, "the slow reader to be closed", 30_000)).code).toBe(4009);
  }, 60_000);
});
