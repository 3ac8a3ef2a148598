import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { cardOf, completed, type Handler, PullAgent } from "../kit/agents.js";
import type { HttpAnswer } from "../kit/http.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { WebhookAgent } from "../kit/webhook.js";
import { type Json, newId, type Wire, type WireError } from "../kit/wire.js";
import { eventually, gate, within } from "../kit/within.js";

/** Area P of the cases: sizes, unicode, numbers, nesting and hostile JSON, through every door of a node. */
const node = useNode();
const { bare, join, keep } = usePeers(node);
const files = usePeers(node, "file");
let bystander: Wire;
beforeAll(async () => {
  bystander = await files.bare();
});
afterEach(async () => {
  // Whatever a test sends: who sent nothing wrong does not notice.
  expect(await bystander.request("ping")).toEqual({});
});

const MB = 1_048_576;
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const text = (bytes: number) => "x".repeat(bytes - 2);
const hook = async (answer: Json, card?: Json) => {
  const agent = await WebhookAgent.join(node(), () => ({ status: 200, body: answer }), card);
  keep({ cut: () => void agent.close() });
  return agent;
};
const call = (capability: string, input: Json = {}, timeoutMs = 5_000) => ({ capability, input, timeoutMs });

describe("P01: a message over the limit", () => {
  /** An agent with five calls in its hands, which end when `release` says so. */
  const busy = async () => {
    const released = gate();
    const agent = await join(cardOf({ maxConcurrentTasks: 20 }), async ({ envelope }) => {
      if (envelope.input === "held") await released.opened;
      return completed(envelope.input === "held" ? "done" : envelope.input.length);
    });
    const caller = await bare();
    const held = Array.from({ length: 5 }, () => caller.request("call", call(agent.capability, "held", 15_000)));
    for (let n = 0; n < 5; n++) await agent.next();
    return { agent, caller, held, release: released.open };
  };

  test("P01: ends alone, with limit and size, and the five in flight on its connection finish", async () => {
    const { agent, caller, held, release } = await busy();
    for (const bytes of [MB - 1, MB])
      expect((await caller.request("call", call(agent.capability, text(bytes)))).data).toBe(bytes - 2);
    for (const bytes of [MB + 1, MB + 500_000]) {
      const refused = await caller.refused("call", call(agent.capability, text(bytes)));
      expect(refused).toMatchObject({ code: "PAYLOAD_TOO_LARGE", data: { retryable: false, outcome: "not_executed" } });
      expect(refused.data.details.bytes).toBeGreaterThanOrEqual(bytes);
      expect(refused.data.details.bytesMax).toBeGreaterThanOrEqual(MB);
      expect(refused.message).toContain(String(refused.data.details.bytesMax));
    }
    release();
    for (const { data } of await Promise.all(held)) expect(data).toBe("done");
  });

  test("P01: of 50 MB closes with 1009, and who resumes gets the answers of the five that were in flight", async () => {
    const { agent, caller, release } = await busy();
    const messageId = newId();
    caller.request("call", { ...call(agent.capability, "held", 15_000), messageId });
    await agent.next();
    caller.sendText(`{"jsonrpc":"2.0","id":1,"method":"call","params":{"input":"${text(50 * MB)}"}}`);
    expect((await within(caller.closed, "the close")).code).toBe(1009);
    const again = await bare({ hello: { resume: { sessionId: caller.session.sessionId } } });
    const answer = again.request("call", { ...call(agent.capability, "held", 15_000), messageId });
    release();
    expect((await answer).data).toBe("done");
    expect(agent.deliveries.untaken.filter(({ envelope }) => envelope.messageId === messageId)).toEqual([]);
  });

  test("P01: a result over the limit fails its own call, and the five that the agent has in hand finish", async () => {
    const { agent, caller, held, release } = await busy();
    agent.wire.handle("deliver", ({ envelope }) => completed(text(envelope.input.bytes)));
    expect((await caller.request("call", call(agent.capability, { bytes: MB }))).data.length).toBe(MB - 2);
    for (const bytes of [MB + 1, MB + 500_000])
      expect(await caller.refused("call", call(agent.capability, { bytes }))).toMatchObject({
        code: "PAYLOAD_TOO_LARGE",
        data: { retryable: false, outcome: "executed" },
      });
    release();
    for (const { data } of await Promise.all(held)) expect(data).toBe("done");
  });
});

