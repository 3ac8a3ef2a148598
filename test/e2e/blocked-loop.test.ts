import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json } from "../kit/wire.js";
import { within } from "../kit/within.js";

const node = useNode();
const { bare } = usePeers(node);
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** An agent in a process of its own, whose handler really blocks its event loop. Its lease lasts three heartbeats. */
async function start(agentId: string, heartbeat: string, heartbeatIntervalSec: number): Promise<void> {
  const source = `
    import { AgentReachClient } from "@agent-reach/sdk";
    const [registryUrl, agentId, heartbeat, heartbeatIntervalSec] = process.argv.slice(1);
    const client = new AgentReachClient({ registryUrl, ...(heartbeat === "worker" && { heartbeat }) });
    client.register({ agentId, heartbeatIntervalSec: Number(heartbeatIntervalSec), capabilities: [{ name: agentId, idempotent: false }] });
    client.onCapability(agentId, ({ blockMs }) => {
      const until = performance.now() + blockMs;
      while (performance.now() < until);
      return process.pid;
    });
    await client.start();
    process.stdout.write("up");
  `;
  const args = ["--input-type=module", "-e", source, node().url, agentId, heartbeat, String(heartbeatIntervalSec)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  await within(once(child.stdout!, "data"), "the agent to start");
}

describe("LIVE-4, W06: a handler that blocks the event loop for longer than the lease", () => {
  test("LIVE-4: costs the agent its lease, if nobody else speaks for it", async () => {
    await start("blocked-alone", "loop", 0.5);
    const wire = await bare();
    await wire.request("watch", { agentId: "blocked-alone" });
    const call = wire.request("call", { capability: "blocked-alone", input: { blockMs: 2_200 }, timeoutMs: 15_000 });
    await wire.waitFor("instance.suspect");
    // It comes back by itself, and what it was doing counts (L14).
    expect((await call).data).toEqual(expect.any(Number));
    await wire.waitFor("instance.online");
  });

  test("LIVE-4: costs nothing with a heartbeat thread: it stays online, gets no new work meanwhile, and goes on afterwards", async () => {
    await start("blocked-watched", "worker", 1);
    const wire = await bare();
    await wire.request("watch", { agentId: "blocked-watched" });
    const instance = async (): Promise<Json> =>
      (await wire.request("agents.get", { agentId: "blocked-watched" })).instances[0];
    const call = wire.request("call", { capability: "blocked-watched", input: { blockMs: 7_000 }, timeoutMs: 15_000 });
    let blocked = await instance();
    await within(
      (async () => {
        while (blocked.health !== 0) blocked = await instance();
      })(),
      "the thread to say that the loop is blocked",
    );
    expect(blocked).toMatchObject({ state: "online", epoch: 1, selfReported: { loopBlockedMs: expect.any(Number) } });
    const found = await wire.request("discover", { capability: "blocked-watched" });
    expect(found).toMatchObject({ verdict: "unavailable", misses: [{ why: "health" }] });
    expect((await call).data).toEqual(expect.any(Number));
    const again = wire.request("call", { capability: "blocked-watched", input: { blockMs: 0 }, timeoutMs: 15_000 });
    expect((await again).data).toEqual((await call).data);
    expect(await instance()).toMatchObject({ state: "online", epoch: 1, health: 1, selfReported: {} });
    expect(wire.notifications.untaken.filter(({ method }) => method === "event")).toEqual([]);
  }, 40_000);
});
