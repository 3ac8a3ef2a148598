import { beforeAll, describe, expect, test } from "vitest";
import type { SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

const node = useNode({ settings: { limits: { pageMax: 10 } } });
const { bare, join } = usePeers(node, "file");
let reader: Wire;
const agents: SocketAgent[] = [];
beforeAll(async () => {
  reader = await bare();
  for (let n = 0; n < 25; n++) {
    const card = {
      agentId: `agent-${String(n).padStart(2, "0")}`,
      labels: { region: n % 2 === 0 ? "north" : "south", tier: "gold" },
      capabilities: [{ name: "common" }, { name: `own_${n}` }],
    };
    agents.push(await join(card));
  }
  await agents[24]!.wire.request("drain", { instanceId: agents[24]!.instanceId });
});
const names = (page: Json): string[] => page.agents.map((a: Json) => a.agentId);

describe("agents.list", () => {
  test("goes through all agents page by page, each once", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page: Json = await reader.request("agents.list", {
        limit: 10,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(page.agents.length).toBeLessThanOrEqual(10);
      seen.push(...names(page));
      cursor = page.cursor;
      pages++;
    } while (cursor !== undefined && pages < 10);
    expect(pages).toBe(3);
    expect([...seen].sort()).toEqual(agents.map((a) => a.agentId).sort());
  });

  test("gives no page longer than limits.pageMax, whatever is asked for", async () => {
    expect((await reader.request("agents.list", { limit: 500 })).agents).toHaveLength(10);
    expect((await reader.request("agents.list", {})).agents).toHaveLength(10);
    for (let n = 0; n < 11; n++)
      await reader.request("submit", { capability: "common", input: n, notBefore: "2100-01-01T00:00:00Z" });
    const { body } = await node().http.get("/v1/tasks?limit=500");
    expect(body.tasks).toHaveLength(10);
    expect((await node().http.get(`/v1/tasks?limit=500&cursor=${body.cursor}`)).body.tasks).toHaveLength(1);
  });

  test("stays right when an agent joins between two pages", async () => {
    const first = await reader.request("agents.list", { limit: 10 });
    const late = await join({ agentId: "aaa-first", capabilities: [{ name: "late" }] });
    const second = await reader.request("agents.list", { limit: 10, cursor: first.cursor });
    expect(names(second).filter((id) => names(first).includes(id))).toEqual([]);
    await late.deregister();
    late.cut();
  });

  test("filters by capability, by state and by label, alone and together", async () => {
    expect(names(await reader.request("agents.list", { capability: "own_3" }))).toEqual(["agent-03"]);
    expect(names(await reader.request("agents.list", { state: "draining" }))).toEqual(["agent-24"]);
    const south = await reader.request("agents.list", { label: "region=south", limit: 10 });
    expect(names(south).every((id) => Number(id.slice(6)) % 2 === 1)).toBe(true);
    expect(names(await reader.request("agents.list", { label: "region=south", capability: "own_4" }))).toEqual([]);
    expect(names(await reader.request("agents.list", { label: "tier", capability: "own_4" }))).toEqual(["agent-04"]);
    expect(names(await reader.request("agents.list", { capability: "own_999" }))).toEqual([]);
  });

  test("refuses what is no filter, by its path", async () => {
    expect(await reader.refused("agents.list", { state: "sleepy" })).toMatchObject({
      code: "INVALID_REQUEST",
      data: { path: "state" },
    });
    expect(await reader.refused("agents.list", { limit: 501 })).toMatchObject({
      code: "INVALID_REQUEST",
      data: { path: "limit" },
    });
    expect(await reader.refused("agents.list", { cursor: "nonsense!" })).toMatchObject({
      code: "INVALID_REQUEST",
      data: { path: "cursor" },
    });
  });
});

describe("agents.get", () => {
  test("shows the card, its state and every instance with its facts", async () => {
    const agent = agents[0]!;
    expect(await reader.request("agents.get", { agentId: agent.agentId })).toMatchObject({
      agentId: "agent-00",
      version: 1,
      state: "online",
      card: { agentId: "agent-00", labels: { region: "north" } },
      instances: [
        {
          instanceId: agent.instanceId,
          epoch: 1,
          state: "online",
          since: expect.stringMatching(/T/),
          health: 1,
          load: { running: 0, queued: 0 },
          node: reader.session.nodeId,
        },
      ],
    });
  });

  test("of nobody is NOT_FOUND", async () => {
    expect(await reader.refused("agents.get", { agentId: "nobody" })).toMatchObject({
      code: "NOT_FOUND",
      rpc: -32024,
      data: { retryable: false, outcome: "not_executed" },
    });
  });

  test("never shows the instanceKey", async () => {
    const { text } = await reader.exchange("agents.list", "{}");
    for (const agent of agents) expect(text).not.toContain(agent.registered.instanceKey);
  });
});

describe("EDGE-5: the directory over HTTP", () => {
  test("lists, pages, filters and shows one, as the socket does", async () => {
    const { status, body } = await node().http.get("/v1/agents?limit=10&label=region%3Dnorth");
    expect(status).toBe(200);
    expect(names(body)).toEqual(names(await reader.request("agents.list", { limit: 10, label: "region=north" })));
    const next = await node().http.get(
      `/v1/agents?limit=10&label=region%3Dnorth&cursor=${encodeURIComponent(body.cursor)}`,
    );
    expect(names(next.body).length).toBe(3);
    expect((await node().http.get("/v1/agents/agent-01")).body).toMatchObject({ agentId: "agent-01", version: 1 });
    expect((await node().http.get("/v1/agents/agent-01/versions/1")).body).toMatchObject({
      version: 1,
      card: { agentId: "agent-01" },
    });
    expect(await node().http.get("/v1/agents/nobody")).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND", outcome: "not_executed" },
    });
    expect(await node().http.get("/v1/agents?limit=many")).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST", path: "limit" },
    });
  });
});

describe("REG-7: removal", () => {
  test("is forgotten by the indexes at once, and the record stays for diagnosis", async () => {
    const leaving = await join({
      agentId: "leaving",
      capabilities: [{ name: "leaving_work" }],
    });
    await leaving.deregister();
    expect((await reader.request("discover", { capability: "leaving_work" })).candidates).toEqual([]);
    expect(await reader.request("agents.get", { agentId: "leaving" })).toMatchObject({ state: "offline" });
    leaving.cut();
  });
});
