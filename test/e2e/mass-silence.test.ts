import { describe, expect, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { within } from "../kit/within.js";

/** Heartbeats of 0.5 s: suspect after 1.5 s of silence, offline after 2.5 s. */
const node = useNode({ settings: { lease: { massExpiryHoldSec: 4 } } });
const { bare, join } = usePeers(node);

describe("LIVE-7: a fleet that falls silent at once", () => {
  test("is kept while the node suspects itself, which readiness and metrics show, and given up when its patience is over", async () => {
    const watcher = await bare();
    await watcher.request("watch", {});
    const agents = await Promise.all(Array.from({ length: 6 }, () => join(cardOf({ heartbeatIntervalSec: 0.5 }))));
    const readyz = async () => (await node().http.get("/readyz")).body;
    expect(await readyz()).toEqual({});
    await within(
      (async () => {
        while ((await readyz()).silent === undefined) await watcher.request("ping");
      })(),
      "the node to suspect itself",
    );
    expect(await node().http.get("/readyz")).toMatchObject({ status: 200, body: { silent: 6, fleet: 6 } });
    expect((await node().http.get("/metrics")).text).toMatch(/^agent_reach_fleet_silent 1$/m);
    expect(node().stdout + node().stderr).toContain("6 of 6 instances fell silent at once");
    const { agents: listed } = await watcher.request("agents.list", { state: "suspect" });
    expect(listed).toHaveLength(6);
    for (const { instanceId } of agents)
      await watcher.waitFor("instance.offline", (e) => e.instanceId === instanceId, 20_000);
    expect(await readyz()).toEqual({});
  }, 40_000);
});
