import { AgentError, AgentReachClient } from "@agent-reach/sdk";
import { describe, expect, test } from "vitest";
import { accepted, cardOf, failed } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { mulberry } from "../kit/random.js";
import { newId } from "../kit/wire.js";
import { within } from "../kit/within.js";

const node = useNode({ settings: { limits: { tasksPerRequestMax: 400 } } });
const { bare, join } = usePeers(node);
const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));

describe("DLV-21: many tasks", () => {
  test("are submitted over a socket, done, and told of once when all are", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 50 }));
    const caller = await bare();
    const groupId = `batch ${newId()}`;
    const tasks = Array.from({ length: 200 }, (_, n) => ({ capability: agent.capability, input: n }));
    const answer = await caller.request("submit.many", { groupId, tasks });
    expect(answer.groupId).toBe(groupId);
    expect(answer.tasks).toHaveLength(200);
    expect(answer.tasks[7]).toMatchObject({ messageId: expect.any(String), state: "queued", duplicate: false });
    expect(await caller.nextNotification("group.update")).toMatchObject({ groupId, counts: { completed: 200 } });
    const third = await caller.request("task.get", { messageId: answer.tasks[2].messageId });
    expect(third).toMatchObject({ groupId, input: 2, data: 2 });
    expect(caller.notifications.untaken.filter(({ method }) => method === "group.update")).toEqual([]);
  });

  test("are refused together for one, which is named; with one too many; and a group nobody knows is not found", async () => {
    const agent = await join(cardOf({ capability: { inputSchema: { type: "number" } } }));
    const groupId = newId();
    const task = (input: unknown) => ({ capability: agent.capability, input });
    const caller = await bare();
    expect(await caller.refused("submit.many", { groupId, tasks: [task(1), task("two"), task(3)] })).toMatchObject({
      code: "INVALID_INPUT",
      rpc: -32602,
      data: { path: "tasks[1].input" },
    });
    const over = await node().http.post("/v1/groups", { groupId, tasks: Array.from({ length: 401 }, () => task(1)) });
    expect(over).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: "tasks" } });
    expect(over.body.message).toContain("limits.tasksPerRequestMax");
    expect(await caller.refused("group.get", { groupId })).toMatchObject({ code: "NOT_FOUND" });
    expect((await node().http.get(`/v1/groups/${groupId}`)).status).toBe(404);
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("over HTTP: what failed is tried again, what is open is cancelled", async () => {
    let fails = true;
    const agent = await join(cardOf({ maxConcurrentTasks: 10 }), ({ envelope }) => {
      if (envelope.input === "slow") return accepted;
      return fails && envelope.input === "bad" ? failed("NO") : { status: "completed", data: null };
    });
    const groupId = `a/b ${newId()}`;
    const path = `/v1/groups/${encodeURIComponent(groupId)}`;
    const tasks = ["good", "bad", "slow"].map((input) => ({ capability: agent.capability, input }));
    const made = await node().http.post("/v1/groups", { groupId, tasks });
    expect(made).toMatchObject({ status: 200, body: { groupId, tasks: [{}, {}, {}] } });
    const [, bad, slow] = made.body.tasks;
    await node().http.get(`/v1/tasks/${bad.messageId}?waitMs=5000`);
    fails = false;
    expect((await node().http.post(`${path}/requeue`)).body).toEqual({ requeued: 1 });
    expect((await node().http.get(`/v1/tasks/${bad.messageId}?waitMs=5000`)).body).toMatchObject({
      state: "completed",
      attempt: 2,
    });
    await agent.next(({ envelope }) => envelope.messageId === slow.messageId);
    expect((await node().http.post(`${path}/cancel`, { reason: "enough" })).body).toEqual({ canceled: 1 });
    expect((await agent.wire.nextNotification("cancel")).reason).toBe("enough");
    expect((await node().http.get(path)).body).toMatchObject({
      total: 3,
      settled: true,
      counts: { completed: 2, canceled: 1 },
    });
    const listed = await node().http.get(`/v1/tasks?group=${encodeURIComponent(groupId)}`);
    expect(listed.body.tasks).toHaveLength(3);
  });

  test("with the SDK: submitted, awaited, and what failed tried again", async () => {
    const client = new AgentReachClient({ registryUrl: node().url });
    try {
      let fails = true;
      const capability = `batch_${newId().slice(0, 8)}`;
      await client.register({ agentId: `batcher-${newId()}`, capabilities: [{ name: capability, idempotent: true }] });
      client.onCapability(capability, (n: number) => {
        if (n === 3 && fails) throw new AgentError("NOT_NOW", "not now");
        return n * 2;
      });
      await client.start();
      const group = client.submitMany([1, 2, 3].map((input) => ({ capability, input })));
      const { tasks } = (await group.accepted).orThrow();
      expect(await within(group.done(), "the group to settle")).toMatchObject({ counts: { completed: 2, failed: 1 } });
      fails = false;
      expect(await group.requeue()).toBe(1);
      expect(await within(group.done(), "the group to settle again")).toMatchObject({ counts: { completed: 3 } });
      expect((await client.task<number>(tasks[2]!.messageId).result()).data).toBe(6);
    } finally {
      await client.close();
    }
  });

  test(`RES-6: are all there or none of them, whenever the node is killed (seed ${seed})`, async () => {
    const agent = await join();
    const random = mulberry(seed);
    for (let round = 0; round < 4; round++) {
      const caller = await bare();
      const groupId = newId();
      const tasks = Array.from({ length: 300 }, (_, n) => ({
        capability: agent.capability,
        input: n,
        notBefore: "2100-01-01T00:00:00Z",
      }));
      let answered = false;
      caller.request("submit.many", { groupId, tasks }).then(
        () => {
          answered = true;
        },
        () => {},
      );
      for (let turn = Math.floor(random() * 200); turn > 0; turn--)
        await new Promise((resolve) => setImmediate(resolve));
      await node().restart("SIGKILL");
      const { status, body } = await node().http.get(`/v1/groups/${groupId}`);
      if (answered || status === 200) expect(body).toMatchObject({ total: 300, counts: { queued: 300 } });
      else expect(status).toBe(404);
    }
  }, 120_000);
});
