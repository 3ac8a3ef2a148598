import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { cardOf, SocketAgent } from "../kit/agents.js";
import { SmallDisk } from "../kit/faults.js";
import { ReachNode } from "../kit/node.js";
import { type Json, newId, Wire, WireError } from "../kit/wire.js";
import { eventually } from "../kit/within.js";

let node: ReachNode | undefined;
let disk: SmallDisk | undefined;
afterEach(async () => {
  await node?.dispose();
  disk?.dispose();
});

describe("F04, RES-6: a full disk", () => {
  test("refuses submits and registrations with NOT_READY (REG-11), serves calls, loses nothing, and recovers when space returns", async () => {
    disk = new SmallDisk(20);
    node = await ReachNode.start({ dataDir: join(disk.path, "data") });
    const agent = await SocketAgent.join(node.url, cardOf({ maxConcurrentTasks: 50 }));
    const caller = await Wire.open(node.url);
    const submit = (messageId: string, input: Json): Promise<Json> =>
      caller.request("submit", { messageId, capability: agent.capability, input }, 20_000);
    const answered: string[] = [];
    const before = newId();
    await submit(before, "before");
    answered.push(before);

    disk.fill();
    // What the log of the store has reserved may still hold a little: go on, with less and less, until it says no to all.
    const ballast = "x".repeat(100_000);
    let refusal: WireError | undefined;
    for (const bytes of [100_000, 10_000, 1_000, 10]) {
      refusal = undefined;
      for (let n = 0; n < 300 && refusal === undefined; n++) {
        const messageId = newId();
        try {
          await submit(messageId, ballast.slice(0, bytes));
          answered.push(messageId);
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
          refusal = error;
        }
      }
    }
    expect(refusal).toMatchObject({
      code: "NOT_READY",
      rpc: -32009,
      data: { retryable: true, outcome: "not_executed" },
    });
    expect(refusal!.message).toMatch(/full|space|disk/i);
    const overHttp = await node.http.post("/v1/tasks", { capability: agent.capability, input: ballast });
    expect(overHttp).toMatchObject({
      status: 503,
      body: { code: "NOT_READY", retryable: true, outcome: "not_executed" },
    });

    // REG-11: a store that cannot write is an error of its own, never "unknown agent" and never an empty list.
    const late = await Wire.open(node.url);
    expect(
      await late.refused("register", { card: cardOf({ description: ballast.slice(0, 8_000) }) }, 20_000),
    ).toMatchObject({ code: "NOT_READY" });
    late.cut();
    expect((await caller.request("agents.list", {})).agents.map((a: Json) => a.agentId)).toContain(agent.agentId);

    for (let n = 0; n < 50; n++)
      expect((await caller.request("call", { capability: agent.capability, input: n })).data).toBe(n);
    // Results that the agent gave are not on disk, so nothing is answered over its connection, which would acknowledge them
    // (DLV-11); its heartbeat counts all the same.
    const heartbeat = agent.heartbeat();
    expect((await caller.request("agents.get", { agentId: agent.agentId })).state).toBe("online");

    disk.free();
    expect((await heartbeat).state).toBe("online");
    const after = newId();
    await eventually(
      () => submit(after, "after").catch((error: Json) => error.code),
      (answer) => answer !== "NOT_READY",
      "submits to be taken again after space returned",
      20_000,
    );
    answered.push(after);
    for (const messageId of answered) {
      const task = await caller.request("task.result", { messageId, waitMs: 15_000 }, 20_000);
      expect(task.state).toBe("completed");
    }
    agent.cut();
    caller.cut();
  }, 90_000);
});
