import { beforeAll, describe, expect, test } from "vitest";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";

const node = useNode({ settings: { limits: { cardBytes: 65_536 } } });
const { bare } = usePeers(node, "file");
let reader: Wire;
beforeAll(async () => {
  reader = await bare();
});
const register = async (card: Json): Promise<Json> => (await bare()).request("register", { card });
const cardOf = async (agentId: string): Promise<Json> => (await reader.request("agents.get", { agentId })).card;
const order = { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] };

describe("REG-8: spellings of a card", () => {
  test("the snake_case twin reads like the camelCase form", async () => {
    await register({
      agent_id: "snake-agent",
      name: "Snake",
      max_concurrent_tasks: 3,
      heartbeat_interval_sec: 20,
      labels: { my_label: "kept_as_is" },
      capabilities: [
        {
          name: "snake_work",
          object_type: "order",
          input_schema: order,
          cost_tier: "high",
          timeout_hint_ms: 900,
          idempotent: true,
        },
      ],
    });
    expect(await cardOf("snake-agent")).toMatchObject({
      agentId: "snake-agent",
      maxConcurrentTasks: 3,
      heartbeatIntervalSec: 20,
      labels: { my_label: "kept_as_is" },
      capabilities: [
        { name: "snake_work", objectType: "order", inputSchema: order, costTier: "high", timeoutHintMs: 900 },
      ],
    });
  });

  test("the manifest with operation, objectType and params gets an input schema that is enforced", async () => {
    await register({
      agentId: "manifest-agent",
      displayName: "Manifest",
      region: "eu",
      capabilities: [
        {
          id: "list_orders",
          semantic: "Lists orders by their status",
          operation: "list",
          objectType: "order",
          params: [
            { name: "status", type: "string", required: true, enum: ["open", "closed"] },
            { name: "limit", type: "integer", minimum: 1 },
          ],
        },
      ],
    });
    const card = await cardOf("manifest-agent");
    expect(card).toMatchObject({ name: "Manifest", labels: { region: "eu" } });
    expect(card.capabilities[0]).toMatchObject({
      name: "list_orders",
      description: "Lists orders by their status",
      operation: "list",
      objectType: "order",
      inputSchema: {
        type: "object",
        properties: { status: { type: "string", enum: ["open", "closed"] }, limit: { type: "integer", minimum: 1 } },
        required: ["status"],
      },
    });
    expect(await reader.refused("call", { capability: "list_orders", input: { status: "lost" } })).toMatchObject({
      code: "INVALID_INPUT",
      data: { path: expect.stringContaining("status") },
    });
  });

  test("skills that are words become capabilities of that name and tag", async () => {
    await register({ agentId: "skilled-agent", skills: ["sql_writing"] });
    expect((await cardOf("skilled-agent")).capabilities).toMatchObject([
      { name: "sql_writing", tags: ["sql_writing"] },
    ]);
    expect((await reader.request("discover", { tags: ["sql_writing"] })).candidates[0]).toMatchObject({
      agentId: "skilled-agent",
    });
  });

  test("an A2A agent card registers with its skills as capabilities", async () => {
    const { agentId } = await register({
      name: "Recipe Agent",
      description: "Cooks",
      version: "1.0.0",
      url: "http://127.0.0.1:1/a2a",
      skills: [
        {
          id: "find_recipe",
          name: "Find a recipe",
          description: "Finds recipes",
          tags: ["cooking"],
          examples: ["soup"],
        },
      ],
    });
    expect(agentId).toMatch(/recipe/i);
    expect((await cardOf(agentId)).capabilities).toMatchObject([
      { name: "find_recipe", description: "Finds recipes", tags: ["cooking"] },
    ]);
  });

  test("unknown fields are kept, in the card and in its capabilities", async () => {
    await register({
      agentId: "curious",
      vendor: { deep: [1, { x: null }] },
      capabilities: [{ name: "curious_work", sla: "gold" }],
    });
    expect(await cardOf("curious")).toMatchObject({
      vendor: { deep: [1, { x: null }] },
      capabilities: [{ sla: "gold" }],
    });
  });

  test("a draft-07 schema is accepted and enforced", async () => {
    const inputSchema = { $schema: "http://json-schema.org/draft-07/schema#", type: "object", required: ["a"] };
    await register({ agentId: "draft-agent", capabilities: [{ name: "draft_work", inputSchema }] });
    expect(await reader.refused("call", { capability: "draft_work", input: {} })).toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});

describe("REG-9: a bad card is refused with the path and the rule", () => {
  const capability = { name: "w" };
  const cases: [string, Json, string][] = [
    ["no agentId", { capabilities: [capability] }, "agentId"],
    ["an agentId with a space", { agentId: "an agent", capabilities: [capability] }, "agentId"],
    ["an agentId that begins with a dot", { agentId: ".hidden", capabilities: [capability] }, "agentId"],
    ["an agentId of 129 characters", { agentId: "a".repeat(129), capabilities: [capability] }, "agentId"],
    ["an agentId that is a number", { agentId: 7, capabilities: [capability] }, "agentId"],
    ["capabilities that are no list", { agentId: "bad", capabilities: "work" }, "capabilities"],
    [
      "a capability without a name",
      { agentId: "bad", capabilities: [capability, { description: "?" }] },
      "capabilities[1].name",
    ],
    ["a capability twice", { agentId: "bad", capabilities: [capability, capability] }, "capabilities[1].name"],
    [
      "a schema that is none",
      { agentId: "bad", capabilities: [{ name: "w", inputSchema: { type: "strnig" } }] },
      "capabilities[0].inputSchema",
    ],
    [
      "a result schema that is none",
      { agentId: "bad", capabilities: [{ name: "w", outputSchema: { required: 1 } }] },
      "capabilities[0].outputSchema",
    ],
    [
      "a cost tier that does not exist",
      { agentId: "bad", capabilities: [{ name: "w", costTier: "free" }] },
      "capabilities[0].costTier",
    ],
    [
      "tags that are no list of words",
      { agentId: "bad", capabilities: [{ name: "w", tags: [1] }] },
      "capabilities[0].tags[0]",
    ],
    ["no room for a task", { agentId: "bad", maxConcurrentTasks: 0, capabilities: [capability] }, "maxConcurrentTasks"],
    [
      "L11: a heartbeat of nothing",
      { agentId: "bad", heartbeatIntervalSec: 0, capabilities: [capability] },
      "heartbeatIntervalSec",
    ],
    [
      "L11: a heartbeat that is text",
      { agentId: "bad", heartbeatIntervalSec: "soon", capabilities: [capability] },
      "heartbeatIntervalSec",
    ],
    [
      "L11: a heartbeat of centuries",
      { agentId: "bad", heartbeatIntervalSec: 1e12, capabilities: [capability] },
      "heartbeatIntervalSec",
    ],
    [
      "an unknown transport",
      { agentId: "bad", transport: { type: "pigeon" }, capabilities: [capability] },
      "transport.type",
    ],
    [
      "an HTTP transport without an endpoint",
      { agentId: "bad", transport: { type: "http" }, capabilities: [capability] },
      "transport.endpoint",
    ],
    ["a label that is no text", { agentId: "bad", labels: { region: 1 }, capabilities: [capability] }, "labels.region"],
  ];
  test.each(cases)("%s", async (_name, card, path) => {
    const wire = await bare();
    const error = await wire.refused("register", { card });
    expect(error).toMatchObject({
      code: "INVALID_CARD",
      rpc: -32602,
      data: { retryable: false, outcome: "not_executed" },
    });
    expect(error.data.path).toMatch(new RegExp(`^(card\\.)?${path.replace(/[[\].]/g, "\\$&")}`));
    // The socket is still good, and nothing was half-registered.
    expect(
      await wire.request("register", { card: { agentId: `fine-${newId()}`, capabilities: [{ name: "fine_work" }] } }),
    ).toMatchObject({ epoch: 1 });
    expect(await reader.refused("agents.get", { agentId: "bad" })).toMatchObject({ code: "NOT_FOUND" });
  });

  test.each([null, 1, "card", [], [{}]])("a card that is %j", async (card) => {
    const error = await (await bare()).refused("register", { card });
    expect(["INVALID_CARD", "INVALID_REQUEST"]).toContain(error.code);
    expect(error.data.path).toBe("card");
  });

  test("a card over the size limit", async () => {
    const card = { agentId: "bad", notes: "x".repeat(70_000), capabilities: [capability] };
    const error = await (await bare()).refused("register", { card });
    expect(["INVALID_CARD", "PAYLOAD_TOO_LARGE"]).toContain(error.code);
    expect(error.message).toMatch(/65.?536/);
  });

  test("a regular expression in a schema cannot hang the node", async () => {
    await register({
      agentId: "regex-agent",
      capabilities: [{ name: "regex_work", inputSchema: { type: "string", pattern: "^(a+)+$" } }],
    });
    expect(await reader.refused("call", { capability: "regex_work", input: `${"a".repeat(40)}!` })).toMatchObject({
      code: "INVALID_INPUT",
    });
  });

  test("over HTTP the same card gets the same answer with status 422", async () => {
    const { status, body } = await node().http.post("/v1/agents", { card: { agentId: "bad", capabilities: [{}] } });
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: "INVALID_CARD", retryable: false, outcome: "not_executed" });
    expect(body.path).toMatch(/capabilities\[0\]\.name$/);
  });
});
