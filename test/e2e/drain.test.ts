import { afterEach, describe, expect, test } from "vitest";
import { accepted, completed, SocketAgent } from "../kit/agents.js";
import { ReachNode } from "../kit/node.js";
import { newId, Wire } from "../kit/wire.js";
import { eventually, within } from "../kit/within.js";

/** A node that is told to stop: nothing that runs is cut off, nothing new begins, and everybody is told where it stands. */
let node: ReachNode | undefined;
afterEach(async () => {
  await node?.dispose();
});

describe("DRAINING: SIGTERM", () => {
  test("lets a running call end, refuses new work, answers what comes again, closes with 4010 and exits with 0", async () => {
    node = await ReachNode.start();
    const agent = await SocketAgent.join(node.url, undefined, () => undefined);
    const caller = await Wire.open(node.url);
    const asked = { messageId: newId(), capability: agent.capability, input: 1 };
    const called = caller.request("call", asked, 20_000);
    const delivery = await agent.next();
    const submitted = { messageId: newId(), capability: agent.capability, input: 3 };
    await caller.request("submit", submitted);
    node.signal("SIGTERM");
    const { http } = node;
    await eventually(
      () => http.get("/readyz").then((answer) => answer.status),
      (status) => status === 503,
      "/readyz to say that the node is going",
    );
    const refused = await http.post("/v1/call", { capability: agent.capability, input: 2 });
    expect(refused).toMatchObject({
      status: 503,
      body: { code: "DRAINING", retryable: true, outcome: "not_executed" },
    });
    // What was asked for before is no new work, and "not executed" would be untrue of it.
    const again = caller.request("call", asked, 20_000);
    expect(await caller.request("submit", submitted)).toMatchObject({ duplicate: true });
    expect((await caller.refused("submit", { ...submitted, messageId: newId() })).code).toBe("DRAINING");
    agent.wire.respond(delivery.id, completed("finished"));
    expect([(await called).data, (await again).data]).toEqual(["finished", "finished"]);
    expect((await within(caller.closed, "the caller's socket to be closed")).code).toBe(4010);
    expect((await within(agent.wire.closed, "the agent's socket to be closed")).code).toBe(4010);
    expect(await within(node.ended, "the process to end", 15_000)).toEqual({ code: 0, signal: null });
  }, 60_000);

  test("keeps tasks that run: their results come after the restart", async () => {
    node = await ReachNode.start();
    const agent = await SocketAgent.join(node.url, undefined, () => accepted);
    const caller = await Wire.open(node.url);
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: 1 });
    const delivery = await agent.next();
    await node.restart("SIGTERM");
    const back = await SocketAgent.join(node.url, agent.card, () => accepted, agent.identity);
    const again = await Wire.open(node.url);
    const { instanceId } = agent;
    const answer = { messageId, instanceId, attempt: delivery.attempt, ...completed("after the restart") };
    expect(await back.wire.request("complete", answer)).toEqual({ recorded: true });
    expect(await again.request("task.result", { messageId, waitMs: 5_000 })).toMatchObject({
      state: "completed",
      data: "after the restart",
    });
    back.cut();
    again.cut();
  }, 60_000);
});
