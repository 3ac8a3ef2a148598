import { afterAll, describe, expect, test } from "vitest";
import { Ledger } from "../kit/ledger.js";
import { useNode } from "../kit/node.js";
import { type Program, usePrograms } from "../kit/program.js";
import { mulberry } from "../kit/random.js";

const kills = Number(process.env["KILLS"] ?? 9);
/** Seeded, so that a failure can be had again: SEED=… */
const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));

const node = useNode({ settings: { delivery: { lostGraceMs: 100 } } });
const program = usePrograms();
const ledger = new Ledger();
afterAll(() => ledger.dispose());

describe("RES-6, DLV-7: kill -9 of node, agents and caller, in any order", () => {
  test(
    `every task that was wanted is done, and none is begun again once its success was known (seed ${seed})`,
    async () => {
      const capability = "endure";
      const registryUrl = node().url;
      const card = { agentId: "enduring", capabilities: [{ name: capability }], maxConcurrentTasks: 8 };
      const agentOptions = { registryUrl, card, ledger: ledger.path, workMs: 3 };
      const callerOptions = { registryUrl, capability, ledger: ledger.path, lanes: 8 };
      const agents: Program[] = [];
      for (let n = 0; n < 2; n++) agents.push(await program("agent.mjs", agentOptions));
      let caller = await program("submitter.mjs", callerOptions);

      const random = mulberry(seed);
      const order = ["node", "agent", "caller"] as const;
      for (let n = 0; n < kills; n++) {
        // The moment is counted in what was done, not in time. Every part has its turn; its neighbours in time are by chance.
        for (let left = 1 + Math.floor(random() * 40); left > 0; left--) await caller.next("completed");
        const victim = n < order.length ? order[n] : order[Math.floor(random() * order.length)];
        if (victim === "node") await node().restart("SIGKILL");
        else if (victim === "caller") {
          await caller.kill();
          caller = await program("submitter.mjs", callerOptions);
        } else {
          const one = Math.floor(random() * agents.length);
          await agents[one]!.kill();
          agents[one] = await program("agent.mjs", agentOptions);
        }
      }
      await caller.ask("stop", 40_000);

      const wanted = ledger.byKey("wanted");
      expect([...ledger.byKey("completed").keys()].sort()).toEqual([...wanted.keys()].sort());
      expect(ledger.begunAfterSuccess()).toEqual([]);
      expect(wanted.size).toBeGreaterThan(kills);
      // One task for each key, however often it was submitted, and all of them have ended.
      const { queues, tasks } = (await node().http.get("/v1/queues")).body;
      expect(queues).toEqual([]);
      expect(Object.entries(tasks).filter(([, count]) => count !== 0)).toEqual([["completed", wanted.size]]);
    },
    60_000 + kills * 15_000,
  );
});
