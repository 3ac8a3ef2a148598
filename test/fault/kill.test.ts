import { afterEach, describe, expect, test } from "vitest";
import { cardOf, SocketAgent } from "../kit/agents.js";
import { ReachNode } from "../kit/node.js";
import { mulberry } from "../kit/random.js";
import { type Json, Wire } from "../kit/wire.js";
import { within } from "../kit/within.js";
import { StubbornAgent, StubbornSubmitter } from "./fleet.js";

const kills = Number(process.env["KILLS"] ?? 20);
/** Seeded, so that a failure can be had again: SEED=… */
const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));

let node: ReachNode | undefined;
afterEach(async () => {
  await node?.dispose();
});

describe("RES-6: kill -9 of the node at any moment", () => {
  test(
    `under a stream of submits: no answered submit is lost, no recorded key is delivered again (seed ${seed})`,
    async () => {
      node = await ReachNode.start({
        settings: { delivery: { ackTimeoutMs: 1_000, backoffMs: [50, 100, 200], lostGraceMs: 100 } },
      });
      const card = cardOf({ maxConcurrentTasks: 32, heartbeatIntervalSec: 5 });
      const agent = new StubbornAgent(node, card);
      await agent.start();
      const submitter = new StubbornSubmitter(node, card.capabilities[0].name);
      submitter.start(8);
      const random = mulberry(seed);
      for (let n = 0; n < kills; n++) {
        // The moment is counted in answers and turns of the loop, not in time: anywhere between two commits.
        await within(submitter.more(1 + Math.floor(random() * 300)), `submits before kill ${n + 1}`, 30_000);
        for (let turn = Math.floor(random() * 20); turn > 0; turn--)
          await new Promise((resolve) => setImmediate(resolve));
        await node.restart("SIGKILL");
      }
      await within(submitter.more(50), "submits after the last kill", 30_000);
      await submitter.stop();

      const reader = await Wire.open(node.url);
      const states = new Map<string, number>();
      for (const messageId of submitter.answered) {
        const task = await reader.request("task.result", { messageId, waitMs: 20_000 }, 30_000);
        states.set(task.state, (states.get(task.state) ?? 0) + 1);
        if (task.state === "completed") expect(task.data).toEqual({ done: { for: messageId } });
      }
      reader.cut();
      await agent.stop();
      expect(Object.fromEntries(states)).toEqual({ completed: submitter.answered.size });
      expect(submitter.answered.size).toBeGreaterThan(kills);
      expect(agent.recorded.size).toBeGreaterThan(kills);
      expect(agent.broken).toEqual([]);
    },
    60_000 + kills * 15_000,
  );

  test("REG-4, L06: every acknowledged registration is there after the restart, as one that must show itself again", async () => {
    node = await ReachNode.start();
    const agents: SocketAgent[] = [];
    for (let n = 0; n < 20; n++) agents.push(await SocketAgent.join(node.url, cardOf()));
    await node.restart("SIGKILL");
    const reader = await Wire.open(node.url);
    const { agents: listed } = await reader.request("agents.list", { limit: 100 });
    expect(listed.map((a: Json) => a.agentId).sort()).toEqual(agents.map((a) => a.agentId).sort());
    for (const { state, card } of listed) {
      expect(state).toBe("suspect");
      expect(card.capabilities).toHaveLength(1);
    }
    // Not blindly online, and not lost either: with its key it is back under a new epoch.
    const [first] = agents;
    const back = await SocketAgent.join(node.url, first!.card, undefined, first!.identity);
    expect(back.registered).toMatchObject({ epoch: 2, version: 1 });
    expect((await reader.request("call", { capability: first!.capability, input: 7 })).data).toBe(7);
    back.cut();
    reader.cut();
  });

  test("a second node on the same data directory is refused, by name, and the first goes on", async () => {
    node = await ReachNode.start();
    const { code, stderr, stdout } = await ReachNode.refusal({ dataDir: node.dataDir });
    expect(code).not.toBe(0);
    expect(stderr + stdout).toContain(node.dataDir);
    expect((await node.http.get("/readyz")).status).toBe(200);
    const agent = await SocketAgent.join(node.url);
    expect((await node.http.post("/v1/tasks", { capability: agent.capability, input: 1 })).status).toBeLessThan(300);
    agent.cut();
  });

  test("a port that is taken is refused, by its number", async () => {
    node = await ReachNode.start();
    const { code, stderr, stdout } = await ReachNode.refusal({ port: node.port });
    expect(code).not.toBe(0);
    expect(stderr + stdout).toContain(String(node.port));
  });
});
