import { describe, expect, test, vi } from "vitest";
import { accepted, cardOf, completed, type Delivery, echo, type SocketAgent } from "../kit/agents.js";
import { HalfOpenProxy } from "../kit/faults.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";
import { eventually, within } from "../kit/within.js";
import { useClients } from "./load.js";

/** The half of the table of the guide ("Moment by moment") that is about calls: one test for each of its cells. */
const node = useNode();
const { bare, join } = usePeers(node);
const client = useClients();
// Several starts of a node in one test take their time on a machine that has other work.
vi.setConfig({ testTimeout: 60_000 });

const unknown = { ok: false, outcome: "unknown", retryable: false };
/** An agent which says nothing by itself. */
const slow = (card: Json, agent?: SocketAgent) => join(card, () => undefined, agent?.identity);

/** A call in the hands of an agent, acknowledged or not. */
async function inHands(acknowledged: boolean, card: Json = cardOf()) {
  const agent = await slow(card);
  const { capability } = agent;
  const messageId = newId();
  const begin = async (call: () => Promise<Json>) => {
    const answered = call();
    const delivery = await agent.next((d) => d.envelope.messageId === messageId);
    if (acknowledged) {
      agent.wire.respond(delivery.id, accepted);
      await agent.heartbeat();
    }
    return { answered, delivery };
  };
  return { agent, capability, messageId, begin };
}

/** The result of the agent is with the node when this resolves. */
async function answer(agent: SocketAgent, delivery: Delivery, acknowledged: boolean, data: Json): Promise<void> {
  if (acknowledged) expect(await agent.complete(delivery, completed(data))).toEqual({ recorded: true });
  else agent.wire.respond(delivery.id, completed(data));
  await agent.heartbeat();
}

async function callerDies(acknowledged: boolean): Promise<void> {
  const { agent, capability, messageId, begin } = await inHands(acknowledged);
  const caller = await bare();
  const { delivery } = await begin(() => caller.request("call", { messageId, capability, input: 1 }));
  caller.cut();
  await within(caller.closed, "the caller to be gone");
  await answer(agent, delivery, acknowledged, "done for nobody");
  // Whoever knows the id asks again and is told, and it does not run again.
  expect(await repeated(await bare(), messageId, capability)).toBe("done for nobody");
  expect(agent.deliveries.untaken).toEqual([]);
}

const repeated = async (wire: Wire, messageId: string, capability: string): Promise<Json> =>
  (await wire.request("call", { messageId, capability, input: 1 })).data;

async function nodeDies(acknowledged: boolean): Promise<void> {
  const { agent, capability, messageId, begin } = await inHands(acknowledged);
  const { answered, delivery } = await begin(() =>
    client(node().url).callSync({ messageId, capability, input: 1, timeoutMs: 60_000 }),
  );
  await node().restart("SIGKILL");
  expect(await within(answered, "the caller to be told")).toMatchObject({ ...unknown, errorCode: "DELIVERY_TIMEOUT" });
  const back = await join(agent.card, echo, agent.identity);
  expect(await back.complete(delivery, completed("of before"))).toEqual({ recorded: false, reason: "UNKNOWN" });
  await onlyThis(back, "the first after the restart");
}

/** Nothing was delivered to the agent but this call. */
async function onlyThis(agent: SocketAgent, input: string): Promise<void> {
  expect((await (await bare()).request("call", { capability: agent.capability, input })).data).toBe(input);
  expect(agent.deliveries.untaken.map(({ envelope }) => envelope.input)).toEqual([input]);
}

async function agentDies(acknowledged: boolean): Promise<void> {
  const { agent, capability, messageId, begin } = await inHands(acknowledged);
  const { answered } = await begin(() => client(node().url).callSync({ messageId, capability, input: 1 }));
  const other = await join(cardOf({ capability: { name: capability } }), echo);
  agent.cut();
  expect(await within(answered, "the caller to be told")).toMatchObject(unknown);
  await onlyThis(other, "nobody else got it");
}