describe("P03: the limit is the same at every door", () => {
  const sizes = [MB + 1, (5 * MB) / 4, 2 * MB];
  const overHttp = async (path: string, body: Json): Promise<HttpAnswer> => node().http.post(path, body);

  test.each(sizes)(
    "P03: an input of %i bytes is PAYLOAD_TOO_LARGE by call and submit, over socket and HTTP",
    async (bytes) => {
      const agent = await join();
      const message = { capability: agent.capability, input: text(bytes) };
      for (const method of ["call", "submit"])
        expect(await (await bare()).refused(method, message), method).toMatchObject({
          code: "PAYLOAD_TOO_LARGE",
          data: { outcome: "not_executed" },
        });
      for (const path of ["/v1/call", "/v1/invoke", "/v1/tasks"])
        expect(await overHttp(path, message), path).toMatchObject({
          status: 413,
          body: { code: "PAYLOAD_TOO_LARGE", outcome: "not_executed" },
        });
      expect(agent.deliveries.untaken).toEqual([]);
    },
  );

  /** Every way for an agent to hand in a result: the capability, and how often the work was done. */
  const doors: [string, (data: Json) => Promise<{ capability: string; times: () => number }>][] = [
    [
      "as the answer of deliver",
      async (data) => {
        const agent = await join(cardOf(), () => completed(data));
        return { capability: agent.capability, times: () => agent.deliveries.untaken.length };
      },
    ],
    [
      "as the answer of a webhook",
      async (data) => {
        const agent = await hook(completed(data));
        return { capability: agent.capability, times: () => agent.posts.untaken.length };
      },
    ],
  ];

  test.each(doors.flatMap(([name, open]) => sizes.map((bytes) => [name, bytes, open] as const)))(
    "P03: a result %s of %i bytes is PAYLOAD_TOO_LARGE for call and task, and the work is not done again",
    async (_name, bytes, open) => {
      const caller = await bare();
      const { capability, times } = await open(text(bytes));
      expect(await caller.refused("call", call(capability))).toMatchObject({
        code: "PAYLOAD_TOO_LARGE",
        data: { outcome: "executed", retryable: false },
      });
      const { messageId } = await caller.request("submit", { capability, input: {} });
      expect(await caller.request("task.result", { messageId, waitMs: 5_000 })).toMatchObject({
        state: "failed",
        attempt: 1,
        error: { code: "PAYLOAD_TOO_LARGE", outcome: "executed" },
      });
      expect(times()).toBe(2);
    },
  );

  test.each([MB + 1, 2 * MB])(
    "P03: a result by complete of %i bytes is refused, over socket and HTTP",
    async (bytes) => {
      const caller = await bare();
      const agent = await join(cardOf(), () => ({ status: "accepted" }));
      await caller.request("submit", { capability: agent.capability, input: {} });
      const delivery = await agent.next();
      const refused = await agent.complete(delivery, completed(text(bytes))).catch((error: WireError) => error);
      expect(refused).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
      const puller = await PullAgent.join(node());
      await caller.request("submit", { capability: puller.capability, input: {} });
      const [pulled] = await puller.pull();
      expect(await puller.complete(pulled, completed(text(bytes)))).toMatchObject({
        status: 413,
        body: { code: "PAYLOAD_TOO_LARGE" },
      });
      // Who was told so may still hand in a reference.
      expect(await agent.complete(delivery, completed("s3://result"))).toEqual({ recorded: true });
      expect((await puller.complete(pulled, completed("s3://result"))).body).toEqual({ recorded: true });
    },
  );

  test("P03: a card over its limit is refused alike, over socket and HTTP", async () => {
    const large = cardOf({ description: "x".repeat(300_000) });
    const refused = await (await bare()).refused("register", { card: large });
    const { body } = await overHttp("/v1/agents", { card: large });
    expect([refused.code, body.code]).toEqual(["INVALID_CARD", "INVALID_CARD"]);
    const huge = cardOf({ description: "x".repeat(2 * MB) });
    expect((await (await bare()).refused("register", { card: huge })).code).toBe("PAYLOAD_TOO_LARGE");
    expect((await overHttp("/v1/agents", { card: huge })).body.code).toBe("PAYLOAD_TOO_LARGE");
  });
});

