import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { Wire } from "../kit/wire.js";
import { within } from "../kit/within.js";

const node = useNode();
let wire: Wire;
let bystander: Wire;
beforeEach(async () => {
  wire = await Wire.open(node().url);
  bystander = await Wire.open(node().url);
});
afterEach(async () => {
  // Whatever a client does to its own connection, the others do not notice.
  expect(await bystander.request("ping")).toEqual({});
  bystander.cut();
  wire.cut();
});

/** Sends text and gives the next answer that belongs to no request. */
const say = async (text: string) => {
  wire.sendText(text);
  return wire.answers.next(`an answer to ${text.slice(0, 60)}`);
};
const alive = async () => expect(await wire.request("ping")).toEqual({});
const nested = (depth: number, inner = "0") => `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;

describe("RES-7: what is not JSON-RPC", () => {
  test.each([
    "{",
    "",
    "hello",
    "{'a':1}",
    '{"jsonrpc":"2.0",',
    "NaN",
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}}',
  ])("answers -32700 with id null to %j, and stays open", async (text) => {
    const { json } = await say(text);
    expect(json).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32700, data: { code: "INVALID_REQUEST", retryable: false } },
    });
    await alive();
  });

  test.each([
    "null",
    "true",
    "0",
    '"text"',
    "[]",
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    "{}",
    '{"jsonrpc":"1.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","method":null}',
    '{"jsonrpc":"2.0","method":["ping"],"id":null}',
  ])("answers -32600 with id null to %s, and stays open", async (text) => {
    const { json } = await say(text);
    expect(json).toMatchObject({
      id: null,
      error: { code: -32600, data: { code: "INVALID_REQUEST", outcome: "not_executed" } },
    });
    await alive();
  });

  test("answers params that are no object by their id", async () => {
    expect((await say('{"jsonrpc":"2.0","id":41,"method":"discover","params":[1]}')).json).toMatchObject({
      id: 41,
      error: { code: -32600, data: { code: "INVALID_REQUEST" } },
    });
    await alive();
  });

  test("names the field that has the wrong type", async () => {
    const error = await wire.refused("discover", { topK: "three" });
    expect(error).toMatchObject({ code: "INVALID_REQUEST", rpc: -32600, data: { path: "topK", retryable: false } });
  });

  test("closes a binary frame with 1003", async () => {
    wire.socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}'), { binary: true });
    expect((await within(wire.closed, "the close")).code).toBe(1003);
  });
});

describe("methods and ids", () => {
  test("an unknown method is refused by name with -32601", async () => {
    const { json } = await say('{"jsonrpc":"2.0","id":"u","method":"sing","params":{}}');
    expect(json).toMatchObject({
      id: "u",
      error: { code: -32601, data: { code: "INVALID_REQUEST", retryable: false, outcome: "not_executed" } },
    });
    expect(json.error.message).toContain("sing");
    await alive();
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "a method called %s is unknown",
    async (method) => {
      expect((await say(JSON.stringify({ jsonrpc: "2.0", id: "m", method, params: {} }))).json.error.code).toBe(-32601);
    },
  );

  test.each([
    '"1"',
    "1",
    '"a string"',
    '""',
    "-5",
    "0",
    "9007199254740993",
    "12345678901234567890",
    "1.5",
    '"\\u00e9\\n"',
  ])("P05: echoes the id %s exactly", async (id) => {
    const { text } = await say(`{"jsonrpc":"2.0","id":${id},"method":"ping","params":{}}`);
    const echoed = /"id":("(?:[^"\\]|\\.)*"|[-0-9.eE+]+)/.exec(text)?.[1];
    if (id.startsWith('"')) expect(JSON.parse(echoed!)).toBe(JSON.parse(id));
    else expect(echoed).toBe(id);
  });

  test("an unknown notification is ignored", async () => {
    wire.notify("sing", { song: 1 });
    wire.notify("progress", {});
    wire.notify("progress", { messageId: "not-a-uuid", percent: "x" });
    await alive();
    expect(wire.answers.untaken).toEqual([]);
  });

  test("an answer to a request that the node never made is ignored", async () => {
    wire.respond("never-asked", { status: "completed" });
    wire.respond(999_999, null);
    await alive();
  });

  test("SDK-10: unknown fields beside and inside the params are ignored", async () => {
    const { json } = await say(
      '{"jsonrpc":"2.0","id":"f","method":"discover","params":{"capability":"none","later":{"a":1}},"meta":true}',
    );
    expect(json.result.verdict).toBe("no_match");
  });
});

describe("DLV-12: sizes", () => {
  const big = (bytes: number) => `"${"x".repeat(bytes)}"`;

  test("P03: a frame over the limit is answered with PAYLOAD_TOO_LARGE and its id", async () => {
    const { maxMessageBytes } = wire.session.limits;
    wire.sendText(
      `{"jsonrpc":"2.0","id":"big","method":"call","params":{"capability":"any","input":${big(maxMessageBytes + 1_000)}}}`,
    );
    const { json } = await wire.answers.next("the refusal");
    expect(json).toMatchObject({
      id: "big",
      error: { code: -32001, data: { code: "PAYLOAD_TOO_LARGE", retryable: false, outcome: "not_executed" } },
    });
    expect(json.error.message).toMatch(/reference/);
  });

  test("a frame over twice the limit closes with 1009", async () => {
    const { maxMessageBytes } = wire.session.limits;
    wire.sendText(`{"jsonrpc":"2.0","id":1,"method":"call","params":{"input":${big(2 * maxMessageBytes + 1_000)}}}`);
    expect((await within(wire.closed, "the close")).code).toBe(1009);
  });

  test("an input over the limit in a frame under it is refused, and other calls on the socket go on", async () => {
    const agent = await SocketAgent.join(node().url);
    const { maxInputBytes } = wire.session.limits;
    const [refused, done] = await Promise.all([
      wire.refused("call", { capability: agent.capability, input: "x".repeat(maxInputBytes + 1) }),
      wire.request("call", { capability: agent.capability, input: { small: true } }),
    ]);
    expect(refused).toMatchObject({ code: "PAYLOAD_TOO_LARGE", rpc: -32001 });
    expect(done.data).toEqual({ small: true });
    agent.cut();
  });

  test("an input of exactly the limit passes, and comes back", async () => {
    const agent = await SocketAgent.join(node().url);
    const input = "x".repeat(wire.session.limits.maxInputBytes - 2);
    const { data } = await wire.request("call", { capability: agent.capability, input });
    expect(data.length).toBe(input.length);
    agent.cut();
  });

  test("counts bytes, not characters", async () => {
    const agent = await SocketAgent.join(node().url);
    const input = "é".repeat(wire.session.limits.maxInputBytes / 2 + 1);
    expect(await wire.refused("call", { capability: agent.capability, input })).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    });
    agent.cut();
  });
});

describe("P08: depth", () => {
  test.each([65, 70, 1_000, 10_000, 100_000])("nesting of %i is INVALID_REQUEST by its id", async (depth) => {
    const { json } = await say(
      `{"jsonrpc":"2.0","id":"deep","method":"call","params":{"capability":"any","input":${nested(depth)}}}`,
    );
    expect(json).toMatchObject({ id: "deep", error: { code: -32600, data: { code: "INVALID_REQUEST" } } });
    await alive();
  });

  test("nesting of 50 in an input passes, and so do brackets inside of strings", async () => {
    const agent = await SocketAgent.join(node().url);
    const input = `[${nested(49)},${JSON.stringify(nested(500))}]`;
    const { json } = await wire.exchange("call", `{"capability":${JSON.stringify(agent.capability)},"input":${input}}`);
    expect(JSON.stringify(json.result.data)).toBe(input);
    agent.cut();
  });
});
