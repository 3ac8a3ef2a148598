import { afterAll, afterEach, describe, expect, test } from "vitest";
import { cardOf, completed, echo } from "../kit/agents.js";
import { Ledger } from "../kit/ledger.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Program, usePrograms } from "../kit/program.js";
import { gate, within } from "../kit/within.js";
import { Load, told, useClients } from "./load.js";

/** A laptop lid, a debugger, a paused container: the process is there and says nothing, and then goes on as if nothing were. */
/** It may be stopped before it has acknowledged; here it is the lease that decides. */
const patient = { delivery: { ackTimeoutMs: 60_000 } };
const heartbeatSec = 0.4;
const ledger = new Ledger();
afterAll(() => ledger.dispose());
const program = usePrograms();

/** An agent in a process of its own, with a task in its hands. */
async function stopped(url: string, submit: (capability: string) => Promise<string>) {
  const card = cardOf();
  const capability: string = card.capabilities[0].name;
  const agent = await program("agent.mjs", { registryUrl: url, card, ledger: ledger.path, workMs: 100, tells: true });
  const messageId = await submit(capability);
  await agent.next("begin");
  agent.signal("SIGSTOP");
  return { agent, card, capability, messageId };
}

describe("LIVE-1: an agent that is stopped for less than its grace", () => {
  const node = useNode({ settings: { ...patient, lease: { heartbeatIntervalSec: 0.5, graceSec: 60 } } });
  const { bare } = usePeers(node);

  test("is suspect, and goes on under the same epoch with the work that it had, which nobody else gets", async () => {
    const [watcher, caller] = [await bare(), await bare()];
    await watcher.request("watch", {});
    const { agent, capability, messageId } = await stopped(node().url, async (name) => {
      const { messageId: id } = await caller.request("submit", { capability: name, input: {} });
      return id;
    });
    const { instanceId } = await watcher.waitFor("instance.suspect");
    expect((await caller.request("task.get", { messageId })).attempt).toBe(1);
    agent.signal("SIGCONT");
    await watcher.waitFor("instance.online", (event) => event.instanceId === instanceId);
    const task = await caller.request("task.result", { messageId, waitMs: 8_000 }, 10_000);
    expect(task).toMatchObject({ state: "completed", attempt: 1, instanceId, data: { by: agent.pid } });
    expect(ledger.byKey("begin").get(messageId)).toHaveLength(1);
    expect((await caller.request("discover", { capability })).candidates).toHaveLength(1);
  }, 40_000);
});

describe("LIVE-1, DLV-17: an agent that is stopped for longer than its grace", () => {
  const node = useNode({ settings: { ...patient, lease: { heartbeatIntervalSec: 0.5 } } });
  const { bare, join } = usePeers(node);

  test("loses its work to another, and is back by itself when it goes on; what it then says of that work changes nothing", async () => {
    const [watcher, caller] = [await bare(), await bare()];
    await watcher.request("watch", {});
    const { agent, capability, messageId } = await stopped(node().url, async (name) => {
      const { messageId: id } = await caller.request("submit", { capability: name, input: {} });
      return id;
    });
    const other = await join(cardOf({ heartbeatIntervalSec: 60, capability: { name: capability } }), echo);
    const { instanceId } = await watcher.waitFor("instance.offline");
    const task = await caller.request("task.result", { messageId, waitMs: 8_000 }, 10_000);
    expect(task).toMatchObject({ state: "completed", attempt: 2, agentId: other.agentId, data: {} });

    agent.signal("SIGCONT");
    await watcher.waitFor("instance.online", (event) => event.instanceId === instanceId);
    await agent.next("end");
    const target = { instanceId };
    const back = await caller.request("call", { capability, input: { workMs: 0 }, target });
    expect(back).toMatchObject({ instanceId, data: { by: agent.pid } });
    // Its late result went over the same connection before this answer.
    expect(await caller.request("task.get", { messageId })).toMatchObject({ state: "completed", data: {} });
    expect(ledger.byKey("begin").get(messageId)).toHaveLength(1);
  }, 40_000);
});

describe("LIVE-7: a node that is stopped for longer than every lease", () => {
  const node = useNode({ settings: { ...patient, lease: { heartbeatIntervalSec: heartbeatSec } } });
  const { bare } = usePeers(node);
  const client = useClients();
  afterEach(() => node().signal("SIGCONT"));

  test("expires nobody for its own sleep, and answers everything that was asked meanwhile", async () => {
    const watcher = await bare();
    const capability = "awake";
    const card = { agentId: "wakeful", capabilities: [{ name: capability }], maxConcurrentTasks: 20 };
    const group: Program[] = [];
    for (let n = 0; n < 3; n++)
      group.push(await program("agent.mjs", { registryUrl: node().url, card, ledger: ledger.path }));
    await watcher.request("watch", { agentId: card.agentId });
    const caller = client(node().url);
    const calls = Load.calls(caller, capability, 8);
    const tasks = Load.tasks(caller, capability, 8);
    await Promise.all([calls.more(50), tasks.more(50)]);

    node().signal("SIGSTOP");
    await beats(Math.ceil(4 / heartbeatSec), heartbeatSec * 1000);
    node().signal("SIGCONT");
    await Promise.all([calls.more(50), tasks.more(50)]);
    await Promise.all([calls.stop(), tasks.stop()]);

    expect([...calls.failures, ...tasks.failures].map(told)).toEqual([]);
    await watcher.request("ping");
    expect(watcher.notifications.untaken.map(({ params }) => params.type)).toEqual([]);
  }, 40_000);
});

describe("LIVE-7: a node that is stopped for longer than it waits for an acknowledgement", () => {
  const node = useNode({ settings: { delivery: { ackTimeoutMs: 1_500 } } });
  const { bare, join } = usePeers(node);
  afterEach(() => node().signal("SIGCONT"));

  test("takes an answer that came while it slept for what it is, and not for late", async () => {
    const caller = await bare();
    const agent = await join(cardOf({ heartbeatIntervalSec: 60 }), () => undefined);
    const called = caller.request("call", { capability: agent.capability, input: 1 }, 20_000);
    const delivery = await agent.next();
    // Nothing else is asked of it, so it is stopped while it waits for its sockets, with a timer set for the acknowledgement.
    node().signal("SIGSTOP");
    agent.wire.respond(delivery.id, completed("in time"));
    await beats(Math.ceil(2.5 / heartbeatSec), heartbeatSec * 1000);
    node().signal("SIGCONT");
    expect((await called).data).toBe("in time");
  }, 40_000);
});

/** So many heartbeats of an agent, as the time for which a node sleeps. */
function beats(count: number, intervalMs: number): Promise<void> {
  const over = gate();
  let left = count;
  const beating = setInterval(() => --left <= 0 && over.open(), intervalMs);
  return within(over.opened, `${count} heartbeats`, 20_000).finally(() => clearInterval(beating));
}
