import { execFile } from "node:child_process";
import { join as path } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { cardOf, completed, type Handler } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { root } from "../kit/sources.js";
import type { Json, Wire } from "../kit/wire.js";

/** RES-1, RES-2 on a real node. Acknowledgements are due within 150 ms here. */
const node = useNode({ settings: { delivery: { ackTimeoutMs: 150 } } });
const off = useNode({ settings: { delivery: { ackTimeoutMs: 150 }, breaker: { enabled: false } } });
const { bare, join } = usePeers(node);
const elsewhere = usePeers(off);
const program = path(root, "packages/cli/bin/agent-reach.js");
const cli = async (...args: string[]): Promise<string> => {
  const env = { ...process.env, NO_COLOR: "1" };
  const url = `http://127.0.0.1:${node().port}`;
  return (await promisify(execFile)(process.execPath, [program, ...args, "--url", url], { env })).stdout;
};

/** Answers, or is silent, as long as the test says. */
class Moody {
  well = false;
  readonly handler: Handler = () => (this.well ? completed("well") : undefined);
}
const tenCalls = (caller: Wire, capability: string): Promise<Json[]> =>
  Promise.all(Array.from({ length: 10 }, () => caller.refused("call", { capability, input: 1 })));

describe("RES-1: a breaker", () => {
  test("opens for an agent that hangs, is shown in every view, and closes when a probe succeeds", async () => {
    const events = await node().http.events("/v1/events");
    const change = (type: string) => events.events.next(type, (e) => e.data?.type === type);
    const caller = await bare();
    const mood = new Moody();
    const agent = await join(cardOf(), mood.handler);
    const { capability, agentId } = agent;

    for (const error of await tenCalls(caller, capability))
      expect(error).toMatchObject({ code: "DELIVERY_TIMEOUT", data: { outcome: "unknown" } });
    expect((await change("breaker.open")).data).toMatchObject({
      agentId,
      capability,
      trigger: "failures",
      failures: 10,
      outcomes: 10,
      lastFailure: "DELIVERY_TIMEOUT",
    });
    const before = agent.deliveries.untaken.length;
    const error = await caller.refused("call", { capability, input: 1 });
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      data: { retryable: true, outcome: "not_executed", details: { waitedFor: [{ agentId, why: "breaker_open" }] } },
    });
    expect(error.data.retryAfterMs).toBeGreaterThan(0);
    expect(agent.deliveries.untaken).toHaveLength(before);

    const { body } = await node().http.get(`/v1/agents/${agentId}`);
    expect(body.instances[0].breakers).toMatchObject([{ capability, state: "open", lastFailure: "DELIVERY_TIMEOUT" }]);
    const found = await caller.request("discover", { capability });
    expect(found).toMatchObject({ verdict: "unavailable", misses: [{ agentId, why: "breaker_open" }] });
    const { text } = await node().http.get("/metrics");
    expect(text).toContain('agent_reach_breakers{state="open"} 1');
    expect(text).toContain("agent_reach_breakers_opened_total 1");
    // A command takes its time, and the cool-down may be over meanwhile.
    const row = `${capability} +(open|half-open) +10 of 10 failed, last DELIVERY_TIMEOUT`;
    expect(await cli("agent", agentId)).toMatch(new RegExp(row));
    expect(await cli("agents")).toMatch(new RegExp(`${agentId} +online, 1 broken`));
    expect(node().stderr).toContain("breaker open");

    mood.well = true;
    const task = await caller.request("submit", { capability, input: 1 });
    await change("breaker.half_open");
    expect((await change("breaker.closed")).data).toMatchObject({ agentId, trigger: "probe_succeeded" });
    const { messageId } = task;
    expect(await caller.request("task.result", { messageId, waitMs: 9_000 })).toMatchObject({
      state: "completed",
      attempt: 1,
    });
    expect(await cli("why", messageId)).toContain("as a probe of whether it is well again");
    expect(await caller.request("call", { capability, input: 1 })).toMatchObject({ data: "well" });
    expect((await node().http.get(`/v1/agents/${agentId}`)).body.instances[0]).not.toHaveProperty("breakers");
    events.close();
  });

  test("begins closed again when the agent registers anew", async () => {
    const caller = await bare();
    const mood = new Moody();
    const agent = await join(cardOf(), mood.handler);
    await tenCalls(caller, agent.capability);
    expect(await caller.refused("call", { capability: agent.capability, input: 1 })).toMatchObject({
      code: "UNAVAILABLE",
    });
    mood.well = true;
    await join(agent.card, mood.handler, agent.identity);
    expect(await caller.request("call", { capability: agent.capability, input: 1 })).toMatchObject({ data: "well" });
  });

  test("is not there when it is switched off", async () => {
    const caller = await elsewhere.bare();
    const mood = new Moody();
    const agent = await elsewhere.join(cardOf(), mood.handler);
    await tenCalls(caller, agent.capability);
    mood.well = true;
    expect(await caller.request("call", { capability: agent.capability, input: 1 })).toMatchObject({ data: "well" });
  });
});

test("ROUTE-7: `why` tells of a second attempt what the first one ended in, and why another instance has it", async () => {
  const caller = await bare();
  const card = cardOf({ capability: { idempotent: true } });
  const silent = await join(card, () => undefined);
  const called = caller.request("call", { capability: silent.capability, input: 1 });
  await silent.next();
  const other = await join({ ...cardOf(), capabilities: card.capabilities }, () => completed("second"));
  const { messageId, agentId } = await called;
  expect(agentId).toBe(other.agentId);
  const { body } = await node().http.get(`/v1/messages/${messageId}`);
  expect(body.decisions.at(-1).previous).toEqual({
    attempt: 1,
    agentId: silent.agentId,
    instanceId: silent.instanceId,
    outcome: "no_ack",
    moved: true,
    verdict: "cool_down",
  });
  expect(await cli("why", messageId)).toContain(
    `another instance than before: attempt 1 ended as no ack, and ${silent.agentId} (${silent.instanceId.slice(-8)}) is passed over`,
  );
});
