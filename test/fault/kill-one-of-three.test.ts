import { afterAll, describe, expect, test } from "vitest";
import { Ledger } from "../kit/ledger.js";
import { useNode } from "../kit/node.js";
import { type Program, usePrograms } from "../kit/program.js";
import { Load, told, useClients } from "./load.js";

const node = useNode({ settings: { delivery: { lostGraceMs: 200 } } });
const program = usePrograms();
const client = useClients();
const ledger = new Ledger();
afterAll(() => ledger.dispose());

describe("DLV-6: kill -9 of one of three agents under load", () => {
  test("is no error to callers of what is idempotent, `outcome: unknown` to others, never a silent second execution, and no task is lost", async () => {
    const card = {
      agentId: "group",
      maxConcurrentTasks: 30,
      capabilities: [
        { name: "look", idempotent: true },
        { name: "charge", idempotent: false },
      ],
    };
    // Long enough that each has several pieces of every kind in hand at any moment.
    const options = { registryUrl: node().url, card, ledger: ledger.path, workMs: 20 };
    const group: Program[] = [];
    for (let n = 0; n < 3; n++) group.push(await program("agent.mjs", options));
    const caller = client(node().url);
    const looks = Load.calls(caller, "look", 15);
    const charges = Load.calls(caller, "charge", 15);
    const tasks = Load.tasks(caller, "charge", 15);
    const all = [looks, charges, tasks];
    const killed = new Set<number>();
    for (const [n, agent] of group.entries()) {
      await Promise.all(all.map((load) => load.more(60)));
      killed.add(agent.pid);
      await agent.kill("SIGKILL");
      group[n] = await program("agent.mjs", options);
    }
    await Promise.all(all.map((load) => load.more(60)));
    await Promise.all(all.map((load) => load.stop()));

    expect(looks.failures.map(told)).toEqual([]);
    expect(tasks.failures.map(told)).toEqual([]);

    const begun = ledger.byKey("begin");
    // A call whose outcome is unknown says so, once, and was not begun by anybody else.
    expect(charges.failures.length).toBeGreaterThan(0);
    for (const one of charges.failures) {
      expect(one.outcome, told(one)).toMatchObject({ outcome: "unknown", retryable: false });
    }
    const secret = charges.done.filter(({ key }) => (begun.get(key)?.length ?? 0) > 1);
    expect(secret.map(({ key }) => begun.get(key))).toEqual([]);
    // What was begun more than once, as tasks and idempotent calls may be, was begun by one who was killed, and once more.
    const ended = ledger.byKey("end");
    for (const { key } of [...looks.done, ...tasks.done]) {
      const [last, ...before] = begun.get(key)!.toReversed();
      expect(before.map(({ pid }) => pid).filter((pid) => !killed.has(pid))).toEqual([]);
      expect(ended.get(key)?.at(-1)?.pid).toBe(last!.pid);
    }
  }, 120_000);
});
