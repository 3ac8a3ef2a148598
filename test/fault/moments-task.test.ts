import { describe, expect, test, vi } from "vitest";
import { accepted, cardOf, completed, type Delivery, echo, type SocketAgent } from "../kit/agents.js";
import { HalfOpenProxy } from "../kit/faults.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId } from "../kit/wire.js";
import { gate, within } from "../kit/within.js";
import { useClients } from "./load.js";

/** The half of the table of the guide ("Moment by moment") that is about tasks: one test for each of its cells. */
const node = useNode({ settings: { delivery: { lostGraceMs: 200 } } });
const { bare, join } = usePeers(node);
const client = useClients();
// Several starts of a node in one test take their time on a machine that has other work.
vi.setConfig({ testTimeout: 60_000 });

/** An agent which says nothing by itself. */
const slow = (card: Json, agent?: SocketAgent) => join(card, () => undefined, agent?.identity);

/** The task when it has ended, as anybody sees it who knows its id. */
async function ended(messageId: string): Promise<Json> {
  return (await bare()).request("task.result", { messageId, waitMs: 15_000 }, 20_000);
}

/** A task in the hands of an agent, acknowledged or not. */
async function inHands(acknowledged: boolean) {
  const agent = await slow(cardOf());
  const { capability } = agent;
  const caller = await bare();
  const { messageId } = await caller.request("submit", { capability, input: 1 });
  const delivery = await agent.next();
  if (acknowledged) {
    agent.wire.respond(delivery.id, accepted);
    await agent.heartbeat();
  }
  return { agent, capability, caller, messageId, delivery };
}

/** The result of the agent is with the node when this resolves. */
async function answer(agent: SocketAgent, delivery: Delivery, acknowledged: boolean): Promise<void> {
  if (acknowledged) expect(await agent.complete(delivery, completed("once"))).toEqual({ recorded: true });
  else agent.wire.respond(delivery.id, completed("once"));
  await agent.heartbeat();
}

async function callerDies(acknowledged: boolean): Promise<void> {
  const { agent, caller, messageId, delivery } = await inHands(acknowledged);
  caller.cut();
  await within(caller.closed, "the caller to be gone");
  await answer(agent, delivery, acknowledged);
  expect(await ended(messageId)).toMatchObject({ state: "completed", data: "once", attempt: 1 });
  expect(agent.deliveries.untaken).toEqual([]);
}

async function nodeDies(acknowledged: boolean): Promise<void> {
  const { agent, messageId } = await inHands(acknowledged);
  await node().restart("SIGKILL");
  await join(agent.card, echo, agent.identity);
  expect(await ended(messageId)).toMatchObject({ state: "completed", data: 1, attempt: 2 });
}

async function agentDies(acknowledged: boolean): Promise<void> {
  const { agent, capability, messageId } = await inHands(acknowledged);
  const other = await join(cardOf({ capability: { name: capability } }), echo);
  agent.cut();
  expect(await ended(messageId)).toMatchObject({ state: "completed", data: 1, attempt: 2, agentId: other.agentId });
}

/** A capability that is known, and nobody who could do it now. */
async function nobodyFor(): Promise<SocketAgent> {
  const agent = await join();
  await agent.deregister();
  agent.cut();
  return agent;
}

describe("DLV-2, RES-6: a task before it is sent", () => {
  test("the caller dies: nothing is stored and nothing runs", async () => {
    const agent = await join();
    await node().kill();
    const caller = client(node().url);
    const task = caller.submit({ capability: agent.capability, input: "never" });
    await caller.close();
    expect(await task.accepted).toMatchObject({ ok: false, outcome: "not_executed" });
    await node().start();
    const back = await join(agent.card, echo, agent.identity);
    const { messageId } = await (await bare()).request("submit", { capability: agent.capability, input: "first" });
    expect(await ended(messageId)).toMatchObject({ state: "completed" });
    expect(back.deliveries.untaken.map(({ envelope }) => envelope.input)).toEqual(["first"]);
  });

  test("the node dies: it is submitted when the node is back, and done once", async () => {
    const agent = await join();
    await node().kill();
    const task = client(node().url).submit({ capability: agent.capability, input: 1 });
    await node().start();
    const back = await join(agent.card, echo, agent.identity);
    expect(await within(task.result(), "the result", 15_000)).toMatchObject({ state: "completed", data: 1 });
    expect(back.deliveries.untaken).toHaveLength(1);
  });

  test("the agent dies: it is accepted, waits, and spends no attempt", async () => {
    const agent = await nobodyFor();
    const task = client(node().url).submit({ capability: agent.capability, input: 1 });
    expect(await task.accepted).toMatchObject({ ok: true, state: "queued" });
    await join(agent.card, echo, agent.identity);
    expect(await ended(task.messageId)).toMatchObject({ state: "completed", attempt: 1 });
  });
});