describe("P06: numbers that JSON does not have", () => {
  const odd = ["NaN", "Infinity", "-Infinity"];

  test.each(odd)("P06: %s in a request is refused, and the session goes on", async (number) => {
    const agent = await join();
    const caller = await bare();
    const params = `{"capability":"${agent.capability}","input":{"score":${number}}}`;
    for (const [method, body] of [
      ["call", params],
      ["submit", params],
      ["heartbeat", `{"instanceId":"${agent.instanceId}","health":${number}}`],
    ]) {
      caller.sendText(`{"jsonrpc":"2.0","id":7,"method":"${method}","params":${body}}`);
      const { json } = await caller.answers.next("the refusal");
      expect(json).toMatchObject({ id: null, error: { code: -32700, data: { code: "INVALID_REQUEST" } } });
    }
    expect(await node().http.send("POST", "/v1/call", params)).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST", outcome: "not_executed" },
    });
    expect((await caller.request("call", call(agent.capability, 1))).data).toBe(1);
    expect(agent.deliveries.untaken).toHaveLength(1);
  });

  test.each(odd)(
    "P06: a result with %s fails its own message at once, is not done again, and the agent works on",
    async (number) => {
      const caller = await bare();
      const agent = await join(cardOf(), ({ id, envelope }) => {
        if (envelope.input === "fine") return completed("fine");
        agent.wire.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"status":"completed","data":{"x":${number}}}}`);
        return undefined;
      });
      const refused = await caller.refused("call", call(agent.capability));
      expect(refused).toMatchObject({ code: "AGENT_ERROR", data: { outcome: "executed" } });
      expect(refused.message).toMatch(/not JSON/);
      const { messageId } = await caller.request("submit", { capability: agent.capability, input: {} });
      const task = await caller.request("task.result", { messageId, waitMs: 5_000 });
      expect(task).toMatchObject({ state: "failed", attempt: 1 });
      expect((await caller.request("call", call(agent.capability, "fine"))).data).toBe("fine");
      expect(agent.deliveries.untaken).toHaveLength(3);
    },
  );
});

describe("P05: numbers", () => {
  test("P05: 1e400 passes to the digit where any input is taken, and is refused where the schema wants a number", async () => {
    const agent = await join(cardOf(), () => undefined);
    const caller = await bare();
    const answer = caller.exchange("call", `{"capability":"${agent.capability}","input":{"f":1e400}}`);
    const delivery = await agent.next();
    expect(delivery.text).toContain('"input":{"f":1e400}');
    agent.wire.sendText(`{"jsonrpc":"2.0","id":${delivery.id},"result":{"status":"completed","data":{"f":-1e400}}}`);
    expect((await answer).text).toContain('"data":{"f":-1e400}');
    const strict = await join(
      cardOf({ capability: { inputSchema: { type: "object", properties: { f: { type: "number" } } } } }),
    );
    const { json } = await caller.exchange("call", `{"capability":"${strict.capability}","input":{"f":1e400}}`);
    expect(json.error.data).toMatchObject({ code: "INVALID_INPUT", path: "f" });
  });
});

describe("P07: names that objects inherit", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

  test.each(names)(
    "P07: %s as label, tag and unknown field of a card is kept as plain data and found",
    async (name) => {
      const caller = await bare();
      const capability = `odd_${newId()}`;
      const body = `{"agentId":"odd-${newId()}","labels":{"${name}":"yes"},"${name}x":{"${name}":{"deep":1}},"capabilities":[{"name":"${capability}","tags":["${name}"]}]}`;
      const agent = await join(JSON.parse(body));
      const shown = await caller.exchange("agents.get", JSON.stringify({ agentId: agent.agentId }));
      expect(shown.text).toContain(`"labels":{"${name}":"yes"}`);
      expect(shown.text).toContain(`"${name}x":{"${name}":{"deep":1}}`);
      for (const asked of [`{"tags":["${name}"]}`, `{"capability":"${capability}","labels":{"${name}":"yes"}}`]) {
        const { json } = await caller.exchange("discover", asked);
        expect(
          json.result.candidates.map((c: Json) => c.agentId),
          asked,
        ).toContain(agent.agentId);
      }
      const { json: none } = await caller.exchange(
        "discover",
        `{"capability":"${capability}","labels":{"${name}":"no"}}`,
      );
      expect(none.result.candidates).toEqual([]);
    },
  );

  test("P07: an agentId of __proto__ is refused by its path, and labels that nobody set are nobody's", async () => {
    const caller = await bare();
    expect(await caller.refused("register", { card: { agentId: "__proto__", capabilities: [] } })).toMatchObject({
      code: "INVALID_CARD",
      data: { path: "agentId" },
    });
    const agent = await join();
    for (const name of ["constructor", "toString", "__proto__"]) {
      const asked = `{"capability":"${agent.capability}","labels":{"${name}":"x"}}`;
      expect((await caller.exchange("discover", asked)).json.result.candidates).toEqual([]);
    }
  });

  /** Values that throw when somebody takes them for text. */
  const hostile = '{"toString":1,"valueOf":1,"toJSON":1}';
  test.each([
    `"result":{"status":"failed","error":{"code":${hostile},"message":${hostile}}}`,
    `"result":{"status":"failed","error":${hostile}}`,
    `"result":{"status":"completed","data":${hostile},"receipt":${hostile}}`,
    `"result":{"status":${hostile}}`,
    `"result":${hostile}`,
    `"error":{"code":${hostile},"message":${hostile},"data":${hostile}}`,
    `"error":${hostile}`,
  ])("P07: an agent whose answer is {%s} ends its own message, and the node lives", async (answer) => {
    const caller = await bare();
    const agent = await join(cardOf(), ({ id }) => {
      agent.wire.sendText(`{"jsonrpc":"2.0","id":${id},${answer}}`);
      return undefined;
    });
    const { json } = await caller.exchange("call", JSON.stringify(call(agent.capability, {}, 3_000)));
    expect("result" in json !== "error" in json).toBe(true);
    expect(json.error?.data.code).not.toBe("DELIVERY_TIMEOUT");
    expect(await agent.heartbeat()).toEqual({ state: "online" });
  });
});

describe("P08: nesting", () => {
  const depths = [65, 10_000, 100_000];
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

  test.each(depths)(
    "P08: a card or a schema of %i levels is refused over socket and HTTP, and the node goes on",
    async (depth) => {
      for (const deep of [nested(depth), objects(depth)])
        for (const card of [
          `{"agentId":"deep","extra":${deep},"capabilities":[]}`,
          `{"agentId":"deep","capabilities":[{"name":"x","inputSchema":{"const":${deep}}}]}`,
        ]) {
          const { json } = await (await bare()).exchange("register", `{"card":${card}}`);
          expect(["INVALID_REQUEST", "INVALID_CARD", "PAYLOAD_TOO_LARGE"]).toContain(json.error.data.code);
          const { status, body } = await node().http.send("POST", "/v1/agents", `{"card":${card}}`);
          expect([400, 413, 422]).toContain(status);
          expect(body.code).toBe(json.error.data.code);
        }
    },
  );

  test.each(depths)(
    "P08: a result of %i levels fails its own message at once, is not done again, and the agent works on",
    async (depth) => {
      const caller = await bare();
      const data = nested(depth);
      const answer: Handler = ({ id, envelope }) => {
        if (envelope.input === "fine") return completed("fine");
        agent.wire.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"status":"completed","data":${data}}}`);
        return undefined;
      };
      const agent = await join(cardOf(), answer);
      const webhook = await hook(completed(JSON.parse(nested(Math.min(depth, 1_000)))));
      for (const { capability } of [agent, webhook]) {
        expect(await caller.refused("call", call(capability))).toMatchObject({
          code: "AGENT_ERROR",
          data: { outcome: "executed", details: { code: "INVALID_ANSWER" } },
        });
        const { messageId } = await caller.request("submit", { capability, input: {} });
        expect(await caller.request("task.result", { messageId, waitMs: 5_000 })).toMatchObject({
          state: "failed",
          attempt: 1,
        });
      }
      expect((await caller.request("call", call(agent.capability, "fine"))).data).toBe("fine");
    },
  );

  test("P08: a result by complete or progress that is too deep is refused by its id", async () => {
    const agent = await join();
    const deep = `{"messageId":"${newId()}","instanceId":"${agent.instanceId}","attempt":1,"status":"completed","data":${nested(10_000)}}`;
    expect((await agent.wire.exchange("complete", deep)).json.error.data.code).toBe("INVALID_REQUEST");
    agent.wire.sendText(`{"jsonrpc":"2.0","method":"progress","params":${deep}}`);
    expect(await agent.heartbeat()).toEqual({ state: "online" });
  });
});