async function idempotentAgentDies(acknowledged: boolean): Promise<void> {
  const { agent, capability, messageId, begin } = await inHands(
    acknowledged,
    cardOf({ capability: { idempotent: true } }),
  );
  const { answered } = await begin(() => client(node().url).callSync({ messageId, capability, input: 1 }));
  const other = await join(cardOf({ capability: { name: capability, idempotent: true } }), echo);
  agent.cut();
  expect(await within(answered, "the answer of the other")).toMatchObject({
    ok: true,
    data: 1,
    agentId: other.agentId,
  });
  expect((await other.next()).attempt).toBe(2);
}

describe("DLV-6, RES-6: a call before it is sent", () => {
  test("the caller dies: nothing ever runs", async () => {
    const agent = await join();
    await node().kill();
    const caller = client(node().url);
    const call = caller.callAsync({ capability: agent.capability, input: "never" });
    await caller.close();
    expect(await call.result).toMatchObject({ ok: false, outcome: "not_executed" });
    await node().start();
    await onlyThis(await join(agent.card, echo, agent.identity), "the first");
  });

  test("the node dies: it goes out when the node is back", async () => {
    const agent = await join();
    await node().kill();
    const call = client(node().url).callAsync({ capability: agent.capability, input: 1 });
    await node().start();
    const back = await join(agent.card, echo, agent.identity);
    expect(await within(call.result, "the answer")).toMatchObject({ ok: true, data: 1 });
    expect((await back.next()).attempt).toBe(1);
  });

  test("the agent dies: it waits for one until the deadline, then `UNAVAILABLE`, not executed", async () => {
    const agent = await join();
    await agent.deregister();
    const called = await client(node().url).callSync({ capability: agent.capability, timeoutMs: 200 });
    expect(called).toMatchObject({ errorCode: "UNAVAILABLE", outcome: "not_executed", retryable: true });
  });
});

describe("DLV-6, RES-6: a call that waits in the node", () => {
  async function waiting(call: (capability: string) => Promise<Json>) {
    const agent = await slow(cardOf({ maxConcurrentTasks: 1 }));
    const busy = await bare();
    void busy.request("call", { capability: agent.capability, input: "busy" }, 60_000);
    const first = await agent.next();
    const answered = call(agent.capability);
    await eventually(
      async () => /^agent_reach_calls_waiting (\d+)$/m.exec((await node().http.get("/metrics")).text)?.[1],
      (count) => count === "1",
      "the call to wait in the node",
    );
    return { agent, first, answered };
  }

  test("the caller dies: it runs all the same, and the result has nobody", async () => {
    const caller = await bare();
    const { agent, first } = await waiting((capability) => caller.request("call", { capability, input: "left" }));
    caller.cut();
    await within(caller.closed, "the caller to be gone");
    agent.wire.respond(first.id, completed());
    expect((await agent.next()).envelope.input).toBe("left");
  });

  test("the node dies: outcome unknown, and it does not run", async () => {
    const { agent, answered } = await waiting((capability) =>
      client(node().url).callSync({ capability, input: "forgotten", timeoutMs: 60_000 }),
    );
    await node().restart("SIGKILL");
    expect(await within(answered, "the caller to be told")).toMatchObject(unknown);
    await onlyThis(await join(agent.card, echo, agent.identity), "the first after the restart");
  });

  test("the agent dies: it goes to the next that comes", async () => {
    const { agent, answered } = await waiting((capability) =>
      client(node().url).callSync({ capability, input: "waits" }),
    );
    agent.cut();
    const other = await join(cardOf({ capability: { name: agent.capability } }), echo);
    expect(await within(answered, "the answer")).toMatchObject({ ok: true, data: "waits", agentId: other.agentId });
  });
});

