import { afterAll, describe, expect, test } from "vitest";
import { secretKey } from "../../../../../test/kit/api-server.js";
import { ChatServer } from "../../../../../test/kit/chat-server.js";
import { FakeSystem, settle } from "../../../../../test/kit/fake-system.js";
import { endingOf, orders, useChatBench } from "../../../../../test/kit/openai-chat.js";
import { gate, within } from "../../../../../test/kit/within.js";
import { chooserConformance } from "../../ports/conformance/chooser.js";
import { OpenAiChatChooser, openOpenAiChatChooser } from "./openai-chat.js";

const { signal } = new AbortController();

describe("CAT-5: any OpenAI-compatible server behind the port of choosers", () => {
  let server: ChatServer;
  let chooser: OpenAiChatChooser;
  afterAll(async () => {
    chooser.close();
    await server.close();
  });
  chooserConformance({
    open: async () => {
      server = await ChatServer.listen();
      const settings = { baseUrl: server.url, model: "small", timeoutMs: 2_000, cacheMax: 0 };
      chooser = new OpenAiChatChooser(settings, { system: new FakeSystem(), warn: expect.unreachable });
      return chooser;
    },
    cases: [
      { choices: orders, asks: "cancels that order", chosen: "cancel_order", asksOther: "play some music" },
      { choices: orders, asks: "取消", chosen: "cancel_order", asksOther: "今天天气" },
    ],
  });
});

const bench = useChatBench();

describe("CAT-5: what is asked of the server", () => {
  test("is one POST of an instruction and a question, for a structured answer, with the key as bearer token", async () => {
    const chosen = await bench.open().choose("lists orders", orders, signal);
    expect(chosen).toEqual({ chosen: "list_orders", reason: "chosen", cached: false, tookMs: 0 });
    const { path, headers, body } = await bench.server.requests.next("the request");
    expect([path, headers.authorization]).toEqual(["/v1/chat/completions", `Bearer ${secretKey}`]);
    expect(body).toMatchObject({ model: "small", temperature: 0, max_tokens: 32 });
    expect(body.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { strict: true, schema: { properties: { choice: { enum: ["c1", "c2", "c3", "none"] } } } },
    });
    expect(bench.server.questions).toEqual([
      {
        request: "lists orders",
        choices: [
          { id: "c1", ...orders[0] },
          { id: "c2", ...orders[1], examples: [] },
          { id: "c3", name: "track_parcel", description: "", examples: [] },
        ],
      },
    ]);
  });

  test("goes over connections that stay open from question to question", async () => {
    const chooser = bench.open();
    const well = bench.server.respond;
    const ports = new Set<number | undefined>();
    bench.server.respond = (request, raw) => {
      ports.add(raw.socket?.remotePort);
      return well(request, raw);
    };
    for (let i = 0; i < 40; i++) await chooser.choose(`lists orders of ${i}`, orders, signal);
    expect(bench.server.questions).toHaveLength(40);
    // The next question may come before the connection of the last one knows that it is free.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test("has no authorization without a key", async () => {
    await bench.open({ key: undefined }).choose("lists orders", orders, signal);
    expect((await bench.server.requests.next("the request")).headers.authorization).toBeUndefined();
  });

  test("is asked without a structure from then on where the server refuses that, and is read as strictly", async () => {
    const chooser = bench.open();
    const structured: boolean[] = [];
    const said = ["c2", '```json\n{"choice": "c2"}\n```', "I choose c2."];
    bench.server.respond = ({ body }) => {
      structured.push(body.response_format !== undefined);
      if (body.response_format === undefined) return bench.server.saying(said.shift());
      return { status: 400, body: { error: { message: "response_format is not supported" } } };
    };
    for (const reason of ["chosen", "chosen", "not_an_id"])
      expect(await chooser.choose(`a list of orders, ${said.length}`, orders, signal)).toMatchObject({ reason });
    expect(structured).toEqual([true, false, false, false]);
  });

  test("stays structured where the question was refused, and not the form of the answer", async () => {
    const chooser = bench.open();
    const well = bench.server.respond;
    bench.server.respond = () => ({ status: 400, body: { error: { message: "too long" } } });
    expect(await bench.ending(chooser.choose("lists orders", orders, signal))).toEqual(
      bench.failure("refused", /answered 400 \(too long\); check the model/, { retryable: false }),
    );
    bench.server.respond = well;
    bench.server.requests.drain();
    await chooser.choose("lists orders", orders, signal);
    expect((await bench.server.requests.next("the request")).body.response_format).toBeDefined();
  });
});

