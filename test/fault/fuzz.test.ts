import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { cardOf, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, Wire } from "../kit/wire.js";

/** RES-7: whatever one client sends, others do not notice and the node does not grow. */
const node = useNode();
const { bare, join } = usePeers(node, "file");
let bystander: Wire;
let agent: SocketAgent;
let fuzzer: Wire;
beforeAll(async () => {
  bystander = await bare();
  agent = await join(cardOf());
  fuzzer = await bare();
});

const methods = [
  "hello",
  "register",
  "heartbeat",
  "drain",
  "deregister",
  "discover",
  "agents.list",
  "agents.get",
  "watch",
  "unwatch",
  "call",
  "submit",
  "task.get",
  "task.result",
  "task.cancel",
  "task.events",
  "complete",
  "progress",
  "publish",
  "subscribe",
  "unsubscribe",
  "ping",
  "deliver",
  "task.update",
  "cancel",
  "event",
  "__proto__",
  "constructor",
];
const fields = [
  "card",
  "instanceId",
  "instanceKey",
  "capability",
  "agentId",
  "input",
  "target",
  "messageId",
  "timeoutMs",
  "attempt",
  "status",
  "data",
  "error",
  "receipt",
  "tags",
  "labels",
  "topK",
  "weights",
  "watchId",
  "revision",
  "cursor",
  "limit",
  "waitMs",
  "after",
  "epoch",
  "__proto__",
  "constructor",
  "toString",
  "task",
  "payload",
  "subject",
  "source",
  "load",
  "health",
  "handback",
  "samples",
  "resume",
  "protocol",
  "notBefore",
];
const nasty = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json> },
  fc.constantFrom<Json>(null, "", "\u0000", "__proto__", "\ud83d", -1, 0, 1.5, 1e308, -0, 2 ** 53, [], {}, [[]], {
    __proto__: 1,
  }),
  fc.constantFrom(newId(), newId()),
  fc.string({ maxLength: 300, unit: "binary" }),
);
const paramsOf = fc.dictionary(fc.oneof(fc.constantFrom(...fields), fc.string({ maxLength: 12 })), nasty, {
  maxKeys: 8,
});
const frame = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      jsonrpc: fc.constant("2.0"),
      id: fc.oneof(fc.integer(), fc.string({ maxLength: 20 })),
      method: fc.constantFrom(...methods),
      params: paramsOf,
    }),
  },
  fc.record({ jsonrpc: nasty, id: nasty, method: nasty, params: nasty }, { requiredKeys: [] }),
  fc.record({ jsonrpc: fc.constant("2.0"), id: nasty, result: nasty }),
  fc.record({ jsonrpc: fc.constant("2.0"), method: fc.constantFrom(...methods), params: paramsOf }),
);
const text = fc.oneof(
  { weight: 5, arbitrary: frame.map((f) => JSON.stringify(f)) },
  {
    weight: 2,
    arbitrary: fc.tuple(frame, fc.nat(200), fc.string({ maxLength: 5, unit: "binary" })).map(([f, at, junk]) => {
      const whole = JSON.stringify(f);
      const cut = at % (whole.length + 1);
      return whole.slice(0, cut) + junk + whole.slice(cut + (at % 3));
    }),
  },
  fc.string({ maxLength: 200 }),
  fc.nat(2_000).map((depth) => `{"jsonrpc":"2.0","id":1,"method":"call","params":{"input":${"[".repeat(depth)}`),
);

const reopened = async (): Promise<void> => {
  if (fuzzer.socket.readyState !== fuzzer.socket.OPEN) fuzzer = await bare();
};

describe("RES-7: fuzz over a live socket", () => {
  test("no text that a client can send harms others or the node", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), async (texts) => {
        await reopened();
        for (const one of texts) fuzzer.sendText(one);
        expect(await bystander.request("ping")).toEqual({});
        fuzzer.answers.drain();
        fuzzer.notifications.drain();
        fuzzer.requests.drain();
      }),
      { numRuns: 300 },
    );
    expect((await bystander.request("call", { capability: agent.capability, input: "still here" })).data).toBe(
      "still here",
    );
    expect((await node().http.get("/readyz")).status).toBe(200);
  }, 60_000);

  test("every request with an id gets exactly one answer, an object with result or error", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...methods.filter((m) => m !== "hello" && m !== "task.result")),
        paramsOf,
        async (method, params) => {
          await reopened();
          const id = newId();
          const asked = { ...params, timeoutMs: 50 };
          fuzzer.sendText(JSON.stringify({ jsonrpc: "2.0", id, method, params: asked }));
          const { json } = await fuzzer.answers.next(
            `the answer to ${method} ${JSON.stringify(asked)}`,
            (f) => f.json.id === id,
          );
          expect("result" in json !== "error" in json).toBe(true);
          if (json.error === undefined) return;
          expect(json.error.message).toMatch(/^\[[A-Z_]+\] /);
          expect(["INTERNAL", undefined]).not.toContain(json.error.data.code);
        },
      ),
      { numRuns: 500, examples: [["progress", { messageId: "ff4c4b6e-58ae-45a3-b1e6-7b06611e4094" }]] },
    );
  }, 60_000);

  test("a flood of refused frames leaves no memory behind", async () => {
    await reopened();
    const flood = async (rounds: number): Promise<void> => {
      for (let n = 0; n < rounds; n++) {
        for (let m = 0; m < 200; m++)
          fuzzer.sendText(
            `{"jsonrpc":"2.0","id":"flood-${m}","method":"call","params":{"capability":"nobody_${n}_${m}","input":"${"x".repeat(500)}"}}`,
          );
        await fuzzer.request("ping");
        fuzzer.answers.drain();
      }
    };
    await flood(50);
    const before = node().residentBytes;
    await flood(150);
    // 30,000 refused calls: what stays is bounded by the ring of the last messages, not by what was sent.
    expect(node().residentBytes - before).toBeLessThan(150 * 1024 * 1024);
  }, 60_000);

  test("many sockets that say nothing, or half a word, do not keep others out", async () => {
    const silent = await Promise.all(Array.from({ length: 100 }, () => Wire.open(node().url, { hello: false })));
    for (const wire of silent) wire.tcp.write(Buffer.from([0x81]));
    const late = await bare();
    expect(await late.request("ping")).toEqual({});
    late.cut();
    for (const wire of silent) wire.cut();
  });
});