describe("DLV-6, RES-6: a call that was delivered, not acknowledged", () => {
  test("the caller dies: it runs to its end; asking again by its id gives the result without running it", () =>
    callerDies(false));
  test("the node dies: outcome unknown; it is not sent again, and a late result counts for nothing", () =>
    nodeDies(false));
  test("the agent dies: outcome unknown, and nobody else gets it", () => agentDies(false));
  test("the agent dies: if idempotent, it runs once more, with another agent", () => idempotentAgentDies(false));
});

describe("DLV-6, RES-6: a call that is worked on", () => {
  test("the caller dies: it runs to its end; asking again by its id gives the result without running it", () =>
    callerDies(true));
  test("the node dies: outcome unknown; it is not sent again, and a late result counts for nothing", () =>
    nodeDies(true));
  test("the agent dies: outcome unknown, and nobody else gets it", () => agentDies(true));
  test("the agent dies: if idempotent, it runs once more, with another agent", () => idempotentAgentDies(true));
});

describe("DLV-11, RES-6: a call that is completed, unknown to the node", () => {
  test("the caller dies: cut off and back, it joins the call and gets the result", async () => {
    const { agent, capability, messageId, begin } = await inHands(true);
    const caller = await bare();
    const { delivery } = await begin(() => caller.request("call", { messageId, capability, input: 1 }));
    caller.cut();
    await within(caller.closed, "the caller to be gone");
    const again = repeated(await bare(), messageId, capability);
    await answer(agent, delivery, true, "once");
    expect(await again).toBe("once");
    expect(agent.deliveries.untaken).toEqual([]);
  });

  // The result that the agent then brings is one of the dead node's calls, as in `nodeDies`.
  test("the node dies: outcome unknown, and the agent's result is refused as `UNKNOWN`", () => nodeDies(true));

  test("the agent dies: cut off and back within 2 s, the result that it kept counts", async () => {
    const { agent, capability, messageId, begin } = await inHands(true);
    const { answered, delivery } = await begin(() => client(node().url).callSync({ messageId, capability, input: 1 }));
    const complete = { messageId, instanceId: agent.instanceId, attempt: 1, ...completed("kept") };
    const back = await slow(agent.card, agent);
    expect(await back.wire.request("complete", complete)).toEqual({ recorded: true });
    expect(await within(answered, "the answer")).toMatchObject({ ok: true, data: "kept" });
    expect(delivery.attempt).toBe(1);
    expect(back.deliveries.untaken).toEqual([]);
  });
});

describe("DLV-11, RES-6: a call whose result is on its way", () => {
  /** A caller behind a route that carries nothing any more; the result is with the node. */
  async function onItsWay() {
    const route = await HalfOpenProxy.to(node().port);
    const caller = client(route.url);
    const { agent, capability, messageId, begin } = await inHands(false);
    const { answered, delivery } = await begin(() =>
      caller.callSync({ messageId, capability, input: 1, timeoutMs: 60_000 }),
    );
    route.blackHole();
    await answer(agent, delivery, false, "answered");
    return { route, agent, capability, messageId, answered };
  }

  test("the caller dies: cut off and back, it gets the same answer without another execution", async () => {
    const { route, agent, answered } = await onItsWay();
    route.cut();
    route.heal();
    expect(await within(answered, "the answer")).toMatchObject({ ok: true, data: "answered" });
    expect(agent.deliveries.untaken).toEqual([]);
    await route.close();
  });

  test("the node dies: outcome unknown, and it does not run again", async () => {
    const { route, agent, answered } = await onItsWay();
    await node().restart("SIGKILL");
    route.cut();
    route.heal();
    expect(await within(answered, "the caller to be told")).toMatchObject(unknown);
    await onlyThis(await join(agent.card, echo, agent.identity), "the first after the restart");
    await route.close();
  });

  test("the agent dies: the caller gets the result", async () => {
    const { route, agent, answered } = await onItsWay();
    agent.cut();
    await within(agent.wire.closed, "the agent to be gone");
    route.cut();
    route.heal();
    expect(await within(answered, "the answer")).toMatchObject({ ok: true, data: "answered" });
    await route.close();
  });
});