describe("CAT-5: what is remembered", () => {
  const questions = () => bench.server.questions.splice(0).length;

  test("is every answer, none as well, until the request, the list, or a text in it is another", async () => {
    const chooser = bench.open();
    for (const cached of [false, true]) {
      expect(await chooser.choose("lists orders", orders, signal)).toMatchObject({ chosen: "list_orders", cached });
      expect(await chooser.choose("play some music", orders, signal)).toMatchObject({ chosen: null, cached });
    }
    expect(questions()).toBe(2);
    const changed = orders.map((choice) => ({ ...choice, description: "Lists orders of the year" }));
    for (const [request, choices] of [
      ["lists my orders", orders],
      ["lists orders", orders.slice(0, 2)],
      ["lists orders", changed],
      ["lists orders", changed.map((choice) => ({ ...choice, examples: ["my orders"] }))],
    ] as const)
      expect(await chooser.choose(request, choices, signal)).toMatchObject({ cached: false });
    expect(questions()).toBe(4);
  });

  test("is no more than is set: what was not asked for the longest is forgotten", async () => {
    const chooser = bench.open({ cacheMax: 2 });
    const asked: [string, boolean][] = [];
    for (const request of ["a", "b", "a", "c", "a", "b"]) {
      const { cached } = await chooser.choose(request, orders, signal);
      asked.push([request, cached]);
    }
    expect(asked.map(([request, cached]) => `${request}${cached ? " known" : ""}`)).toEqual([
      "a",
      "b",
      "a known",
      "c",
      "a known",
      "b",
    ]);
  });

  test("names the capability of this list, where names are equal as far as they are read", async () => {
    const chooser = bench.open();
    const long = (end: string) => [{ name: `lists_${"x".repeat(200)}${end}`, description: "Lists orders" }];
    expect((await chooser.choose("lists orders", long("a"), signal)).chosen).toBe(long("a")[0]!.name);
    const again = await chooser.choose("lists orders", long("b"), signal);
    expect(again).toMatchObject({ chosen: long("b")[0]!.name, cached: true });
  });

  test("is no failure", async () => {
    const chooser = bench.open();
    const well = bench.server.respond;
    bench.server.respond = () => bench.server.saying("x".repeat(300_000));
    expect(await bench.ending(chooser.choose("lists orders", orders, signal))).toBeInstanceOf(Error);
    bench.server.respond = well;
    expect(await chooser.choose("lists orders", orders, signal)).toMatchObject({
      chosen: "list_orders",
      cached: false,
    });
  });
});

describe("CAT-5: many who ask at once", () => {
  /** A server that holds its answers until it is told, and says when its client is gone. */
  function holding() {
    const well = bench.server.respond;
    const [released, gone] = [gate(), gate()];
    bench.server.respond = async (request, raw) => {
      raw.once("close", () => gone.open());
      await released.opened;
      return well(request, raw);
    };
    return { release: released.open, gone: gone.opened };
  }

  test("the same get one answer, and one of them who leaves does not take it from the other", async () => {
    const chooser = bench.open();
    const { release } = holding();
    const caller = new AbortController();
    const first = endingOf(chooser.choose("lists orders", orders, caller.signal));
    const second = chooser.choose("lists  orders ", orders, signal);
    await bench.server.requests.next("the request");
    const reason = new Error("the deadline of the call");
    caller.abort(reason);
    expect(await within(first, "the end")).toBe(reason);
    release();
    expect(await second).toMatchObject({ chosen: "list_orders", cached: false });
    expect(bench.server.questions).toHaveLength(1);
  });

  test("a question is called off when nobody waits for it any more, which is no failure of the server", async () => {
    const chooser = bench.open();
    const { release, gone } = holding();
    for (let i = 0; i < 4; i++) {
      const caller = new AbortController();
      const end = endingOf(chooser.choose("lists orders", orders, caller.signal));
      await bench.server.requests.next("the request");
      caller.abort(new Error("gone"));
      expect(await within(end, "the end")).toMatchObject({ message: "gone" });
    }
    await within(gone, "the connection to end");
    expect([bench.system.pending, bench.warnings]).toEqual([0, []]);
    release();
    expect(await chooser.choose("lists orders", orders, signal)).toMatchObject({ chosen: "list_orders" });
  });

  test("too many different questions are not all sent: the next fails at once, as something that passes", async () => {
    const chooser = bench.open();
    const { release } = holding();
    // Each caller has a deadline of its own.
    const ask = (i: number) => chooser.choose(`lists orders of ${i}`, orders, new AbortController().signal);
    const under = Array.from({ length: 16 }, (_, i) => ask(i));
    const joined = ask(7);
    expect(await endingOf(chooser.choose("lists orders of 16", orders, signal))).toEqual(
      bench.failure("busy", /has 16 questions before it/, { retryable: true }),
    );
    release();
    expect((await Promise.all([...under, joined])).map(({ chosen }) => chosen)).toEqual(Array(17).fill("list_orders"));
    expect(bench.server.questions).toHaveLength(16);
    expect(await chooser.choose("lists orders of 16", orders, signal)).toMatchObject({ chosen: "list_orders" });
  });

  test.each(["before the head", "within the body"])("hear that it was closed %s", async (when) => {
    const chooser = bench.open();
    bench.server.respond = (_request, raw) => {
      if (when === "within the body") raw.write('{"choices":');
      return undefined;
    };
    const end = endingOf(chooser.choose("lists orders", orders, signal));
    await bench.server.requests.next("the request");
    await settle(20);
    chooser.close();
    const closed = bench.failure("closed", /was closed/, { retryable: false });
    expect(await within(end, "the end")).toEqual(closed);
    expect(await endingOf(chooser.choose("lists orders", orders, signal))).toEqual(closed);
    expect([bench.system.pending, bench.warnings]).toEqual([0, []]);
  });
});

test("CAT-5: it is off while no address or no model is set", () => {
  const parts = { system: bench.system, warn: expect.unreachable };
  const rest = { timeoutMs: 2_000, cacheMax: 10 };
  expect(openOpenAiChatChooser(rest, parts)).toBeUndefined();
  expect(openOpenAiChatChooser({ ...rest, model: "small" }, parts)).toBeUndefined();
  const chooser = openOpenAiChatChooser({ ...rest, model: "small", baseUrl: bench.server.url }, parts);
  expect(chooser?.id).toBe("openai-chat-small");
  chooser?.close();
});
