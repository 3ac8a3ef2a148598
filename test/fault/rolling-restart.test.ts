import { afterAll, describe, expect, test } from "vitest";
import { Ledger } from "../kit/ledger.js";
import { useNode } from "../kit/node.js";
import { type Program, usePrograms } from "../kit/program.js";
import { Load, told, useClients } from "./load.js";

const node = useNode();
const program = usePrograms();
const client = useClients();
const ledger = new Ledger();
afterAll(() => ledger.dispose());

describe("LIVE-8, DLV-8: a rolling restart of a group under load", () => {
  test("loses nothing, executes nothing twice, and no caller sees an error", async () => {
    const capability = "roll";
    const card = { agentId: "rolling", capabilities: [{ name: capability }], maxConcurrentTasks: 8 };
    const options = { registryUrl: node().url, card, ledger: ledger.path, workMs: 5 };
    const group: Program[] = [];
    for (let n = 0; n < 3; n++) group.push(await program("agent.mjs", options));
    const caller = client(node().url);
    // More than the group can do at a time, so that each has work begun and work waiting when it is told to go.
    const calls = Load.calls(caller, capability, 16);
    const tasks = Load.tasks(caller, capability, 16);
    for (const [n, agent] of group.entries()) {
      await Promise.all([calls.more(50), tasks.more(50)]);
      expect(await agent.kill("SIGTERM")).toEqual({ code: null, signal: "SIGTERM" });
      group[n] = await program("agent.mjs", options);
    }
    await Promise.all([calls.more(50), tasks.more(50)]);
    await Promise.all([calls.stop(), tasks.stop()]);

    expect([...calls.failures, ...tasks.failures].map(told)).toEqual([]);
    const begun = ledger.byKey("begin");
    const twice = [...begun].filter(([, entries]) => entries.length > 1);
    expect(twice).toEqual([]);
    const asked = [...calls.done, ...tasks.done].map(({ key }) => key);
    expect([...begun.keys()].sort()).toEqual(asked.sort());
    expect([...ledger.byKey("end").keys()].sort()).toEqual(asked);
    // Each of the six processes had a part in it.
    expect(new Set(ledger.entries().map(({ pid }) => pid)).size).toBe(6);
  }, 120_000);
});
