import { beforeAll, describe, expect, test } from "vitest";
import { cardOf, PullAgent, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { newId, type Wire } from "../kit/wire.js";

/**
 * Data belongs to the agents: the node carries it and changes nothing, in either direction, by call and by task.
 * The agent here answers with text, so that no JSON parser of ours can round a digit on the way.
 */
const node = useNode();
const { bare, join } = usePeers(node, "file");
let caller: Wire;
let agent: SocketAgent;
beforeAll(async () => {
  caller = await bare();
  agent = await join(cardOf(), () => undefined);
});

const odd: [string, string][] = [
  ["an integer past 2^53", '{"n":9007199254740993}'],
  ["the largest signed 64-bit integer", "9223372036854775807"],
  ["the smallest signed 64-bit integer", "-9223372036854775808"],
  ["an unsigned 64-bit integer", '{"a":[18446744073709551615]}'],
  ["many digits", '{"pi":3.14159265358979323846264338327950288}'],
  ["a float that says it is one", '{"f":1.0,"e":1E5,"z":-0,"s":1e-7}'],
  ["zero and the empty things", '[0,"",null,false,{},[]]'],
  ["text of several scripts", '{"text":"订单 № 7 — déjà vu 😀"}'],
  ["escapes", '{"e":"\\" \\\\ \\n \\u0000 \\u2028"}'],
  ["a key called __proto__", '{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}},"toString":1}'],
  ["keys in an order that objects do not keep", '{"b":1,"2":2,"a":3,"1":4}'],
];
const inputOf = (text: string) =>
  /"input":(.*?),"(?:source|target|traceId|kind|capability|timestamp|messageId|idempotencyKey)"/.exec(text)?.[1];

/** Answers one delivery with this text as data, and gives the text of the frame which the agent got. */
async function serve(dataText: string): Promise<string> {
  const delivery = await agent.next();
  agent.wire.sendText(
    `{"jsonrpc":"2.0","id":${JSON.stringify(delivery.id)},"result":{"status":"completed","data":${dataText}}}`,
  );
  return delivery.text;
}

describe("P05, P07: a call carries to the digit, both ways,", () => {
  test.each(odd)("%s", async (_name, text) => {
    const [answer, got] = await Promise.all([
      caller.exchange("call", `{"capability":${JSON.stringify(agent.capability)},"input":${text}}`),
      serve(text),
    ]);
    expect(got).toContain(`"input":${text}`);
    expect(answer.text).toContain(`"data":${text}`);
  });
});

describe("DLV-11: a task carries to the digit, both ways,", () => {
  test.each(odd)("%s", async (_name, text) => {
    const messageId = newId();
    const [, got] = await Promise.all([
      caller.exchange(
        "submit",
        `{"messageId":"${messageId}","capability":${JSON.stringify(agent.capability)},"input":${text}}`,
      ),
      serve(text),
    ]);
    expect(got).toContain(`"input":${text}`);
    const result = await caller.exchange("task.result", `{"messageId":"${messageId}","waitMs":5000}`);
    expect(result.json.result.state).toBe("completed");
    expect(result.text).toContain(`"data":${text}`);
    expect(result.text).toContain(`"input":${text}`);
  });
});

describe("EDGE-5: HTTP carries to the digit, both ways,", () => {
  test.each(odd)("%s", async (_name, text) => {
    const [answer, got] = await Promise.all([
      node().http.send("POST", "/v1/call", `{"capability":${JSON.stringify(agent.capability)},"input":${text}}`),
      serve(text),
    ]);
    expect(got).toContain(`"input":${text}`);
    expect(answer.text).toContain(`"data":${text}`);
  });

  test("64-bit integers to an agent that pulls, and back", async () => {
    const puller = await PullAgent.join(node());
    const text = '{"n":9007199254740993,"f":1.0}';
    const called = node().http.send(
      "POST",
      "/v1/call",
      `{"capability":"${puller.capability}","input":${text},"timeoutMs":15000}`,
    );
    const { instanceId, instanceKey, epoch } = puller.registered;
    const pulled = await node().http.send(
      "POST",
      `/v1/instances/${instanceId}/pull`,
      JSON.stringify({ instanceKey, epoch, max: 1, waitMs: 5000 }),
    );
    expect(pulled.text).toContain(`"input":${text}`);
    const { envelope, attempt } = pulled.body.deliveries[0];
    await node().http.send(
      "POST",
      `/v1/deliveries/${envelope.messageId}/complete`,
      `{"instanceId":"${instanceId}","instanceKey":"${instanceKey}","epoch":${epoch},"attempt":${attempt},"status":"completed","data":${text}}`,
    );
    expect((await called).text).toContain(`"data":${text}`);
  });
});

describe("P10: lone surrogates", () => {
  test.each(['"\\ud83d"', '{"cut":"abc\\udc00def"}', '["\\ud800\\ud800"]'])(
    "%s are passed on escaped",
    async (text) => {
      const [answer, got] = await Promise.all([
        caller.exchange("call", `{"capability":${JSON.stringify(agent.capability)},"input":${text}}`),
        serve(text),
      ]);
      expect(inputOf(got)?.toLowerCase() ?? got.toLowerCase()).toContain(text);
      expect(answer.text.toLowerCase()).toContain(`"data":${text}`);
    },
  );
});

describe("P07: names that objects inherit", () => {
  test.each(["constructor", "toString", "hasOwnProperty", "valueOf"])(
    "an agent and a capability called %s work",
    async (name) => {
      const odd = await join({ agentId: name, capabilities: [{ name }] });
      expect((await caller.request("agents.get", { agentId: name })).agentId).toBe(name);
      const { data, agentId } = await caller.request("call", { capability: name, input: 1 });
      expect({ data, agentId }).toEqual({ data: 1, agentId: name });
      await odd.deregister();
      odd.cut();
    },
  );

  test.each(["__proto__", "constructor", "toString"])(
    "a capability called %s that nobody offers is simply not there",
    async (capability) => {
      const found = await caller.request("discover", { capability });
      expect(["no_match", "unavailable"]).toContain(found.verdict);
      expect(found.candidates).toEqual([]);
    },
  );
});