describe("P10: text that is no good unicode", () => {
  const odd = {
    lone: "\ud83d",
    low: "\udc00",
    zero: "a\u0000b",
    bidi: "\u202eevil\u202c\u200f",
    cut: "ab😀".slice(0, 3),
  };

  test("P10: in card, labels, input and session of call and task comes back as it was sent, also after a restart", async () => {
    const card = cardOf({ description: odd.lone, labels: { odd: odd.bidi, lone: odd.low }, name: odd.cut });
    const agent = await join(card);
    let caller = await bare();
    const envelope = { capability: agent.capability, input: odd, sessionRef: odd.lone, labels: { odd: odd.bidi } };
    expect((await caller.request("call", envelope)).data).toEqual(odd);
    const { messageId } = await caller.request("submit", { ...envelope, idempotencyKey: `${odd.cut}${newId()}` });
    expect(await caller.request("task.result", { messageId, waitMs: 5_000 })).toMatchObject({ data: odd, input: odd });
    await node().restart();
    bystander = await files.bare();
    caller = await bare();
    expect(await caller.request("task.get", { messageId })).toMatchObject({
      state: "completed",
      data: odd,
      input: odd,
    });
    const { description, labels, name } = (await caller.request("agents.get", { agentId: agent.agentId })).card;
    expect({ description, labels, name }).toEqual({
      description: odd.lone,
      labels: { odd: odd.bidi, lone: odd.low },
      name: odd.cut,
    });
  });

  test("P10: in an id, a method, a capability and a cursor is echoed or refused, never a crash", async () => {
    const caller = await bare();
    caller.sendText(`{"jsonrpc":"2.0","id":"\\ud83d","method":"ping","params":{}}`);
    expect((await caller.answers.next("the pong")).text).toContain('"id":"\\ud83d"');
    for (const [method, params] of [
      [odd.lone, {}],
      ["discover", { capability: odd.zero }],
      ["discover", { intent: odd.bidi }],
      ["agents.get", { agentId: odd.low }],
      ["agents.list", { cursor: odd.lone }],
      ["call", { capability: odd.lone, input: odd }],
      ["task.get", { messageId: odd.zero }],
    ] as const) {
      const { json } = await caller.exchange(method, JSON.stringify(params));
      expect(json.error?.data.code, method).not.toBe("INTERNAL");
    }
  });
});

