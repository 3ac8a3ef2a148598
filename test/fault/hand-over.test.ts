import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { Ledger } from "../kit/ledger.js";
import { useNode } from "../kit/node.js";
import { usePrograms } from "../kit/program.js";
import { Wire } from "../kit/wire.js";
import { gate, within } from "../kit/within.js";
import { useClients } from "./load.js";

const node = useNode();
const program = usePrograms();
const client = useClients();
const ledger = new Ledger();
afterAll(() => ledger.dispose());

describe("LIVE-9, DLV-11: an agent whose work ends while the node is away", () => {
  test("keeps the result and hands it over when the node is back; it was executed once", async () => {
    const card = cardOf();
    const capability: string = card.capabilities[0].name;
    const agent = client(node().url);
    const [begun, allowed] = [gate(), gate<string>()];
    const returned = gate();
    let runs = 0;
    agent.register(card);
    agent.onCapability(capability, async () => {
      runs++;
      begun.open();
      const result = await allowed.opened;
      returned.open();
      return result;
    });
    await agent.start();
    const task = client(node().url).submit({ capability, input: {} });
    expect((await task.accepted).ok).toBe(true);
    await within(begun.opened, "the handler");
    await node().kill("SIGKILL");
    allowed.open("made in the dark");
    await within(returned.opened, "the handler to return");
    await node().start();
    const outcome = await within(task.result(), "the result", 14_000);
    expect(outcome).toMatchObject({ state: "completed", data: "made in the dark" });
    // It may have been delivered again before it was handed over; an agent that stayed alive knows what it did.
    expect(runs).toBe(1);
  }, 60_000);

  test("LIVE-8: and which is told to end before the node is back hands over first", async () => {
    const card = cardOf();
    const capability: string = card.capabilities[0].name;
    const options = { registryUrl: node().url, card, ledger: ledger.path, workMs: 200, tells: true };
    const agent = await program("agent.mjs", options);
    const task = client(node().url).submit({ capability, input: {} });
    expect((await task.accepted).ok).toBe(true);
    await agent.next("begin");
    await node().kill("SIGKILL");
    await agent.next("end");
    agent.signal("SIGTERM");
    await node().start();
    expect(await within(agent.ended, "the agent to end", 20_000)).toEqual({ code: null, signal: "SIGTERM" });
    expect(await within(task.result(), "the result", 14_000)).toMatchObject({
      state: "completed",
      data: { by: agent.pid },
    });
    expect(ledger.byKey("begin").get(task.messageId)).toHaveLength(1);
  }, 60_000);
});

describe("LIVE-9: an agent with a state file that dies together with the node", () => {
  test("is the same instance in its next run, and gets its work again at once, under the next attempt", async () => {
    const stateFile = join(ledger.directory, "identity.json");
    const card = cardOf();
    const capability: string = card.capabilities[0].name;
    const options = { registryUrl: node().url, card, ledger: ledger.path, stateFile, tells: true };
    const first = await program("agent.mjs", { ...options, workMs: 60_000 });
    const caller = client(node().url);
    const task = caller.submit({ capability, input: {} });
    expect((await task.accepted).ok).toBe(true);
    await first.next("begin");
    const { instanceId } = (await task.status()) as { instanceId?: string };
    await Promise.all([first.kill("SIGKILL"), node().kill("SIGKILL")]);
    await node().start();
    const second = await program("agent.mjs", { ...options, workMs: 0 });
    // Long before the patience that the node has after its own restart with work in somebody's hands (15 s).
    await second.next("begin", 10_000);
    const outcome = await within(task.result(), "the result", 14_000);
    expect(outcome).toMatchObject({
      state: "completed",
      data: { by: second.pid },
      task: { attempt: 2, instanceId },
    });
    const reader = await Wire.open(node().url);
    const { instances } = await reader.request("agents.get", { agentId: card.agentId });
    expect(instances).toMatchObject([{ instanceId, epoch: 2 }]);
    expect(instances).toHaveLength(1);
    reader.cut();
  }, 60_000);
});
