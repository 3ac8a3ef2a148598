import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChatServer } from "../kit/chat-server.js";
import { ReachNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Wire } from "../kit/wire.js";

/** Requests in words that no card fits well, at a real node that may ask a language model. */
describe("CAT-5: a node with a language model", () => {
  let server: ChatServer;
  let node: ReachNode;
  const peers = usePeers(() => node, "file");
  let wire: Wire;

  beforeAll(async () => {
    server = await ChatServer.listen();
    node = await ReachNode.start({ settings: { catalog: { llm: { baseUrl: server.url, model: "m" } } } });
    wire = await peers.bare();
    await peers.join({
      agentId: "office",
      capabilities: [
        { name: "invoice.list", operation: "list", description: "Lists invoices", examples: ["show my invoices"] },
        { name: "room.book", operation: "book", description: "Books a room", examples: ["I need a room for four"] },
      ],
    });
    for (const intent of ["please show all my invoices", "I need a room for five"])
      while ((await wire.request("discover", { intent })).verdict !== "match");
    server.questions.length = 0;
  });
  afterAll(async () => {
    await node.dispose();
    await server.close();
  });

  const call = (intent: string, more = {}) => wire.request("call", { intent, input: {}, ...more });
  const says = (choice: string) => () => server.saying(JSON.stringify({ choice }));
  /** The model picks the capability of this name, whatever was asked. */
  const picks = (name: string): void => {
    server.respond = ({ body }) => {
      const { choices } = JSON.parse(body.messages[1]!.content);
      return server.saying(JSON.stringify({ choice: choices.find((one: { name: string }) => one.name === name).id }));
    };
  };

  test("lets it choose where nothing fits well enough, and says so in the record", async () => {
    picks("room.book");
    const { messageId } = await call("it is for four of us and has to be quiet");
    const { decisions } = (await node.http.get(`/v1/messages/${messageId}`)).body;
    const { capability, reasons } = decisions[0].candidates[0];
    expect(capability).toBe("room.book");
    expect(reasons).toContainEqual(expect.stringMatching(/^openai-chat-m chose room\.book, \d+ ms$/));
    const { candidates } = await wire.request("discover", { intent: "it is for four of us and has to be quiet" });
    expect(candidates[0].reasons).toContain("openai-chat-m chose room.book, remembered");
    expect(server.questions).toHaveLength(1);
  });

  test("asks it nothing where the catalog is sure, where only the index may read, and of tasks", async () => {
    server.questions.length = 0;
    await call("could you show me my invoices");
    await expect(call("paint the fence green", { matching: "local" })).rejects.toMatchObject({ code: "NO_ROUTE" });
    await expect(wire.request("submit", { intent: "paint the door green", input: {} })).rejects.toMatchObject({
      code: "NO_ROUTE",
    });
    expect(server.questions).toEqual([]);
  });

  test.each([
    ["none", "openai-chat-m chose none (none)"],
    ["room.book", "openai-chat-m chose none (not_an_id)"],
    ["shell.exec", "openai-chat-m chose none (not_an_id)"],
  ])("refuses where it says %s", async (choice, note) => {
    server.respond = says(choice);
    const refusal = await wire.refused("call", { intent: `a tune for four, ${choice.length} verses`, input: {} });
    expect(refusal.data.details).toMatchObject({ reason: "no_match", notes: [expect.stringContaining(note)] });
  });

  test("refuses as without it when it fails", async () => {
    server.respond = () => ({ status: 500, body: {} });
    const { verdict, notes } = await wire.request("discover", { intent: "a scarf for four winters" });
    expect({ verdict, notes }).toEqual({ verdict: "no_match", notes: ["without a language model: server_error"] });
  });

  test("CAT-7: does not let it send a request for a change to what only looks", async () => {
    server.questions.length = 0;
    picks("invoice.list");
    await expect(call("delete all of my invoices")).rejects.toMatchObject({ code: "NO_ROUTE" });
    const offered = server.questions.flatMap(({ choices }) => choices.map(({ name }) => name));
    expect(offered).not.toContain("invoice.list");
  });
});