describe("P11: what is JSON but no message", () => {
  const frames = ["null", "true", "0", '""', "[]", "[[]]", "{}", '{"type":null}', "", "{", '{"jsonrpc":"2.0","id":1'];

  test.each(frames)("P11: %j is answered by a typed error, before hello and after it", async (frame) => {
    for (const hello of [false, undefined] as const) {
      const wire = await bare(hello === false ? { hello } : {});
      wire.sendText(frame);
      expect((await wire.answers.next("the error")).json).toMatchObject({
        jsonrpc: "2.0",
        id: null,
        error: { data: { code: "INVALID_REQUEST", outcome: "not_executed" } },
      });
      if (hello === false) await wire.hello();
      expect(await wire.request("ping")).toEqual({});
    }
  });

  test.each([
    ["a binary frame", (wire: Wire) => wire.socket.send(Buffer.from("{}"), { binary: true }), [1003]],
    ["broken UTF-8", (wire: Wire) => wire.tcp.write(masked(0x81, Buffer.from([0xc3, 0x28]))), [1007]],
  ] as const)("P11: %s closes its own connection, before hello and after it", async (_name, send, codes) => {
    for (const hello of [false, undefined] as const) {
      const wire = await bare(hello === false ? { hello } : {});
      send(wire);
      expect(codes).toContain((await within(wire.closed, "the close")).code);
    }
  });
});

