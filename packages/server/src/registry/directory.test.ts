import type { Agent } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { type AgentFilter, Directory } from "./directory.js";

let rooms: FakeRooms;
let directory: Directory;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  directory = new Directory(rooms.registry, rooms.system, 500);
});
const list = (filter: AgentFilter, from = directory): { agents: Agent[]; cursor?: string } =>
  JSON.parse(from.list("default", filter));
const get = async (agentId: string, version?: number): Promise<Agent> =>
  JSON.parse(await directory.get("default", agentId, version));
const ids = (filter: AgentFilter): string[] => list(filter).agents.map((a) => a.agentId);

describe("the directory", () => {
  test("lists agents by id, page by page, each once, also when others come between two pages", async () => {
    for (const id of ["c", "a", "e", "d"]) await rooms.join(card(id));
    const first = list({ limit: 2 });
    expect(first.agents.map((a) => a.agentId)).toEqual(["a", "c"]);
    await rooms.join(card("b"));
    const second = list({ limit: 2, cursor: first.cursor });
    expect(second.agents.map((a) => a.agentId)).toEqual(["d", "e"]);
    expect(second.cursor).toBeUndefined();
    expect(() => list({ cursor: "***" })).toThrow(/INVALID_REQUEST/);
  });

  test("gives no page longer than the node allows, and the rest by cursor", async () => {
    for (const id of ["a", "b", "c"]) await rooms.join(card(id));
    const short = new Directory(rooms.registry, rooms.system, 2);
    for (const filter of [{}, { limit: 500 }]) {
      const { agents, cursor } = list(filter, short);
      expect(agents.map((a) => a.agentId)).toEqual(["a", "b"]);
      expect(list({ cursor }, short).agents.map((a) => a.agentId)).toEqual(["c"]);
    }
  });

  test("shows an agent as well as its best instance, and what each instance is doing", async () => {
    const gone = await rooms.join(card("a1"));
    const here = await rooms.join(card("a1"));
    await rooms.registry.deregister(gone.instance, "done");
    rooms.admission.take(here.instance);
    rooms.registry.heartbeat(here.instance, { load: { queued: 4 }, health: 0.9, facts: { gpu: "idle" } });
    const agent = await get("a1");
    expect(agent).toMatchObject({ state: "online", version: 1 });
    expect(agent.instances.map((i) => i.state)).toEqual(["online", "offline"]);
    expect(agent.instances[0]).toMatchObject({
      epoch: 1,
      health: 0.9,
      load: { running: 1, queued: 4 },
      selfReported: { gpu: "idle" },
    });
    await rooms.cut(here);
    expect((await get("a1")).state).toBe("suspect");
    await expect(get("ghost")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("REG-12: tells of an agent what may be wrong with its card, and not in a list", async () => {
    const whole = { name: "paint", description: "Paints portraits", examples: ["paint my cat"] };
    const { registered, link } = await rooms.join(card("a1", ["paint"]));
    expect((await get("a1")).warnings).toEqual([expect.stringMatching(/^examples: none for paint/)]);
    expect(list({}).agents[0]).not.toHaveProperty("warnings");
    await rooms.join(card("a1", [whole]), { ...registered, link });
    await rooms.pass(1_000);
    expect(await get("a1")).not.toHaveProperty("warnings");
    expect(await get("a1", 1)).not.toHaveProperty("warnings");
  });

  test("finds by state, capability and label", async () => {
    await rooms.join(card("a1", ["query"], { labels: { region: "cn" } }));
    const other = await rooms.join(card("a2", ["query", "refund"], { labels: { region: "us" } }));
    await rooms.registry.drain(other.instance, "deploy");
    expect(ids({ capability: "query" })).toEqual(["a1", "a2"]);
    expect(ids({ capability: "refund" })).toEqual(["a2"]);
    expect(ids({ state: "draining" })).toEqual(["a2"]);
    expect(ids({ label: "region" })).toEqual(["a1", "a2"]);
    expect(ids({ label: "region=cn" })).toEqual(["a1"]);
    expect(ids({ label: "region=cn", capability: "refund" })).toEqual([]);
  });

  test("finds those who are offline by their capability too", async () => {
    const { instance } = await rooms.join(card("a1", ["query"]));
    await rooms.registry.deregister(instance, "done");
    expect(ids({ capability: "query" })).toEqual(["a1"]);
  });
});