describe("DLV-7, RES-6: a task that waits in the node", () => {
  test("the caller dies: it is done; the same key submitted by the next run is the same task", async () => {
    const agent = await slow(cardOf());
    const envelope = { capability: agent.capability, input: 1, idempotencyKey: newId() };
    const caller = await bare();
    caller.tcp.pause();
    void caller.request("submit", envelope, 60_000);
    // Delivered, so it is stored; and the caller has read nothing.
    const delivery = await agent.next();
    caller.cut();
    agent.wire.respond(delivery.id, completed("once"));
    await agent.heartbeat();
    const again = await (await bare()).request("submit", envelope);
    expect(again).toMatchObject({ duplicate: true, messageId: delivery.envelope.messageId });
    expect(await ended(again.messageId)).toMatchObject({ state: "completed", data: "once", attempt: 1 });
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("the node dies: if unanswered, the SDK submits it again under the same id; it is done once", async () => {
    const agent = await nobodyFor();
    const task = client(node().url).submit({ capability: agent.capability, input: 1 });
    await node().restart("SIGKILL");
    expect(await within(task.accepted, "the submit to be answered")).toMatchObject({ ok: true });
    const back = await join(agent.card, echo, agent.identity);
    expect(await within(task.result(), "the result", 15_000)).toMatchObject({ state: "completed", data: 1 });
    expect(back.deliveries.untaken.map(({ envelope }) => envelope.messageId)).toEqual([task.messageId]);
  });

  test("the agent dies: it goes to whoever comes, and costs no attempt", async () => {
    const agent = await slow(cardOf({ maxConcurrentTasks: 1 }));
    const caller = await bare();
    const { capability } = agent;
    await caller.request("submit", { capability, input: "busy" });
    await agent.next();
    const { messageId } = await caller.request("submit", { capability, input: "waits" });
    agent.cut();
    const other = await join(cardOf({ capability: { name: capability } }), echo);
    expect(await ended(messageId)).toMatchObject({ state: "completed", attempt: 1, agentId: other.agentId });
  });
});

describe("DLV-8, RES-6: a task that was delivered, not acknowledged", () => {
  test("the caller dies: it goes on, and the result waits for whoever asks", () => callerDies(false));
  test("the node dies: it goes out again as the next attempt when its instance registers anew", () => nodeDies(false));
  test("the agent dies: it goes out again as the next attempt, to whoever is able", () => agentDies(false));
});

describe("DLV-8, RES-6: a task that is worked on", () => {
  test("the caller dies: it goes on, and the result waits for whoever asks", () => callerDies(true));
  test("the node dies: it goes out again as the next attempt when its instance registers anew", () => nodeDies(true));
  test("the agent dies: it goes out again as the next attempt, to whoever is able", () => agentDies(true));
});

describe("DLV-11, RES-6: a task that is completed, unknown to the node", () => {
  // An agent that has completed it says so to the node, not to the caller: nothing is different from the row above.
  test("the caller dies: the result is taken, and waits for whoever asks", () => callerDies(true));

  test("the node dies: an SDK agent hands the result over afterwards, and does not run it again", async () => {
    const card = cardOf();
    const capability: string = card.capabilities[0].name;
    const agent = client(node().url);
    const [begun, allowed] = [gate(), gate<string>()];
    let runs = 0;
    agent.register(card);
    agent.onCapability(capability, () => {
      runs++;
      begun.open();
      return allowed.opened;
    });
    await agent.start();
    const { messageId } = await (await bare()).request("submit", { capability, input: 1 });
    await within(begun.opened, "the handler to begin");
    await node().kill("SIGKILL");
    allowed.open("made in the dark");
    await node().start();
    expect(await ended(messageId)).toMatchObject({ state: "completed", data: "made in the dark" });
    // Whatever else was delivered of it was answered from memory.
    const next = await (await bare()).request("call", { capability, input: 2 });
    expect(next.data).toBe("made in the dark");
    expect(runs).toBe(2);
  });

  test("the agent dies: cut off and back, the result that it kept settles it, and a newer attempt is cancelled", async () => {
    const { agent, capability, messageId, delivery } = await inHands(true);
    const other = await slow(cardOf({ capability: { name: capability } }));
    agent.cut();
    expect((await other.next()).attempt).toBe(2);
    const { instanceId } = agent;
    const back = await slow(agent.card, agent);
    const kept = { messageId, instanceId, attempt: delivery.attempt, ...completed("kept") };
    expect(await back.wire.request("complete", kept)).toEqual({ recorded: true });
    expect(await ended(messageId)).toMatchObject({ state: "completed", data: "kept" });
    expect(await other.wire.nextNotification("cancel")).toMatchObject({ messageId, attempt: 2 });
  });
});

describe("DLV-11, RES-6: a task whose result is on its way", () => {
  /** A caller behind a route that carries nothing any more; the result is with the node. */
  async function onItsWay() {
    const route = await HalfOpenProxy.to(node().port);
    const agent = await slow(cardOf());
    const task = client(route.url).submit({ capability: agent.capability, input: 1 });
    await task.accepted;
    const told = task.result();
    const delivery = await agent.next();
    route.blackHole();
    await answer(agent, delivery, false);
    const back = async () => {
      route.cut();
      route.heal();
      expect(await within(told, "the result", 15_000)).toMatchObject({ state: "completed", data: "once" });
      await route.close();
    };
    return { agent, back };
  }

  test("the caller dies: cut off and back, it is told", async () => {
    const { agent, back } = await onItsWay();
    await back();
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("the node dies: the caller is told after the restart, and nothing runs again", async () => {
    const { agent, back } = await onItsWay();
    await node().restart("SIGKILL");
    const again = await slow(agent.card, agent);
    await back();
    await again.heartbeat();
    expect(again.deliveries.untaken).toEqual([]);
  });

  test("the agent dies: the caller is told, and nothing runs again", async () => {
    const { agent, back } = await onItsWay();
    agent.cut();
    await within(agent.wire.closed, "the agent to be gone");
    await back();
  });
});