/** One frame as a client must send it. */
function masked(first: number, payload: Buffer): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([
    Buffer.from([first, 0x80 | payload.length]),
    mask,
    payload.map((byte, i) => byte ^ mask[i % 4]!),
  ]);
}

describe("P12: a connection that is broken below the protocol", () => {
  const closeCode = (code: number) => masked(0x88, Buffer.from([code >> 8, code & 0xff]));
  const broken: [string, Buffer][] = [
    ["reserved bits", masked(0xf1, Buffer.from("{}"))],
    ["an invalid opcode", masked(0x83, Buffer.from("{}"))],
    ["an invalid control opcode", masked(0x8b, Buffer.from("{}"))],
    ["a close with code 0", closeCode(0)],
    ["a close with code 1006", closeCode(1006)],
    ["a close with one byte", masked(0x88, Buffer.from([3]))],
    ["a fragmented ping", masked(0x09, Buffer.from("x"))],
    ["a continuation of nothing", masked(0x80, Buffer.from("x"))],
    ["a frame without mask", Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
  ];
  const counted = async () =>
    Number(/^agent_reach_connections_broken_total (\d+)/m.exec((await node().http.get("/metrics")).text)?.[1]);

  test.each(broken)("P12: by %s ends alone and is counted, before hello and after it", async (_name, bytes) => {
    for (const hello of [false, undefined] as const) {
      const before = await counted();
      const wire = await bare(hello === false ? { hello } : {});
      wire.tcp.write(bytes);
      await within(wire.closed, "the close");
      expect(await eventually(counted, (n) => n > before, "the count to rise")).toBe(before + 1);
    }
  });

  test("P12: by a reset during the upgrade, or amid a request, harms nobody", async () => {
    const halves = [
      "GET /registry HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
      "GET /registry HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
      "GET /elsewhere HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
      "POST /v1/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
      "nonsense\r\n\r\n",
    ];
    for (let round = 0; round < 20; round++)
      for (const half of halves) {
        const socket = connect(node().port, "127.0.0.1");
        socket.on("error", () => {});
        await new Promise<void>((connected) => socket.once("connect", connected));
        await new Promise<void>((written) => socket.write(half, () => written()));
        socket.resetAndDestroy();
      }
    expect((await node().http.get("/readyz")).status).toBe(200);
  });

  test("P12: by a peer that went while much was being written to it harms nobody", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 100 }), () => undefined);
    const caller = await bare();
    agent.wire.tcp.pause();
    const calls = Array.from({ length: 10 }, () => caller.refused("call", call(agent.capability, text(MB), 1_000)));
    await caller.request("ping");
    agent.wire.tcp.resetAndDestroy();
    for (const { code } of await Promise.all(calls))
      expect(["DELIVERY_TIMEOUT", "TIMEOUT", "UNAVAILABLE"]).toContain(code);
  });
});

describe("P12: an agent behind an endpoint", () => {
  test("P12: that resets, hangs up or talks nonsense ends its own message, and the node lives", async () => {
    const caller = await bare();
    const answers = ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "nonsense\r\n\r\n"];
    let n = 0;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(answers[n++ % answers.length] ?? ""));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    keep({ cut: () => void server.close() });
    const { port } = server.address() as AddressInfo;
    const card = cardOf({ transport: { type: "http", endpoint: `http://127.0.0.1:${port}/hook` } });
    expect((await node().http.post("/v1/agents", { card })).status).toBeLessThan(300);
    for (let round = 0; round < answers.length; round++) {
      const refused = await caller.refused("call", call(card.capabilities[0].name, {}, 300));
      expect(["DELIVERY_TIMEOUT", "TIMEOUT", "UNAVAILABLE"]).toContain(refused.code);
    }
  });
});
